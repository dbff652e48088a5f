//! The Arrow C data interface: arrays that come in without a copy, and arrays that go out. All unsafe code of the package is here.
//!
//! An array is three C structs: its type ([`ArrowSchema`]), its buffers ([`ArrowArray`]), or a stream of arrays of one type
//! ([`ArrowArrayStream`]). The holder of a struct calls its `release` once. The interface gives no lengths of buffers, except for
//! string views. So this file checks what can be checked (types, counts, negative and descending offsets, views, indices of
//! dictionaries), and trusts the producer that a buffer is as long as its array needs.
//!
//! The interface: <https://arrow.apache.org/docs/format/CDataInterface.html>.

#![cfg_attr(
    any(test, fuzzing),
    allow(missing_docs, dead_code, reason = "tests make a program of this file alone")
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

#[cfg(not(any(test, fuzzing)))]
use pyo3::{exceptions::PyValueError, prelude::*, types::PyCapsule};
use urlsift::inputs::Values;

/// The type of an array.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// The buffers of an array.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// A stream of arrays of one type.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// What is the same for each struct: how it is released, and how it comes in a capsule.
macro_rules! c_struct {
    ($($name:ident = $capsule:literal),*) => {$(
        // SAFETY: any thread may use and release a struct, one at a time. Buffers do not change.
        unsafe impl Send for $name {}
        // SAFETY: what is reachable through a shared reference is read only.
        unsafe impl Sync for $name {}

        impl $name {
            /// The name of a PyCapsule that contains it.
            pub const CAPSULE: &'static CStr = $capsule;

            /// Moves the struct out of its place; `None` if it was released or moved before.
            ///
            /// # Safety
            /// `place` points to a struct that its owner has filled or released.
            unsafe fn take(place: *mut Self) -> Option<Self> {
                // SAFETY: the caller guarantees a struct there. A moved struct is marked as released, as the interface says.
                unsafe {
                    (*place).release?;
                    let moved = ptr::read(place);
                    (*place).release = None;
                    Some(moved)
                }
            }

            /// Moves the struct out of its capsule.
            ///
            /// # Errors
            /// If it is another capsule, or was used before.
            #[cfg(not(any(test, fuzzing)))]
            pub fn of_capsule(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
                let place = capsule.cast::<PyCapsule>()?.pointer_checked(Some(Self::CAPSULE))?;
                // SAFETY: a capsule of this name has a pointer to such a struct, which its owner has filled or released.
                let taken = unsafe { Self::take(place.cast().as_ptr()) };
                taken.ok_or_else(|| {
                    PyValueError::new_err(concat!("the ", stringify!($name), " was used before, or is released"))
                })
            }
        }

        impl Default for $name {
            /// A struct that has been released.
            fn default() -> Self {
                // SAFETY: all members are numbers, pointers and optional functions, for which zero is a value.
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct is ours and not released. `release` marks it as released.
                    unsafe { release(self) }
                }
            }
        }
    )*};
}

c_struct!(
    ArrowSchema = c"arrow_schema",
    ArrowArray = c"arrow_array",
    ArrowArrayStream = c"arrow_array_stream"
);

impl ArrowArrayStream {
    /// The type of the arrays.
    ///
    /// # Errors
    /// What the producer says.
    pub fn schema(&mut self) -> Result<ArrowSchema, String> {
        let get = self.get_schema.ok_or("a stream without get_schema")?;
        let mut schema = ArrowSchema::default();
        // SAFETY: the stream is not released, and `schema` is a place for the result.
        let status = unsafe { get(self, &raw mut schema) };
        if status == 0 { Ok(schema) } else { Err(self.last_error(status)) }
    }

    /// The next array; `None` at the end.
    ///
    /// # Errors
    /// What the producer says. No array follows then.
    pub fn next_array(&mut self) -> Result<Option<ArrowArray>, String> {
        let get = self.get_next.ok_or("a stream without get_next")?;
        let mut array = ArrowArray::default();
        // SAFETY: the stream is not released, and `array` is a place for the result.
        let status = unsafe { get(self, &raw mut array) };
        if status != 0 {
            return Err(self.last_error(status));
        }
        // The end of the stream is a released array.
        Ok(array.release.is_some().then_some(array))
    }

    fn last_error(&mut self, status: c_int) -> String {
        // SAFETY: the stream is not released. The text lives until the next call.
        let text = self.get_last_error.map(|get| unsafe { text(get(self)) });
        text.filter(|text| !text.is_empty())
            .unwrap_or_else(|| format!("the producer ended with status {status}"))
    }
}

/// The text at a pointer, which may be null.
///
/// # Safety
/// If it is not null, it points to bytes that end with NUL.
unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees the NUL.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

