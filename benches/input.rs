//! Compares reading a file with memory-mapping it, in two states of the page cache.
//!
//! Run it by `cargo bench -p urlsift-benches --bench input`. It uses one core and counts lines, so that every byte is read.
//! The file is in the page cache: "written" after many small writes, "read ahead" after the kernel read it into an empty
//! cache.

#![allow(missing_docs, reason = "criterion's macros write functions")]

#[cfg(unix)]
fn main() {
    unix::main();
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{Read, Seek, Write};

    use criterion::{Criterion, Throughput};

    const LEN: usize = 256 << 20;

    fn lines(bytes: &[u8]) -> usize {
        memchr::memchr_iter(b'\n', bytes).count()
    }

    fn read(file: &mut File, buffer: &mut [u8]) -> usize {
        file.rewind().unwrap();
        let mut n = 0;
        loop {
            match file.read(buffer).unwrap() {
                0 => return n,
                len => n += lines(&buffer[..len]),
            }
        }
    }

    fn map(file: &File) -> usize {
        // SAFETY: this bench owns the temporary file, and no process changes it while it is mapped.
        let map = unsafe { memmap2::Mmap::map(file) }.unwrap();
        lines(&map)
    }

    pub(super) fn main() {
        let mut criterion = Criterion::default().configure_from_args().sample_size(10);
        let mut file = tempfile::tempfile().unwrap();
        let line = b"https://www.example.org/some/path/of/usual/length/index.html?id=1234567890\n";
        let chunk = line.repeat(50);
        while file.stream_position().unwrap() < LEN as u64 {
            file.write_all(&chunk).unwrap();
        }
        let len = file.stream_position().unwrap();
        for state in ["written", "read ahead"] {
            if state == "read ahead" {
                corpora::read_ahead(&mut file);
            }
            let mut group = criterion.benchmark_group(format!("input/{state}"));
            group.throughput(Throughput::Bytes(len));
            let mut buffer = vec![0; 4 << 20];
            assert_eq!(read(&mut file, &mut buffer), map(&file), "the answer comes first");
            for kib in [64, 256, 1024, 4096] {
                let name = format!("read of {kib} KiB");
                group.bench_function(name, |b| b.iter(|| read(&mut file, &mut buffer[..kib << 10])));
            }
            group.bench_function("map", |b| b.iter(|| map(&file)));
            group.finish();
        }
        criterion.final_summary();
    }
}
