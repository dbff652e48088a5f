//! Options that several commands share.

pub(crate) mod count;
pub(crate) mod directory;
pub(crate) mod filter;
pub(crate) mod format;
pub(crate) mod paths;
pub(crate) mod range;
pub(crate) mod report;
pub(crate) mod size;
