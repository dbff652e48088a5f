//! The command `urlsift`. The library and `cli` do the work; this file only sets the allocator and returns the exit status.

mod cli;
mod random;

/// Worker threads allocate and free large buffers and small maps concurrently. `docs/decisions/0034-allocator.md` compares
/// this allocator with glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
