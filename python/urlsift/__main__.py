"""The command `urlsift`, also as `python -m urlsift`."""

import sys

from ._urlsift import command


def main() -> None:
    """Runs the command with the arguments of this process, and ends the process."""
    command(sys.argv)


if __name__ == "__main__":
    main()
