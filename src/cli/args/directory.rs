//! Which files of directories are read.

use std::io;

use clap::Args;
use urlsift::input::Walk;

#[derive(Args)]
pub(crate) struct WalkArgs {
    /// Of directories, only files whose names match: '*.gz', or '!*.log'
    ///
    /// With "!", only those that do not match. May be given several times; the last that matches decides. A glob without a slash is
    /// of a name at any depth, with one of a path from the working directory on. A hidden file that a glob matches is read.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    glob: Vec<String>,

    /// Of directories, hidden files and directories too
    #[arg(long, hide_short_help = true)]
    hidden: bool,

    /// Follow symbolic links in directories, which are left out otherwise
    #[arg(long, hide_short_help = true)]
    follow: bool,

    /// Of directories, not what .gitignore and .ignore files name
    #[arg(long, hide_short_help = true)]
    respect_ignore: bool,
}

impl WalkArgs {
    /// What walks so.
    ///
    /// # Errors
    /// When a glob is none; the error shows it.
    pub(crate) fn walk(&self) -> io::Result<Walk> {
        let walk = Walk::default().hidden(self.hidden).follow(self.follow).ignore_files(self.respect_ignore);
        if self.glob.is_empty() {
            return Ok(walk);
        }
        let named = |error: io::Error| io::Error::new(error.kind(), format!("--glob: {error}"));
        walk.globs(&self.glob).map_err(named)
    }
}
