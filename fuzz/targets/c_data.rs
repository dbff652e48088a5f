//! Reads arrays of the Arrow C data interface with arbitrary numbers, buffers and types. Their buffers are long enough, as the interface
//! asks for.
#![no_main]

#[path = "../../python/src/c_data.rs"]
mod c_data;

use c_data::{Buffer, Column, Strings, Type};
use libfuzzer_sys::fuzz_target;
use urlsift::internal::run::Values;

/// Some types that are read, and some that are not.
const FORMATS: [&str; 18] =
    ["n", "u", "z", "U", "Z", "vu", "vz", "w:0", "w:3", "w:-1", "+s", "c", "C", "s", "I", "l", "+l", "e"];

/// More items than any column has, of bytes that add up to less than the length of other buffers.
fn items<T: Copy + Send + Sync + From<i8> + std::ops::Add<Output = T> + 'static>(
    next: &mut dyn FnMut() -> u8,
) -> Buffer {
    let sums = (0..260).scan(T::from(0), |sum, _| {
        *sum = *sum + T::from(next().cast_signed());
        Some(*sum)
    });
    sums.collect::<Vec<_>>().into()
}

fn column(next: &mut dyn FnMut() -> u8, depth: usize) -> Column {
    let format = FORMATS[usize::from(next()) % FORMATS.len()];
    let n_buffers = next() % 6;
    let buffer = |n| match format {
        _ if next() == 1 => None,
        "u" | "z" if n == 1 => Some(items::<i32>(next)),
        "U" | "Z" if n == 1 => Some(items::<i64>(next)),
        "vu" | "vz" if n + 1 == n_buffers => Some(items::<i64>(next)),
        _ => Some((0..64).map(|_| next()).collect::<Vec<_>>().repeat(520).into()),
    };
    let buffers = (0..n_buffers).map(buffer).collect();
    let n_inside = if depth > 0 { next() % 6 } else { 0 };
    let children = (0..n_inside % 3).map(|_| column(next, depth - 1)).collect();
    let dictionary = (n_inside > 2).then(|| Box::new(column(next, depth - 1)));
    let (len, nulls) = (next().into(), (next() % 3).into());
    Column { name: String::new(), format, len, nulls, buffers, children, dictionary }
}

fuzz_target!(|input: &[u8]| {
    let mut bytes = input.iter();
    let mut next = || bytes.next().copied().unwrap_or_default();
    let column = column(&mut next, 3);
    let Ok(of) = Type::of(&column.schema()) else { return };
    let mut array = column.array();
    // SAFETY: the struct begins with three numbers: its length, how many values are null, and its offset.
    let numbers: &mut [i64; 3] = unsafe { &mut *(&raw mut array).cast() };
    for number in numbers {
        *number = match next().cast_signed() {
            0 => continue,
            i8::MAX => i64::MAX,
            n => n.into(),
        };
    }
    let Ok(strings) = Strings::new(array, &of) else { return };
    let values: Vec<_> = (0..strings.len()).filter_map(|n| strings.get(n)).collect();
    // Each byte is read.
    let text = values.concat();
    assert_eq!(strings.bytes(0..strings.len()), text.len());
    std::hint::black_box(strings.around(0..strings.len()).to_vec());
});
