//! Reads the compact protocol of Thrift, field by field, from bytes in memory. The structures of Parquet are written in it.
//!
//! No size that the bytes declare leads to an allocation. Nesting is followed for [`DEPTH`] levels and no further.

/// How deep structures may be nested. Those of Parquet are five levels deep.
const DEPTH: u32 = 32;

/// Why bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// They end too early; more bytes may help.
    CutOff,
    /// Thrift does not write such bytes.
    Damaged,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Bool(bool),
    Integer(i64),
    Binary(&'a [u8]),
    /// Its bytes, for [`fields`].
    Struct(&'a [u8]),
    /// Its bytes, for [`structs`].
    List(&'a [u8]),
    /// A floating-point number, a byte or a map.
    Other,
}

impl<'a> Value<'a> {
    pub(super) fn integer(self) -> Option<i64> {
        if let Self::Integer(integer) = self { Some(integer) } else { None }
    }

    pub(super) fn binary(self) -> Option<&'a [u8]> {
        if let Self::Binary(bytes) = self { Some(bytes) } else { None }
    }

    pub(super) fn bytes_of_struct(self) -> Option<&'a [u8]> {
        if let Self::Struct(bytes) = self { Some(bytes) } else { None }
    }

    pub(super) fn bytes_of_list(self) -> Option<&'a [u8]> {
        if let Self::List(bytes) = self { Some(bytes) } else { None }
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// The length of the struct at the start of `bytes`.
pub(super) fn struct_len(bytes: &[u8]) -> Result<usize, Broken> {
    let mut rest = Rest(bytes);
    rest.skip(STRUCT, DEPTH)?;
    Ok(bytes.len() - rest.0.len())
}

/// Iterates over the fields of a struct, with their numbers, up to its end or to damage.
pub(super) fn fields(bytes: &[u8]) -> impl Iterator<Item = (i16, Value<'_>)> {
    let (mut rest, mut number) = (Rest(bytes), 0);
    std::iter::from_fn(move || {
        let (next, kind) = rest.field_header(number).ok()??;
        number = next;
        Some((next, rest.value(kind).ok()?))
    })
}

/// Finds field `number` of a struct. A field for which `of` returns `None` is ignored, and the last one counts.
pub(super) fn field<'a, T>(bytes: &'a [u8], number: i16, of: fn(Value<'a>) -> Option<T>) -> Option<T> {
    fields(bytes).filter(|field| field.0 == number).filter_map(|field| of(field.1)).last()
}

/// Iterates over the structs in a list. A list of other items gives none.
pub(super) fn structs(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Rest(bytes);
    let (n, kind) = rest.list_header().unwrap_or_default();
    let n = if kind == STRUCT { n } else { 0 };
    (0..n).map_while(move |_| rest.skipped(STRUCT).ok())
}

/// The bytes that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a>(pub(super) &'a [u8]);

impl<'a> Rest<'a> {
    /// Reads a signed integer.
    pub(super) fn integer(&mut self) -> Result<i64, Broken> {
        let bits = self.varint()?;
        Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }

    /// Reads an unsigned integer: seven bits per byte, the lowest first (ULEB128).
    pub(super) fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Broken::Damaged)
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Broken::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    fn binary(&mut self) -> Result<&'a [u8], Broken> {
        let len = usize::try_from(self.varint()?).map_err(|_| Broken::Damaged)?;
        self.take(len)
    }

    /// Reads the number and the kind of the next field; `None` at the end of the struct.
    fn field_header(&mut self, last: i16) -> Result<Option<(i16, u8)>, Broken> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let number = match byte >> 4 {
            0 => i16::try_from(self.integer()?).ok(),
            more => last.checked_add(more.into()),
        };
        Ok(Some((number.ok_or(Broken::Damaged)?, byte & 15)))
    }

    /// Reads how many items a list has, and their kind.
    fn list_header(&mut self) -> Result<(u64, u8), Broken> {
        let byte = self.byte()?;
        let n = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        Ok((n, byte & 15))
    }

    fn value(&mut self, kind: u8) -> Result<Value<'a>, Broken> {
        Ok(match kind {
            TRUE | FALSE => Value::Bool(kind == TRUE),
            4..=6 => Value::Integer(self.integer()?),
            BINARY => Value::Binary(self.binary()?),
            LIST | SET => Value::List(self.skipped(kind)?),
            STRUCT => Value::Struct(self.skipped(kind)?),
            _ => {
                self.skipped(kind)?;
                Value::Other
            }
        })
    }

    fn skipped(&mut self, kind: u8) -> Result<&'a [u8], Broken> {
        let before = self.0;
        self.skip(kind, DEPTH)?;
        Ok(&before[..before.len() - self.0.len()])
    }

    /// Skips the value of a field.
    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), Broken> {
        let depth = depth.checked_sub(1).ok_or(Broken::Damaged)?;
        match kind {
            TRUE | FALSE => {}
            3 => _ = self.byte()?,
            4..=6 => _ = self.varint()?,
            7 => _ = self.take(8)?,
            BINARY => _ = self.binary()?,
            LIST | SET => {
                let (n, kind) = self.list_header()?;
                for _ in 0..n {
                    self.skip_item(kind, depth)?;
                }
            }
            MAP => {
                let n = self.varint()?;
                let kinds = if n > 0 { self.byte()? } else { 0 };
                for _ in 0..n {
                    self.skip_item(kinds >> 4, depth)?;
                    self.skip_item(kinds & 15, depth)?;
                }
            }
            STRUCT => {
                let mut number = 0;
                while let Some((next, kind)) = self.field_header(number)? {
                    number = next;
                    self.skip(kind, depth)?;
                }
            }
            _ => return Err(Broken::Damaged),
        }
        Ok(())
    }

    /// Skips an item of a list or map. A Boolean has a byte there. So each item has at least one, and the bytes limit the number
    /// of items.
    fn skip_item(&mut self, kind: u8, depth: u32) -> Result<(), Broken> {
        if matches!(kind, TRUE | FALSE) { self.byte().map(drop) } else { self.skip(kind, depth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_read_field_by_field() {
        // 1: 1, 2: "ab", 3: [true, false], 5: {1: 2.0}, 6: {"k": -1}, 40: -3, and one byte after the struct
        let bytes =
            b"\x15\x02\x18\x02ab\x19\x21\x01\x02\x2c\x17\0\0\0\0\0\0\0\x40\0\x1b\x01\x85\x01k\x01\x05\x50\x05\0\x07";
        let found: Vec<_> = fields(bytes).collect();
        assert_eq!(found[..2], [(1, Value::Integer(1)), (2, Value::Binary(b"ab"))]);
        assert_eq!(found[2], (3, Value::List(b"\x21\x01\x02")));
        assert!(matches!(found[3], (5, Value::Struct(inner)) if fields(inner).eq([(1, Value::Other)])));
        assert_eq!(found[4..], [(6, Value::Other), (40, Value::Integer(-3))]);
        assert_eq!(struct_len(bytes), Ok(bytes.len() - 1));
        for len in 0..bytes.len() - 1 {
            assert_eq!(struct_len(&bytes[..len]), Err(Broken::CutOff), "{len}");
        }
        assert!(structs(b"\x2c\x15\x02\0\0").eq([&b"\x15\x02\0"[..], b"\0"]));
        assert_eq!(structs(b"\x21\x01\x02").count(), 0);
    }

    #[test]
    fn what_no_writer_writes_is_damaged() {
        for bytes in [
            &b"\x1d"[..],
            b"\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x19\xfd\x01",
            &[b'\x1c'; 100],
            &[b'\x19'; 100],
        ] {
            assert_eq!(struct_len(bytes), Err(Broken::Damaged), "{bytes:x?}");
            fields(bytes).for_each(drop);
        }
        // The declared number of items does not matter.
        assert_eq!(struct_len(b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), Err(Broken::CutOff));
        assert_eq!(struct_len(b"\x19\xfc\xff\xff\xff\xff\x0f\0"), Err(Broken::CutOff));
        assert_eq!(struct_len(b"\x19\xf1\xff\xff\xff\xff\x0f\0"), Err(Broken::CutOff));
    }
}