/// How the values of an array are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// All values are null.
    Null,
    /// Offsets of this many bytes, and text.
    Offsets(usize),
    /// Views of 16 bytes.
    Views,
    /// Values of this many bytes.
    Fixed(usize),
    /// Indices of this many bytes, with a sign or without, and values.
    Dictionary(usize, bool, Box<Type>),
    /// The only column of a table.
    Table(Box<Type>),
}

impl Type {
    /// The type that a schema describes.
    ///
    /// # Errors
    /// If it has no strings or bytes, or is a table with several columns.
    pub fn of(schema: &ArrowSchema) -> Result<Self, String> {
        Self::nested(schema, 8)
    }

    /// The type that a schema describes, with at most `depth` types in it.
    fn nested(schema: &ArrowSchema, depth: usize) -> Result<Self, String> {
        let depth = depth.checked_sub(1).ok_or("types in types in types")?;
        // SAFETY: the schema is not released, so its strings and children are there.
        let (format, dictionary) = unsafe { (text(schema.format), schema.dictionary.as_ref()) };
        if let Some(values) = dictionary {
            let (len, signed) = match &*format {
                "c" => (1, true),
                "C" => (1, false),
                "s" => (2, true),
                "S" => (2, false),
                "i" => (4, true),
                "I" => (4, false),
                "l" => (8, true),
                "L" => (8, false),
                _ => return Err(format!("a dictionary with indices of the Arrow type {format:?}")),
            };
            return Ok(Self::Dictionary(len, signed, Box::new(Self::nested(values, depth)?)));
        }
        if let Some(len) = format.strip_prefix("w:") {
            // SAFETY: the schema is not released.
            if let Some(name) = unsafe { extension(schema.metadata) } {
                // Its bytes may be anything, such as addresses.
                return Err(format!(
                    "values of the extension type {name}, which are neither strings nor bytes"
                ));
            }
            let len = len.parse().ok().and_then(|len: i32| usize::try_from(len).ok());
            return len.map(Self::Fixed).ok_or_else(|| format!("an Arrow type {format:?}"));
        }
        match &*format {
            "n" => Ok(Self::Null),
            "u" | "z" => Ok(Self::Offsets(4)),
            "U" | "Z" => Ok(Self::Offsets(8)),
            "vu" | "vz" => Ok(Self::Views),
            "+s" => {
                // SAFETY: the producer guarantees as many children as it says.
                let children = unsafe { children(schema.n_children, schema.children) }?;
                // SAFETY: children of a schema that is not released are there.
                let children: Vec<&ArrowSchema> = children.map(|child| unsafe { &*child }).collect();
                let [column] = children[..] else {
                    // SAFETY: as above.
                    let names = children.iter().map(|child| unsafe { text(child.name) });
                    let names = names.collect::<Vec<_>>().join(", ");
                    return Err(format!("a table with {} columns ({names}); choose one", children.len()));
                };
                Self::nested(column, depth).map(|column| Self::Table(Box::new(column)))
            }
            _ => Err(format!(
                "values of the Arrow type {}, which are neither strings nor bytes",
                type_name(&format)
            )),
        }
    }
}

/// The name of an extension type, in the metadata of its schema.
///
/// # Safety
/// `metadata` is null, or points to metadata as the interface describes them: the number of pairs, and for each key and value a length
/// and so many bytes.
unsafe fn extension(metadata: *const c_char) -> Option<String> {
    let mut at = metadata.cast::<u8>();
    if at.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees a number there, which needs no alignment.
    let number = |at: *const u8| usize::try_from(i32::from_ne_bytes(unsafe { *at.cast::<[u8; 4]>() })).ok();
    let pairs = number(at)?;
    let mut is_name = false;
    for item in 0..pairs.checked_mul(2)? {
        at = at.wrapping_add(if item == 0 { 4 } else { 0 });
        let len = number(at)?;
        // SAFETY: the caller guarantees so many bytes behind the length.
        let bytes = unsafe { std::slice::from_raw_parts(at.wrapping_add(4), len) };
        if item % 2 == 1 && is_name {
            return Some(String::from_utf8_lossy(bytes).into_owned());
        }
        is_name = bytes == b"ARROW:extension:name";
        at = at.wrapping_add(4 + len);
    }
    None
}

/// The usual name of a type that is no text, or its format in the interface.
fn type_name(format: &str) -> String {
    let name = match format {
        "b" => "bool",
        "c" | "s" | "i" | "l" => ["int8", "int16", "int32", "int64"]["csil".find(format).unwrap_or(0)],
        "C" | "S" | "I" | "L" => ["uint8", "uint16", "uint32", "uint64"]["CSIL".find(format).unwrap_or(0)],
        "e" | "f" | "g" => ["float16", "float32", "float64"]["efg".find(format).unwrap_or(0)],
        _ if format.starts_with("+l") || format.starts_with("+L") || format.starts_with("+v") => "list",
        _ if format.starts_with("+w") => "fixed-size list",
        _ if format.starts_with("+r") => "run-end encoded",
        _ if format.starts_with('t') => "date or time",
        _ if format.starts_with('d') => "decimal",
        _ => return format!("{format:?}"),
    };
    name.to_owned()
}

