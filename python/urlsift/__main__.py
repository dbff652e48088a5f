"""The command `urlsift`, also as `python -m urlsift`."""

import os
import signal
import sys

from ._urlsift import command


def main() -> None:
    """Runs the command with the arguments of this process, and ends the process."""
    # Python's own handler waits for Python code, which no longer runs.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A file must not take the number of a standard stream that is closed. Rust's own programs see to it before they start.
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    command(sys.argv)


if __name__ == "__main__":
    main()
