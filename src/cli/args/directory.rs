//! Options that choose files in directories.

use std::ffi::OsString;
use std::io;

use clap::Args;
use urlsift_input::Walk;

#[derive(Args)]
pub(crate) struct WalkArgs {
    /// In directories, read only files whose names match: '*.gz', or '!*.log'
    ///
    /// A glob with "!" excludes the files that match it. Can be given several times; the last glob that matches decides. A
    /// glob without a slash matches names at any depth. A glob with a slash matches paths relative to the working
    /// directory. A hidden file that a glob matches is read. "**" stands for any directories, [!a] for any character but
    /// "a", and {a,b} for either.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    glob: Vec<String>,

    /// In directories, also read hidden files and directories
    #[arg(long, hide_short_help = true)]
    hidden: bool,

    /// In directories, follow symbolic links, which are skipped otherwise
    #[arg(long, hide_short_help = true)]
    follow: bool,
}

impl WalkArgs {
    /// The words of a command line for the same options.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let flags = [(self.hidden, "--hidden"), (self.follow, "--follow")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.into());
        let globs = self.glob.iter().flat_map(|glob| ["--glob".into(), glob.into()]);
        flags.chain(globs).collect()
    }

    /// Makes the directory walk for these options.
    ///
    /// # Errors
    /// If a glob is invalid. The error shows the glob.
    pub(crate) fn walk(&self) -> io::Result<Walk> {
        let walk = Walk::default().hidden(self.hidden).follow(self.follow);
        if self.glob.is_empty() {
            return Ok(walk);
        }
        let named = |error: io::Error| io::Error::new(error.kind(), format!("--glob: {error}"));
        walk.globs(&self.glob).map_err(named)
    }
}
