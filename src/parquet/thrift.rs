//! The compact protocol of Thrift, in which the structures of Parquet are written: read from bytes in memory, field by field,
//! with everything stepped over that nobody asks for.
//!
//! Whatever the bytes say, nothing is allocated for a size that they declare, and nesting is followed [`DEPTH`] levels and no
//! further.

/// How deep structures may be nested in each other; those of Parquet are five levels deep.
const DEPTH: u32 = 32;

/// Why bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// They end too early; more may help.
    CutOff,
    /// They are not what Thrift writes.
    Damaged,
}

/// What a field holds, as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    /// Of 16, 32 or 64 bits; they are written alike.
    Integer,
    Double,
    Binary,
    List,
    Map,
    Struct,
}

impl Kind {
    fn of(nibble: u8) -> Result<Self, Broken> {
        Ok(match nibble {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4..=6 => Self::Integer,
            7 => Self::Double,
            8 => Self::Binary,
            // A set is written like a list.
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            _ => return Err(Broken::Damaged),
        })
    }
}

/// A place in bytes.
#[derive(Clone, Debug)]
pub(super) struct Thrift<'a> {
    rest: &'a [u8],
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that have not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads a struct: tells `field` the number and the kind of each field, and steps over those that it leaves where they are
    /// by saying `false`.
    pub(super) fn fields<E: From<Broken>>(
        &mut self,
        mut field: impl FnMut(&mut Self, i16, Kind) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut number = 0_i16;
        while let Some((next, kind)) = self.field_header(number)? {
            number = next;
            if !field(self, number, kind)? {
                self.skip(kind, DEPTH)?;
            }
        }
        Ok(())
    }

    /// Reads a list of structs: calls `item` for each, which has to read it.
    pub(super) fn structs<E: From<Broken>>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let (n, kind) = self.list_header()?;
        if kind != Kind::Struct && n > 0 {
            return Err(Broken::Damaged.into());
        }
        for _ in 0..n {
            item(self)?;
        }
        Ok(())
    }

    /// An integer.
    pub(super) fn integer(&mut self) -> Result<i64, Broken> {
        let bits = self.varint()?;
        Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }

    /// An integer that counts something.
    pub(super) fn count(&mut self) -> Result<u64, Broken> {
        u64::try_from(self.integer()?).map_err(|_| Broken::Damaged)
    }

    /// Some bytes.
    pub(super) fn binary(&mut self) -> Result<&'a [u8], Broken> {
        let len = usize::try_from(self.varint()?).map_err(|_| Broken::Damaged)?;
        self.take(len)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Broken::CutOff)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    /// Seven bits a byte, the lowest first (ULEB128).
    pub(super) fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Broken::Damaged)
    }

    /// The number and the kind of the next field; `None` at the end of the struct.
    fn field_header(&mut self, before: i16) -> Result<Option<(i16, Kind)>, Broken> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let number = match byte >> 4 {
            0 => i16::try_from(self.integer()?).map_err(|_| Broken::Damaged)?,
            step => before.checked_add(step.into()).ok_or(Broken::Damaged)?,
        };
        Ok(Some((number, Kind::of(byte & 15)?)))
    }

    fn list_header(&mut self) -> Result<(u64, Kind), Broken> {
        let byte = self.byte()?;
        let n = match byte >> 4 {
            15 => self.varint()?,
            n => n.into(),
        };
        Ok((n, Kind::of(byte & 15)?))
    }

    /// Steps over what a field holds.
    fn skip(&mut self, kind: Kind, depth: u32) -> Result<(), Broken> {
        let depth = depth.checked_sub(1).ok_or(Broken::Damaged)?;
        match kind {
            Kind::True | Kind::False => {}
            Kind::Byte => _ = self.byte()?,
            Kind::Integer => _ = self.varint()?,
            Kind::Double => _ = self.take(8)?,
            Kind::Binary => _ = self.binary()?,
            Kind::List => {
                let (n, kind) = self.list_header()?;
                for _ in 0..n {
                    self.skip_item(kind, depth)?;
                }
            }
            Kind::Map => {
                let n = self.varint()?;
                if n > 0 {
                    let kinds = self.byte()?;
                    let (key, value) = (Kind::of(kinds >> 4)?, Kind::of(kinds & 15)?);
                    for _ in 0..n {
                        self.skip_item(key, depth)?;
                        self.skip_item(value, depth)?;
                    }
                }
            }
            Kind::Struct => {
                let mut number = 0;
                while let Some((next, kind)) = self.field_header(number)? {
                    number = next;
                    self.skip(kind, depth)?;
                }
            }
        }
        Ok(())
    }

    /// In lists and maps a truth value has a byte, so that each item has one at least, and no number of them is endless.
    fn skip_item(&mut self, kind: Kind, depth: u32) -> Result<(), Broken> {
        match kind {
            Kind::True | Kind::False => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8]) -> Result<Vec<(i16, i64)>, Broken> {
        let mut found = Vec::new();
        Thrift::new(bytes).fields(|thrift, number, kind| {
            if kind == Kind::Integer {
                found.push((number, thrift.integer()?));
            }
            Ok::<_, Broken>(kind == Kind::Integer)
        })?;
        Ok(found)
    }

    #[test]
    fn structs_are_read_and_what_is_unknown_is_stepped_over() {
        // 1: 1, 2: "ab", 3: [true, false], 5: {1: 2.0}, 6: {"k": -1}, 40: -3
        let bytes = b"\x15\x02\x18\x02ab\x19\x21\x01\x02\x2c\x17\0\0\0\0\0\0\0\x40\0\x1b\x01\x85\x01k\x01\x05\x50\x05\0";
        assert_eq!(numbers(bytes), Ok(vec![(1, 1), (40, -3)]));
        for len in 0..bytes.len() {
            assert_eq!(numbers(&bytes[..len]), Err(Broken::CutOff), "{len}");
        }
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
            assert_eq!(numbers(bytes), Err(Broken::Damaged), "{bytes:x?}");
        }
        // However many items there are said to be.
        assert_eq!(numbers(b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), Err(Broken::CutOff));
        assert_eq!(numbers(b"\x19\xfc\xff\xff\xff\xff\x0f\0"), Err(Broken::CutOff));
        assert_eq!(numbers(b"\x19\xf1\xff\xff\xff\xff\x0f\0"), Err(Broken::CutOff));
    }
}
