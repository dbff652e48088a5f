//! The command `urlsift`. `src/cli` does the work; this file only sets the allocator and returns the exit status.

/// Worker threads allocate and free large buffers and small maps concurrently. `docs/decisions/0034-allocator.md` compares
/// this allocator with glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let status = urlsift::cli::run(std::env::args_os().collect());
    // All output is written. The end that the C library knows would first give back the memory piece by piece.
    #[cfg(unix)]
    signal_hook::low_level::exit(status.into());
    #[cfg(not(unix))]
    status.into()
}
