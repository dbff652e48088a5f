//! The command `urlsift`: everything but the allocator and the exit status is in the library and in `cli`.

mod cli;

/// Workers take and release large buffers and small maps on several threads; this allocator keeps them apart.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