/// The children of a struct.
///
/// # Safety
/// `children` has `n` pointers, if `n` is positive and it is not null.
unsafe fn children<T>(n: i64, children: *mut *mut T) -> Result<impl Iterator<Item = *mut T>, String> {
    let n = usize::try_from(n).map_err(|_| "a negative number of children".to_owned())?;
    // SAFETY: the caller guarantees the pointers. This is not called for a null pointer.
    let all = (0..n).map(move |child| unsafe { *children.add(child) });
    if n > 0 && (children.is_null() || all.clone().any(<*mut T>::is_null)) {
        return Err("a child that is a null pointer".to_owned());
    }
    Ok(all)
}

/// A buffer of an array that is kept beside it.
#[derive(Clone, Copy)]
struct Slice<T> {
    start: *const T,
    len: usize,
}

impl<T> Slice<T> {
    const EMPTY: Self = Self { start: ptr::null(), len: 0 };

    /// The items. They live as long as the array, which `self` is part of.
    fn get(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `Part::buffer` made it of a buffer of the array, whose items need no alignment. The producer guarantees its
        // length, and does not change it before the array is released.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// A bitmap: which values are there.
#[derive(Clone, Copy)]
struct Bits {
    bytes: Slice<u8>,
    offset: usize,
}

impl Bits {
    fn get(&self, n: usize) -> bool {
        let at = self.offset + n;
        self.bytes.get()[at / 8] >> (at % 8) & 1 == 1
    }
}

/// Where the values of an array are.
enum Layout {
    Null,
    Offsets4(Slice<[u8; 4]>, Slice<u8>),
    Offsets8(Slice<[u8; 8]>, Slice<u8>),
    Views(Slice<[u8; 16]>, Vec<Slice<u8>>),
    Fixed(usize, Slice<u8>),
    Dictionary(usize, bool, Slice<u8>, Box<Part>),
}

/// An array without its owner.
struct Part {
    len: usize,
    /// A value is there if all of these bitmaps have it.
    valid: Vec<Bits>,
    layout: Layout,
}

/// Strings or bytes in an array that somebody else has made.
pub struct Strings {
    part: Part,
    /// Keeps the buffers.
    _owner: ArrowArray,
}

// SAFETY: the buffers that its pointers point to are only read, and belong to `_owner`, which any thread may release.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

impl Strings {
    /// The values of `array`, which has this type.
    ///
    /// # Errors
    /// If the array cannot have this type, or its offsets, views or indices cannot be. The cost is linear in the number of values.
    pub fn new(array: ArrowArray, of: &Type) -> Result<Self, String> {
        let part = Part::new(&array, of, 0, None)?;
        part.check()?;
        Ok(Self { part, _owner: array })
    }
}

impl Values for Strings {
    fn len(&self) -> usize {
        self.part.len
    }

    #[inline]
    fn get(&self, n: usize) -> Option<&[u8]> {
        self.part.get(n)
    }

    fn around(&self, rows: Range<usize>) -> &[u8] {
        self.part.around(rows).unwrap_or_default()
    }

    fn bytes(&self, rows: Range<usize>) -> usize {
        self.part.bytes(&rows).unwrap_or_else(|| rows.map(|n| self.get(n).map_or(0, <[u8]>::len)).sum())
    }
}

/// The longest array and buffer, in items. Twice as much memory cannot be addressed.
const MAX_LEN: i64 = 1 << 59;

impl Part {
    /// Reads where the values are, `skip` values behind the first. Without `len` they are all values that follow.
    fn new(array: &ArrowArray, of: &Type, skip: usize, len: Option<usize>) -> Result<Self, String> {
        if !(0..MAX_LEN).contains(&array.length) || !(0..MAX_LEN).contains(&array.offset) {
            return Err(format!("an array of {} values behind {} others", array.length, array.offset));
        }
        let own_len = usize::try_from(array.length).unwrap_or(usize::MAX);
        let len = len.unwrap_or(own_len.saturating_sub(skip));
        if skip.saturating_add(len) > own_len {
            return Err(format!("a table of {} rows, with a column of {own_len}", skip + len));
        }
        let offset = usize::try_from(array.offset).unwrap_or(usize::MAX).saturating_add(skip);
        let end = offset.saturating_add(len);
        let n_buffers = usize::try_from(array.n_buffers).unwrap_or(0);
        let least = match of {
            Type::Null => 0,
            Type::Table(_) => 1,
            Type::Fixed(_) | Type::Dictionary(..) => 2,
            Type::Offsets(_) | Type::Views => 3,
        };
        if len == 0 {
            return Ok(Self { len, valid: Vec::new(), layout: Layout::Null });
        }
        if n_buffers < least {
            return Err(format!("an array with {n_buffers} buffers instead of {least}"));
        }
        if least > 0 && array.buffers.is_null() {
            return Err("an array without buffers".to_owned());
        }
        let mut valid = Vec::new();
        if least > 0 && array.null_count != 0 {
            let bytes: Slice<u8> = Self::buffer(array, 0, 0, end.div_ceil(8));
            match bytes.start.is_null() {
                false => valid.push(Bits { bytes, offset }),
                true if array.null_count < 0 => {}
                true => return Err(format!("{} nulls, and no bitmap of them", array.null_count)),
            }
        }
        let layout = match of {
            Type::Null => Layout::Null,
            Type::Offsets(width) => Self::offsets(array, *width, offset, len)?,
            Type::Views => {
                let views: Slice<[u8; 16]> = Self::buffer(array, 1, offset, len);
                needed(views.start.cast())?;
                let n = n_buffers - 3;
                let sizes: Slice<[u8; 8]> = Self::buffer(array, n_buffers - 1, 0, n);
                if n > 0 {
                    needed(sizes.start.cast())?;
                }
                let text = sizes.get().iter().enumerate().map(|(buffer, len)| {
                    let len = usize::try_from(i64::from_ne_bytes(*len)).map_err(|_| "a negative length")?;
                    let text: Slice<u8> = Self::buffer(array, 2 + buffer, 0, len);
                    Ok(if text.start.is_null() { Slice::EMPTY } else { text })
                });
                Layout::Views(views, text.collect::<Result<_, &str>>()?)
            }
            Type::Fixed(width) => {
                let bytes = len.checked_mul(*width).ok_or("values that are too long")?;
                let data: Slice<u8> = Self::buffer(array, 1, offset.saturating_mul(*width), bytes);
                if bytes > 0 {
                    needed(data.start)?;
                }
                Layout::Fixed(*width, data)
            }
            Type::Dictionary(width, signed, values) => {
                let indices: Slice<u8> = Self::buffer(array, 1, offset.saturating_mul(*width), len * width);
                needed(indices.start)?;
                // SAFETY: the dictionary of an array that is not released is there, or null.
                let dictionary = unsafe { array.dictionary.as_ref() }.ok_or("a dictionary without values")?;
                Layout::Dictionary(
                    *width,
                    *signed,
                    indices,
                    Box::new(Self::new(dictionary, values, 0, None)?),
                )
            }
            Type::Table(column) => {
                // SAFETY: the producer guarantees as many children as it says.
                let mut columns = unsafe { children(array.n_children, array.children) }?;
                let (Some(child), None) = (columns.next(), columns.next()) else {
                    return Err("an array with other columns than its type".to_owned());
                };
                // SAFETY: a child of an array that is not released is there.
                let mut part = Self::new(unsafe { &*child }, column, offset, Some(len))?;
                part.valid.extend(valid);
                return Ok(part);
            }
        };
        Ok(Self { len, valid, layout })
    }

    /// Offsets of so many bytes, with their text.
    fn offsets(array: &ArrowArray, width: usize, offset: usize, len: usize) -> Result<Layout, String> {
        let data_of = |last: u64| {
            let last = usize::try_from(last).unwrap_or(usize::MAX);
            let data = Self::buffer(array, 2, 0, last);
            if last > 0 { needed(data.start).map(|()| data) } else { Ok(Slice::EMPTY) }
        };
        if width == 4 {
            let offsets: Slice<[u8; 4]> = Self::buffer(array, 1, offset, len + 1);
            needed(offsets.start.cast())?;
            let last = ascending(offsets.get().iter().map(|at| i32::from_ne_bytes(*at).into()))?;
            return Ok(Layout::Offsets4(offsets, data_of(last)?));
        }
        let offsets: Slice<[u8; 8]> = Self::buffer(array, 1, offset, len + 1);
        needed(offsets.start.cast())?;
        let last = ascending(offsets.get().iter().map(|at| i64::from_ne_bytes(*at)))?;
        Ok(Layout::Offsets8(offsets, data_of(last)?))
    }

    /// `len` items of a buffer, behind the first `skip`. The start is null if the buffer is.
    fn buffer<T>(array: &ArrowArray, n: usize, skip: usize, len: usize) -> Slice<T> {
        if array.buffers.is_null() || usize::try_from(array.n_buffers).is_ok_and(|n_buffers| n >= n_buffers) {
            return Slice::EMPTY;
        }
        // SAFETY: the producer guarantees as many buffers as it says.
        let start = unsafe { *array.buffers.add(n) }.cast::<T>();
        if start.is_null() {
            return Slice::EMPTY;
        }
        Slice { start: start.wrapping_add(skip), len }
    }

    /// Checks all views and indices.
    fn check(&self) -> Result<(), String> {
        let is_there = |n: &usize| self.is_valid(*n);
        match &self.layout {
            Layout::Views(views, buffers) => {
                for (n, view) in views.get().iter().enumerate().filter(|(n, _)| is_there(n)) {
                    if view_of(view, buffers).is_none() {
                        return Err(format!("value {n}, a view of bytes that are not there"));
                    }
                }
            }
            Layout::Dictionary(width, signed, indices, values) => {
                for n in (0..self.len).filter(is_there) {
                    if index(indices, *width, *signed, n).is_none_or(|index| index >= values.len) {
                        return Err(format!(
                            "value {n}, an index that its dictionary of {} does not have",
                            values.len
                        ));
                    }
                }
                values.check()?;
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn is_valid(&self, n: usize) -> bool {
        self.valid.iter().all(|bits| bits.get(n))
    }

    /// The bytes of all values of some rows, if offsets say so.
    fn bytes(&self, rows: &Range<usize>) -> Option<usize> {
        if self.valid.is_empty() { Some(self.between(rows)?.0.len()) } else { None }
    }

    /// What is between the offsets of some rows, and the text that it is in.
    fn between(&self, rows: &Range<usize>) -> Option<(Range<usize>, &[u8])> {
        let (start, end, text) = match &self.layout {
            Layout::Offsets4(offsets, text) => {
                let at = |n: usize| i32::from_ne_bytes(offsets.get()[n]).into();
                (at(rows.start), at(rows.end), text)
            }
            Layout::Offsets8(offsets, text) => {
                let at = |n: usize| i64::from_ne_bytes(offsets.get()[n]);
                (at(rows.start), at(rows.end), text)
            }
            _ => return None,
        };
        Some((usize::try_from(start).ok()?..usize::try_from(end).ok()?, text.get()))
    }

    /// The memory that has the values of some rows, if it has little else. For views, this is a part of one buffer: the one with the first long
    /// value.
    fn around(&self, rows: Range<usize>) -> Option<&[u8]> {
        let Layout::Views(views, buffers) = &self.layout else {
            let (range, text) = self.between(&rows)?;
            return text.get(range);
        };
        let views = rows.filter(|&n| self.is_valid(n)).map(|n| &views.get()[n]);
        let mut places = views.filter_map(place_of);
        let (first, Range { mut start, mut end }) = places.next()?;
        let mut len = end - start;
        for (_, place) in places.filter(|(buffer, _)| *buffer == first) {
            (start, end) = (start.min(place.start), end.max(place.end));
            len = len.saturating_add(place.len());
        }
        // What lies between them is searched too.
        if (end - start) / 2 <= len { buffers.get(first)?.get().get(start..end) } else { None }
    }

    /// Value `n`. Bytes that are not there are no value, but [`check`](Self::check) has refused them.
    #[inline]
    fn get(&self, n: usize) -> Option<&[u8]> {
        if !self.is_valid(n) {
            return None;
        }
        match &self.layout {
            Layout::Null => None,
            Layout::Offsets4(offsets, data) => {
                let at = |n: usize| usize::try_from(i32::from_ne_bytes(offsets.get()[n])).ok();
                data.get().get(at(n)?..at(n + 1)?)
            }
            Layout::Offsets8(offsets, data) => {
                let at = |n: usize| usize::try_from(i64::from_ne_bytes(offsets.get()[n])).ok();
                data.get().get(at(n)?..at(n + 1)?)
            }
            Layout::Views(views, buffers) => view_of(&views.get()[n], buffers),
            Layout::Fixed(width, data) => data.get().get(n * width..(n + 1) * width),
            Layout::Dictionary(width, signed, indices, values) => {
                values.get(index(indices, *width, *signed, n)?)
            }
        }
    }
}

/// Checks that a buffer is there.
fn needed(start: *const u8) -> Result<(), String> {
    if start.is_null() { Err("a missing buffer".to_owned()) } else { Ok(()) }
}

/// Checks that offsets do not descend, and returns the last one.
fn ascending(offsets: impl Iterator<Item = i64>) -> Result<u64, String> {
    let mut last = 0;
    for (n, offset) in offsets.enumerate() {
        if offset < last {
            return Err(format!("offset {n} is {offset}, behind {last}"));
        }
        last = offset;
    }
    Ok(last.unsigned_abs())
}

/// The bytes of a view: 4 bytes of length, then up to 12 bytes of text, or the number of a buffer and an offset in it.
#[inline]
fn view_of<'a>(view: &'a [u8; 16], buffers: &'a [Slice<u8>]) -> Option<&'a [u8]> {
    let len = usize::try_from(number(view, 0)).ok()?;
    if len <= SHORT {
        return view.get(4..4 + len);
    }
    let (buffer, place) = place_of(view)?;
    buffers.get(buffer)?.get().get(place)
}

/// The most bytes of text that are in a view.
const SHORT: usize = 12;

/// The number of a buffer, and the place of the text in it; `None` if the text is in the view.
#[inline]
fn place_of(view: &[u8; 16]) -> Option<(usize, Range<usize>)> {
    let len = usize::try_from(number(view, 0)).ok().filter(|&len| len > SHORT)?;
    let (buffer, start) = (usize::try_from(number(view, 8)).ok()?, usize::try_from(number(view, 12)).ok()?);
    Some((buffer, start..start.checked_add(len)?))
}

/// The number at a place in a view.
fn number(view: &[u8; 16], at: usize) -> i32 {
    i32::from_ne_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]])
}

/// Index `n` of a dictionary's indices.
#[inline]
fn index(indices: &Slice<u8>, width: usize, signed: bool, n: usize) -> Option<usize> {
    let bytes = indices.get().get(n * width..(n + 1) * width)?;
    let mut wide = [0; 8];
    let start = if cfg!(target_endian = "big") { 8 - width } else { 0 };
    wide[start..start + width].copy_from_slice(bytes);
    let index = u64::from_ne_bytes(wide);
    let is_negative = signed && index >> (8 * width - 1) & 1 == 1;
    usize::try_from(index).ok().filter(|_| !is_negative)
}

/// A buffer of an array of ours.
#[derive(Clone)]
pub struct Buffer {
    start: *const c_void,
    _owner: Arc<dyn std::any::Any + Send + Sync>,
}

// SAFETY: it is never changed, and its owner can be dropped by any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl<T: Copy + Send + Sync + 'static> From<Vec<T>> for Buffer {
    fn from(items: Vec<T>) -> Self {
        let owner = Arc::new(items);
        Self { start: owner.as_ptr().cast(), _owner: owner }
    }
}

/// An array of ours, with its type and name.
#[derive(Clone)]
pub struct Column {
    pub name: String,
    /// The type, in the notation of the interface.
    pub format: &'static str,
    pub len: usize,
    pub nulls: usize,
    /// The buffers that the type asks for. The first one is the bitmap of values that are there; `None` if all are.
    pub buffers: Vec<Option<Buffer>>,
    pub children: Vec<Column>,
    pub dictionary: Option<Box<Column>>,
}

/// Whether an array may have nulls, in the flags of its type.
const NULLABLE: i64 = 2;

/// What a schema of ours keeps.
struct OwnSchema {
    name: CString,
    format: CString,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

/// What an array of ours keeps.
struct OwnArray {
    _buffers: Vec<Option<Buffer>>,
    starts: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

/// Drops children of ours. The consumer may have moved some of them elsewhere; these are marked as released.
///
/// # Safety
/// Each pointer is null, or [`Box::into_raw`] made it.
unsafe fn drop_all<T>(boxes: impl IntoIterator<Item = *mut T>) {
    for pointer in boxes.into_iter().filter(|pointer| !pointer.is_null()) {
        // SAFETY: the caller guarantees the box. Dropping a struct releases it, unless it was moved.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: `Column::schema` has set this function and `private_data`. It is called once.
    unsafe {
        let own = Box::from_raw((*schema).private_data.cast::<OwnSchema>());
        drop_all(own.children.iter().copied().chain([own.dictionary]));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: `Column::array` has set this function and `private_data`. It is called once.
    unsafe {
        let own = Box::from_raw((*array).private_data.cast::<OwnArray>());
        drop_all(own.children.iter().copied().chain([own.dictionary]));
        (*array).release = None;
    }
}

fn boxed<T>(of: Option<T>) -> *mut T {
    of.map_or(ptr::null_mut(), |of| Box::into_raw(Box::new(of)))
}

impl Column {
    /// Its type, for the interface.
    pub fn schema(&self) -> ArrowSchema {
        let without_nul = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        let (name, format) = (without_nul(&self.name), without_nul(self.format));
        let mut own = Box::new(OwnSchema {
            children: self.children.iter().map(|child| boxed(Some(child.schema()))).collect(),
            dictionary: boxed(self.dictionary.as_ref().map(|values| values.schema())),
            name,
            format,
        });
        ArrowSchema {
            format: own.format.as_ptr(),
            name: own.name.as_ptr(),
            metadata: ptr::null(),
            flags: NULLABLE,
            n_children: count(own.children.len()),
            children: own.children.as_mut_ptr(),
            dictionary: own.dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(own).cast(),
        }
    }

    /// Its buffers, for the interface. Nothing is copied.
    pub fn array(&self) -> ArrowArray {
        let start = |buffer: &Option<Buffer>| buffer.as_ref().map_or(ptr::null(), |buffer| buffer.start);
        let mut own = Box::new(OwnArray {
            starts: self.buffers.iter().map(start).collect(),
            _buffers: self.buffers.clone(),
            children: self.children.iter().map(|child| boxed(Some(child.array()))).collect(),
            dictionary: boxed(self.dictionary.as_ref().map(|values| values.array())),
        });
        ArrowArray {
            length: count(self.len),
            null_count: count(self.nulls),
            offset: 0,
            n_buffers: count(own.starts.len()),
            n_children: count(own.children.len()),
            buffers: own.starts.as_mut_ptr(),
            children: own.children.as_mut_ptr(),
            dictionary: own.dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(own).cast(),
        }
    }

    /// A stream of this one array, for readers of tables. Tables have no rows that are null, so only its columns say which values are
    /// null.
    pub fn stream(&self) -> ArrowArrayStream {
        let mut column = self.clone();
        if column.format == "+s" {
            (column.nulls, column.buffers) = (0, vec![None]);
        }
        let own = OwnStream { column, is_read: false };
        ArrowArrayStream {
            get_schema: Some(stream_schema),
            get_next: Some(stream_next),
            get_last_error: Some(stream_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(own)).cast(),
        }
    }
}

/// A number of values that are in memory.
pub(crate) fn count(n: usize) -> i64 {
    i64::try_from(n).expect("what is in memory can be counted")
}

/// What a stream of ours keeps.
struct OwnStream {
    column: Column,
    is_read: bool,
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: `Column::stream` has set this function and `private_data`. `out` is a place without a struct.
    unsafe { out.write((*(*stream).private_data.cast::<OwnStream>()).column.schema()) }
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `stream_schema`.
    unsafe {
        let own = &mut *(*stream).private_data.cast::<OwnStream>();
        out.write(if own.is_read { ArrowArray::default() } else { own.column.array() });
        own.is_read = true;
    }
    0
}

unsafe extern "C" fn stream_error(_: *mut ArrowArrayStream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: `Column::stream` has set this function and `private_data`. It is called once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<OwnStream>()));
        (*stream).release = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(format: &'static str, len: usize, buffers: Vec<Option<Buffer>>) -> Column {
        Column { name: String::new(), format, len, nulls: 0, buffers, children: Vec::new(), dictionary: None }
    }

    /// "a", "", "bc", of 32-bit offsets.
    fn text() -> Column {
        column("u", 3, vec![None, Some(vec![0_i32, 1, 1, 3].into()), Some(b"abc".to_vec().into())])
    }

    fn values(column: &Column, change: impl FnOnce(&mut ArrowArray)) -> Result<Vec<Option<Vec<u8>>>, String> {
        let mut array = column.array();
        change(&mut array);
        let strings = Strings::new(array, &Type::of(&column.schema())?)?;
        Ok((0..strings.len()).map(|n| strings.get(n).map(<[u8]>::to_vec)).collect())
    }

    fn some(values: &[&str]) -> Vec<Option<Vec<u8>>> {
        values.iter().map(|value| Some(value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn values_come_back() {
        assert_eq!(values(&text(), |_| {}), Ok(some(&["a", "", "bc"])));
        let large = column("Z", 1, vec![None, Some(vec![1_i64, 3].into()), Some(b"abc".to_vec().into())]);
        assert_eq!(values(&large, |_| {}), Ok(some(&["bc"])));
        let fixed = column("w:2", 2, vec![None, Some(b"abcd".to_vec().into())]);
        assert_eq!(values(&fixed, |_| {}), Ok(some(&["ab", "cd"])));
        assert_eq!(values(&column("n", 2, Vec::new()), |_| {}), Ok(vec![None, None]));
    }

    #[test]
    fn slices_and_nulls() {
        let mut nulls = text();
        (nulls.nulls, nulls.buffers[0]) = (1, Some(vec![0b101_u8].into()));
        assert_eq!(values(&nulls, |_| {}).unwrap()[1], None);
        let slice = |array: &mut ArrowArray| (array.offset, array.length) = (1, 2);
        assert_eq!(values(&nulls, slice), Ok(vec![None, Some(b"bc".to_vec())]));
        let empty = |array: &mut ArrowArray| (array.offset, array.length) = (3, 0);
        assert_eq!(values(&text(), empty), Ok(Vec::new()));
        let table = Column { children: vec![nulls], ..column("+s", 3, vec![None]) };
        assert_eq!(values(&table, slice), Ok(vec![None, Some(b"bc".to_vec())]));
    }

    #[test]
    fn dictionaries_and_views() {
        let with = |indices: Vec<i8>, format| Column {
            dictionary: Some(Box::new(text())),
            ..column(format, indices.len(), vec![None, Some(indices.into())])
        };
        assert_eq!(values(&with(vec![2, 0], "c"), |_| {}), Ok(some(&["bc", "a"])));
        assert!(values(&with(vec![3], "c"), |_| {}).unwrap_err().contains("index"));
        assert!(values(&with(vec![-1], "c"), |_| {}).unwrap_err().contains("index"));
        let view = |len: i32, rest: [i32; 3]| [len, rest[0], rest[1], rest[2]].map(i32::to_ne_bytes);
        let with = |view: [[u8; 4]; 4], size: i64| {
            let text = b"xhttp://example.org/".to_vec();
            column("vu", 1, vec![None, Some(vec![view].into()), Some(text.into()), Some(vec![size].into())])
        };
        let short = view(2, [i32::from_ne_bytes(*b"ab\0\0"), 0, 0]);
        assert_eq!(values(&with(short, 20), |_| {}), Ok(some(&["ab"])));
        assert_eq!(values(&with(view(19, [0, 0, 1]), 20), |_| {}), Ok(some(&["http://example.org/"])));
        for (view, size) in [
            (view(19, [0, 0, 2]), 20),
            (view(19, [0, 0, 1]), 19),
            (view(19, [0, 1, 0]), 20),
            (view(-1, [0, 0, 0]), 20),
            (view(19, [0, -1, 0]), 20),
            (view(19, [0, 0, -1]), 20),
            (view(19, [0, 0, 0]), -1),
        ] {
            assert!(values(&with(view, size), |_| {}).is_err(), "{view:?} {size}");
        }
    }

    #[test]
    fn values_that_follow_each_other_are_in_one_piece_of_memory() {
        let around = |column: &Column, rows| {
            let strings = Strings::new(column.array(), &Type::of(&column.schema()).unwrap()).unwrap();
            strings.around(rows).to_vec()
        };
        assert_eq!((around(&text(), 0..3), around(&text(), 1..2)), (b"abc".to_vec(), Vec::new()));
        let bytes: Vec<_> = (b'a'..=b'z').cycle().take(60).collect();
        let with = |views: &[(i32, i32, i32)]| {
            let view = |&(len, buffer, start)| [len, 0, buffer, start].map(i32::to_ne_bytes);
            let views: Vec<[[u8; 4]; 4]> = views.iter().map(view).collect();
            let (len, sizes) = (views.len(), vec![60_i64, 60]);
            let text = || Some(bytes.clone().into());
            column("vu", len, vec![None, Some(views.into()), text(), text(), Some(sizes.into())])
        };
        let near = with(&[(3, 0, 0), (13, 0, 20), (20, 1, 0), (13, 0, 1), (15, 0, 40)]);
        assert_eq!(around(&near, 0..5), bytes[1..55]);
        assert_eq!(around(&near, 2..3), bytes[..20]);
        assert_eq!(around(&near, 0..1), b"");
        assert_eq!(around(&with(&[(13, 0, 0), (13, 0, 45)]), 0..2), b"", "they are far from each other");
    }

    #[test]
    fn lies_are_errors() {
        type Lie = fn(&mut ArrowArray);
        let lies: [Lie; 6] = [
            |array| array.length = -1,
            |array| array.offset = -1,
            |array| array.length = i64::MAX,
            |array| array.n_buffers = 2,
            |array| array.buffers = ptr::null_mut(),
            |array| array.null_count = 1,
        ];
        for lie in lies {
            assert!(values(&text(), lie).is_err());
        }
        for offsets in [[0_i32, 2, 1, 3], [-1, 0, 1, 3], [0, 1, 1, i32::MIN]] {
            let mut lying = text();
            lying.buffers[1] = Some(offsets.to_vec().into());
            assert!(values(&lying, |_| {}).unwrap_err().contains("offset"), "{offsets:?}");
        }
        let missing = column("u", 1, vec![None, Some(vec![0_i32, 1].into()), None]);
        assert!(values(&missing, |_| {}).unwrap_err().contains("missing"));
        let table = Column { children: vec![text()], ..column("+s", 4, vec![None]) };
        assert!(values(&table, |_| {}).unwrap_err().contains("rows"));
        assert!(
            values(&column("i", 0, Vec::new()), |_| {}).unwrap_err().contains("neither strings nor bytes")
        );
    }

    #[test]
    fn structs_are_released_once() {
        let text = text();
        let mut array = text.array();
        // SAFETY: it is ours, and its members are set.
        let taken = unsafe { ArrowArray::take(&raw mut array) };
        assert!(taken.is_some());
        // SAFETY: as above.
        assert!(unsafe { ArrowArray::take(&raw mut array) }.is_none());
        let mut stream = Column { children: vec![text], ..column("+s", 3, vec![None]) }.stream();
        assert!(Type::of(&stream.schema().unwrap()).is_ok());
        let array = stream.next_array().unwrap().unwrap();
        drop(stream.next_array().unwrap().is_none().then_some(stream).unwrap());
        let of = Type::Table(Box::new(Type::Offsets(4)));
        assert_eq!(Strings::new(array, &of).unwrap().get(2), Some(&b"bc"[..]));
    }
}
