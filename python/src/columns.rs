//! Arrow columns made of plain vectors, and of the cells of judged values.

use urlsift::columns::{Cells, Names};
use urlsift::{Cause, Component};

use crate::c_data::{Buffer, Column, count};

/// How sets and names are written.
#[derive(Clone, Copy)]
pub struct Form {
    /// Sets as bits of a number instead of a struct of booleans.
    pub bits: bool,
    /// Names as strings instead of dictionaries.
    pub plain: bool,
}

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
        let bits = packed(len, is_there);
        let nulls = len - bits.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
        Self { bits: (nulls > 0).then(|| bits.into()), nulls }
    }
}

impl Column {
    /// The cells of a column.
    pub fn of_cells(name: &str, cells: Cells<'_>, form: Form) -> Self {
        fn valid<T>(cells: &[Option<T>]) -> Validity {
            Validity::of(cells.len(), |n| cells[n].is_some())
        }
        match cells {
            Cells::Numbers(cells) => {
                let numbers = cells.iter().map(|number| number.unwrap_or(0).cast_signed());
                Self::of(name, "l", cells.len(), &valid(&cells)).with(numbers.collect::<Vec<i64>>())
            }
            Cells::Names(Names { names, numbers, are_fixed, .. }) => {
                let valid = Validity::of(numbers.len(), |n| numbers[n] >= 0);
                let numbers = numbers.into_iter().map(|number| number.max(0)).collect();
                Self::names(name, numbers, &names, &valid, are_fixed, form.plain)
            }
            Cells::Sets(names, cells) => {
                let valid = valid(&cells);
                let bits: Vec<_> = cells.into_iter().map(Option::unwrap_or_default).collect();
                if form.bits {
                    return Self::of(name, "C", bits.len(), &valid).with(bits);
                }
                let column = |(bit, name): (usize, &&str)| Self::booleans(name, &bits, bit, &valid);
                Self::table(name, bits.len(), &valid, names.iter().enumerate().map(column).collect())
            }
            Cells::Lists(names, cells) => {
                let items = cells.iter().flatten().flatten().map(|&item| i32::from(item)).collect();
                let items = Self::names("item", items, &names, &Validity::default(), true, form.plain);
                let lens = cells.iter().map(|list| list.as_ref().map_or(0, Vec::len));
                Self::lists(name, lens, items, &valid(&cells))
            }
            Cells::Defects(cells) => {
                let all = || cells.iter().map(Option::as_deref);
                let components = Component::ALL.iter().map(|component| component.name());
                let components = Names::fixed(components, all().map(|defect| Some(defect?.component as u8)));
                let causes = Cause::ALL.iter().map(|cause| cause.name());
                let causes = Names::fixed(causes, all().map(|defect| Some(defect?.cause as u8)));
                let members = [
                    ("component", Cells::Names(components)),
                    ("cause", Cells::Names(causes)),
                    ("offset", Cells::Numbers(all().map(|defect| Some(defect?.offset)).collect())),
                    ("rule", Cells::Names(Names::any(all().map(|defect| Some(defect?.rule.name()))))),
                ];
                let members = members.map(|(name, cells)| Self::of_cells(name, cells, form));
                Self::table(name, cells.len(), &valid(&cells), members.into())
            }
            Cells::Texts(cells) => {
                let valid = Validity::of(cells.len(), |n| cells.is_there(n));
                let (text, lens) = cells.joined();
                let offsets = offsets(lens);
                if are_utf8(&text, &offsets) {
                    return Self::of(name, "U", offsets.len() - 1, &valid).with(offsets).with(text);
                }
                let place = |n: usize| usize::try_from(offsets[n]).expect("it was counted");
                let texts =
                    (1..offsets.len()).map(|n| String::from_utf8_lossy(&text[place(n - 1)..place(n)]));
                Self::strings(name, texts, &valid)
            }
            _ => unreachable!("all types of cells are above"),
        }
    }

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
    fn booleans(name: &str, bytes: &[u8], n: usize, valid: &Validity) -> Self {
        Self::of(name, "b", bytes.len(), valid).with(packed_bit(bytes, n))
    }

    /// Strings. Their offsets have 64 bits.
    fn strings<S: AsRef<str>>(
        name: &str,
        values: impl ExactSizeIterator<Item = S>,
        valid: &Validity,
    ) -> Self {
        let len = values.len();
        let (mut offsets, mut text) = (Vec::with_capacity(len + 1), Vec::new());
        offsets.push(0_i64);
        for value in values {
            text.extend_from_slice(value.as_ref().as_bytes());
            offsets.push(count(text.len()));
        }
        Self::of(name, "U", len, valid).with(offsets).with(text)
    }

    /// Names by their number: strings if `is_plain`, or a dictionary, of few names if `is_small`.
    fn names<S: AsRef<str>>(
        name: &str,
        numbers: Vec<i32>,
        names: &[S],
        valid: &Validity,
        is_small: bool,
        is_plain: bool,
    ) -> Self {
        if is_plain {
            let of = |&n: &i32| names.get(n.unsigned_abs() as usize).map_or("", AsRef::as_ref);
            return Self::strings(name, numbers.iter().map(of), valid);
        }
        let names = Self::strings("", names.iter(), &Validity::default());
        let numbers = if is_small {
            let small = |&n: &i32| i8::try_from(n).expect("fewer than 128 names");
            let numbers: Vec<_> = numbers.iter().map(small).collect();
            Self::of(name, "c", numbers.len(), valid).with(numbers)
        } else {
            Self::of(name, "i", numbers.len(), valid).with(numbers)
        };
        Self { dictionary: Some(Box::new(names)), ..numbers }
    }

    /// Lists of strings or names, of these lengths.
    fn lists(name: &str, lens: impl Iterator<Item = usize>, values: Self, valid: &Validity) -> Self {
        let offsets = offsets(lens);
        Self { children: vec![values], ..Self::of(name, "+L", offsets.len() - 1, valid).with(offsets) }
    }

    /// A struct of columns.
    pub fn table(name: &str, len: usize, valid: &Validity, children: Vec<Self>) -> Self {
        Self { children, ..Self::of(name, "+s", len, valid) }
    }
}

/// Whether each text between two offsets is UTF-8.
fn are_utf8(text: &[u8], offsets: &[i64]) -> bool {
    let is_boundary = |text: &str, at: i64| usize::try_from(at).is_ok_and(|at| text.is_char_boundary(at));
    text.is_ascii() || str::from_utf8(text).is_ok_and(|text| offsets.iter().all(|&at| is_boundary(text, at)))
}

/// Where items of these lengths begin, and the end of the last one.
fn offsets(lens: impl Iterator<Item = usize>) -> Vec<i64> {
    let mut offsets = Vec::with_capacity(lens.size_hint().0 + 1);
    offsets.push(0);
    let mut end = 0;
    offsets.extend(lens.map(|len| {
        end += len;
        count(end)
    }));
    offsets
}
