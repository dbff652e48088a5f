//! Calls Hyperscan to count the lines that match an expression.
//!
//! It needs the system's library (`libhyperscan5`, or `libvectorscan5`, which has the same interface). The library is
//! loaded at run time, so that the bench builds and runs without it.
//!
//! Hyperscan must report one match per line, and none for blank lines. The fastest way is `^(?:expression)\n` with the
//! multi-line flag, and one call for the whole text. `$` instead of the line end was no faster. One call per line took
//! twice as long. Two expressions, for hosts with and without brackets, took nearly twice as long.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use libloading::Library;

/// File names of the library. Version 5 has this interface.
const NAMES: [&str; 3] = ["libhs.so.5", "libhs.5.dylib", "hs.dll"];

/// `HS_FLAG_MULTILINE`: "^" also matches after every line end.
const MULTILINE: c_uint = 4;
/// `HS_MODE_BLOCK`: the whole text in one call.
const BLOCK: c_uint = 1;

/// `match_event_handler`: number of the expression, start (not requested), end, flags, context. Returns 0 to continue.
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

/// An expression compiled for this processor. Its database and scratch space are freed when the process ends.
pub struct Hyperscan {
    database: *const c_void,
    scratch: *mut c_void,
    scan: Scan,
    /// The library's version, as it reports it.
    pub version: String,
    /// Keeps the library loaded, which contains `scan`.
    _library: Library,
}

impl Hyperscan {
    /// Compiles `expression` with the system's library.
    ///
    /// # Errors
    ///
    /// If that fails, most often because there is no such library. The error is a sentence.
    pub fn open(expression: &str) -> Result<Self, String> {
        // SAFETY: loading the library only runs its own selection of code for this processor.
        let library = NAMES
            .into_iter()
            .find_map(|name| unsafe { Library::new(name) }.ok())
            .ok_or("there is no libhs of version 5")?;
        let missing = |error: libloading::Error| error.to_string();
        // SAFETY: the types are those of hs_common.h, hs_compile.h and hs_runtime.h, version 5. The functions are only
        // called while `library` is open: below, and through `self`, which owns it.
        let (version, compile, alloc_scratch, scan) = unsafe {
            (
                *library.get::<Version>("hs_version").map_err(missing)?,
                *library.get::<Compile>("hs_compile").map_err(missing)?,
                *library.get::<AllocScratch>("hs_alloc_scratch").map_err(missing)?,
                *library.get::<Scan>("hs_scan").map_err(missing)?,
            )
        };
        // SAFETY: the function returns a static string of the library.
        let version = unsafe { CStr::from_ptr(version()) }.to_string_lossy().trim().to_owned();

        let expression = CString::new(format!(r"^{expression}\n")).map_err(|error| error.to_string())?;
        let (mut database, mut error, mut scratch) = (null_mut(), null_mut::<CompileError>(), null_mut());
        // SAFETY: the expression ends in NUL, both output pointers are valid, and a null platform means this machine.
        let status = unsafe {
            compile(expression.as_ptr(), MULTILINE, BLOCK, null(), &raw mut database, &raw mut error)
        };
        if status != 0 {
            // SAFETY: if compiling fails, `error` is set and its message ends in NUL.
            let message = unsafe { CStr::from_ptr((*error).message) };
            return Err(format!("Hyperscan {version}: {}", message.to_string_lossy()));
        }
        // SAFETY: the database was just compiled, and for a null scratch pointer the library allocates a new one.
        let status = unsafe { alloc_scratch(database, &raw mut scratch) };
        if status != 0 {
            return Err(format!("Hyperscan {version}: no scratch, status {status}"));
        }
        Ok(Self { database, scratch, scan, version, _library: library })
    }

    /// Counts the lines of `text` that match. The last line must end in LF too. Blank lines do not count.
    pub fn count(&self, text: &[u8]) -> u64 {
        let mut count = Count { text, lines: 0 };
        let len = c_uint::try_from(text.len()).expect("one call takes less than 4 GiB");
        // SAFETY: the scratch space belongs to the database. Nothing else uses it, because `self` holds raw pointers and is
        // not `Sync`. The text has `len` bytes, and `count` outlives the call that passes it to `on_match`.
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

/// The state of one call.
struct Count<'a> {
    text: &'a [u8],
    lines: u64,
}

/// Counts the line whose LF is the last byte before `end`, unless it is blank.
unsafe extern "C" fn on_match(
    _: c_uint,
    _: c_ulonglong,
    end: c_ulonglong,
    _: c_uint,
    count: *mut c_void,
) -> c_int {
    // SAFETY: the pointer comes from `Hyperscan::count`, and nothing else uses its `Count` during the call.
    let count = unsafe { &mut *count.cast::<Count>() };
    let last = usize::try_from(end).ok().and_then(|end| count.text.get(end.checked_sub(2)?));
    count.lines += u64::from(last.is_some_and(|&byte| byte != b'\n'));
    0
}
