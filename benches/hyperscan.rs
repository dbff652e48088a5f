//! Hyperscan counting the lines that an expression matches, if the system has it (`libhyperscan5`, or `libvectorscan5`,
//! which answers to the same name). It is opened at run time, so that the bench builds and runs without it.
//!
//! It has to report one match a line, and none of blank lines. Of the arrangements that do, `^(?:expression)\n` with the
//! flag for many lines, over the whole text in one call, was the fastest: `$` in place of the line end was no faster, one
//! call a line took twice as long, and two expressions for hosts with and without brackets took nearly twice as long.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use libloading::Library;

/// The library's names where it is looked for; version 5 has this interface.
const NAMES: [&str; 3] = ["libhs.so.5", "libhs.5.dylib", "hs.dll"];

/// `HS_FLAG_MULTILINE`: "^" stands behind every line end too.
const MULTILINE: c_uint = 4;
/// `HS_MODE_BLOCK`: all of the text in one call.
const BLOCK: c_uint = 1;

/// `match_event_handler`: number of the expression, start (not asked for), end, flags, context; 0 to go on.
type OnMatch = unsafe extern "C" fn(c_uint, c_ulonglong, c_ulonglong, c_uint, *mut c_void) -> c_int;
/// `hs_compile_error_t`.
#[repr(C)]
struct CompileError {
    message: *const c_char,
    expression: c_int,
}

type Version = unsafe extern "C" fn() -> *const c_char;
type Compile = unsafe extern "C" fn(
    *const c_char,
    c_uint,
    c_uint,
    *const c_void,
    *mut *mut c_void,
    *mut *mut CompileError,
) -> c_int;
type AllocScratch = unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> c_int;
type Scan = unsafe extern "C" fn(
    *const c_void,
    *const c_char,
    c_uint,
    c_uint,
    *mut c_void,
    OnMatch,
    *mut c_void,
) -> c_int;

/// An expression, compiled for this processor. What it points to is given back with the process.
pub struct Hyperscan {
    database: *const c_void,
    scratch: *mut c_void,
    scan: Scan,
    /// What the library says its version is.
    pub version: String,
    /// `scan` is in it.
    _library: Library,
}

impl Hyperscan {
    /// Has the system's library compile `expression`.
    ///
    /// # Errors
    ///
    /// Why that could not be done, in words: above all that there is no such library.
    pub fn open(expression: &str) -> Result<Self, String> {
        // SAFETY: what runs when the library is loaded is its own choice of code for this processor.
        let library = NAMES
            .into_iter()
            .find_map(|name| unsafe { Library::new(name) }.ok())
            .ok_or("there is no libhs of version 5")?;
        let missing = |error: libloading::Error| error.to_string();
        // SAFETY: the types are those of hs_common.h, hs_compile.h and hs_runtime.h, version 5. The functions are called
        // while `library` is open: below, and through `self`, which holds it.
        let (version, compile, alloc_scratch, scan) = unsafe {
            (
                *library.get::<Version>("hs_version").map_err(missing)?,
                *library.get::<Compile>("hs_compile").map_err(missing)?,
                *library.get::<AllocScratch>("hs_alloc_scratch").map_err(missing)?,
                *library.get::<Scan>("hs_scan").map_err(missing)?,
            )
        };
        // SAFETY: it gives a string that is part of the library.
        let version = unsafe { CStr::from_ptr(version()) }.to_string_lossy().trim().to_owned();

        let expression = CString::new(format!(r"^{expression}\n")).map_err(|error| error.to_string())?;
        let (mut database, mut error, mut scratch) = (null_mut(), null_mut::<CompileError>(), null_mut());
        // SAFETY: the expression ends in NUL, the two places for answers are ours, and no platform means this one.
        let status = unsafe {
            compile(expression.as_ptr(), MULTILINE, BLOCK, null(), &raw mut database, &raw mut error)
        };
        if status != 0 {
            // SAFETY: where compiling fails, the error is there and its message ends in NUL.
            let message = unsafe { CStr::from_ptr((*error).message) };
            return Err(format!("Hyperscan {version}: {}", message.to_string_lossy()));
        }
        // SAFETY: the database was just compiled, and a null scratch is made anew.
        let status = unsafe { alloc_scratch(database, &raw mut scratch) };
        if status != 0 {
            return Err(format!("Hyperscan {version}: no scratch, status {status}"));
        }
        Ok(Self { database, scratch, scan, version, _library: library })
    }

    /// How many lines of `text` match; the last one has to end in LF too. Blank lines do not count.
    pub fn count(&self, text: &[u8]) -> u64 {
        let mut count = Count { text, lines: 0 };
        let len = c_uint::try_from(text.len()).expect("one call takes less than 4 GiB");
        // SAFETY: database and scratch belong together, and nobody else uses the scratch, since `self` holds raw pointers
        // and is not `Sync`. The text has `len` bytes, and `count` outlives the call that hands it to `on_match`.
        let status = unsafe {
            (self.scan)(
                self.database,
                text.as_ptr().cast(),
                len,
                0,
                self.scratch,
                on_match,
                (&raw mut count).cast(),
            )
        };
        assert_eq!(status, 0, "Hyperscan went through all of the text");
        count.lines
    }
}

/// What one call has counted.
struct Count<'a> {
    text: &'a [u8],
    lines: u64,
}

/// Counts the line whose LF is the last byte before `end`, if it is not blank.
unsafe extern "C" fn on_match(
    _: c_uint,
    _: c_ulonglong,
    end: c_ulonglong,
    _: c_uint,
    count: *mut c_void,
) -> c_int {
    // SAFETY: `Hyperscan::count` gave this pointer, to a `Count` that nobody else touches during the call.
    let count = unsafe { &mut *count.cast::<Count>() };
    let last = usize::try_from(end).ok().and_then(|end| count.text.get(end.checked_sub(2)?));
    count.lines += u64::from(last.is_some_and(|&byte| byte != b'\n'));
    0
}
