//! Arrow columns made of plain vectors.

use crate::c_data::{Buffer, Column};

/// Rows that are there, one bit each. `None` if all are.
#[derive(Clone, Default)]
pub struct Validity {
    bits: Option<Buffer>,
    nulls: usize,
}

/// Packs bits, the first one into the lowest bit of the first byte.
fn packed(len: usize, bit: impl Fn(usize) -> bool) -> Vec<u8> {
    let byte =
        |first: usize| (first..len.min(first + 8)).fold(0, |byte, n| byte | u8::from(bit(n)) << (n - first));
    (0..len).step_by(8).map(byte).collect()
}

/// Packs bit `n` of each byte.
fn packed_bit(bytes: &[u8], n: usize) -> Vec<u8> {
    let (eights, rest) = bytes.as_chunks::<8>();
    let mut out = Vec::with_capacity(bytes.len().div_ceil(8));
    // The multiplication moves the lowest bits of all bytes into the highest byte, the first one lowest.
    out.extend(eights.iter().map(|eight| {
        let lowest = u64::from_le_bytes(*eight) >> n & 0x0101_0101_0101_0101;
        lowest.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes()[7]
    }));
    out.extend(packed(rest.len(), |row| rest[row] >> n & 1 == 1));
    out
}

impl Validity {
    /// Of `len` rows, those for which `is_there` holds.
    pub fn of(len: usize, is_there: impl Fn(usize) -> bool) -> Self {
        let nulls = (0..len).filter(|&n| !is_there(n)).count();
        Self { bits: (nulls > 0).then(|| packed(len, is_there).into()), nulls }
    }

    /// Of `len` rows, these alone.
    pub fn of_rows(len: usize, rows: impl ExactSizeIterator<Item = usize>) -> Self {
        let (mut bits, nulls) = (vec![0_u8; len.div_ceil(8)], len - rows.len());
        rows.for_each(|row| bits[row / 8] |= 1 << (row % 8));
        Self { bits: Some(bits.into()), nulls }
    }
}

impl Column {
    fn of(name: &str, format: &'static str, len: usize, valid: &Validity) -> Self {
        Self {
            name: name.to_owned(),
            format,
            len,
            nulls: valid.nulls,
            buffers: vec![valid.bits.clone()],
            children: Vec::new(),
            dictionary: None,
        }
    }

    fn with(mut self, buffer: impl Into<Buffer>) -> Self {
        self.buffers.push(Some(buffer.into()));
        self
    }

    /// Booleans: bit `n` of each byte.
    pub fn booleans(name: &str, bytes: &[u8], n: usize, valid: &Validity) -> Self {
        Self::of(name, "b", bytes.len(), valid).with(packed_bit(bytes, n))
    }

    /// Numbers of 8, 16, 32 or 64 bits.
    pub fn numbers<T: Number>(name: &str, values: Vec<T>, valid: &Validity) -> Self {
        Self::of(name, T::FORMAT, values.len(), valid).with(values)
    }

    /// Strings. Their offsets have 64 bits.
    pub fn strings<S: AsRef<str>>(
        name: &str,
        values: impl ExactSizeIterator<Item = S>,
        valid: &Validity,
    ) -> Self {
        let len = values.len();
        let (mut offsets, mut text) = (Vec::with_capacity(len + 1), Vec::new());
        offsets.push(0_i64);
        for value in values {
            text.extend_from_slice(value.as_ref().as_bytes());
            offsets.push(i64::try_from(text.len()).expect("what is in memory can be counted"));
        }
        Self::of(name, "U", len, valid).with(offsets).with(text)
    }

    /// Names by their index: a dictionary, or strings if `plain`.
    pub fn names<T: Number + Into<i64>, S: AsRef<str>>(
        name: &str,
        indices: Vec<T>,
        names: &[S],
        valid: &Validity,
        plain: bool,
    ) -> Self {
        if plain {
            let of = |&index: &T| {
                usize::try_from(index.into()).ok().and_then(|n| names.get(n)).map_or("", AsRef::as_ref)
            };
            return Self::strings(name, indices.iter().map(of), valid);
        }
        let names = Self::strings("", names.iter(), &Validity::default());
        Self { dictionary: Some(Box::new(names)), ..Self::numbers(name, indices, valid) }
    }

    /// Lists of strings or names. `ends` has the number of values up to the end of each list.
    pub fn lists(name: &str, ends: &[i64], values: Self, valid: &Validity) -> Self {
        let offsets: Vec<_> = [0].iter().chain(ends).copied().collect();
        let values = Self { name: "item".to_owned(), ..values };
        Self { children: vec![values], ..Self::of(name, "+L", ends.len(), valid).with(offsets) }
    }

    /// A struct of columns.
    pub fn table(name: &str, len: usize, valid: &Validity, children: Vec<Self>) -> Self {
        Self { children, ..Self::of(name, "+s", len, valid) }
    }
}

/// A type of numbers in Arrow.
pub trait Number: Copy + Send + Sync + 'static {
    const FORMAT: &'static str;
}

macro_rules! numbers {
    ($($number:ty = $format:literal),*) => {$(
        impl Number for $number {
            const FORMAT: &'static str = $format;
        }
    )*};
}

numbers!(i8 = "c", u8 = "C", i32 = "i", i64 = "l");
