//! One file for each command.

pub(crate) mod bench;
pub(crate) mod causes;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod grammars;
pub(crate) mod lines;
pub(crate) mod listing;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod scan;
pub(crate) mod schemes;
pub(crate) mod split;
