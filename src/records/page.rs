//! What the links of a page are resolved against (HTML, section 2.4.3): the URL of the page, and its element `base`.

use std::sync::Arc;

use super::Role;
use crate::grammar::resolve::{Base, resolve};
use crate::grammar::scheme::scheme_len;

/// What is known of the page that fields belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Its URL, if an archive names it.
    pub(super) url: Option<Arc<[u8]>>,
    /// The `href` of its first element `base` that has one.
    pub(super) href: Option<Arc<[u8]>>,
}

impl Page {
    /// Fields that belong to no page.
    pub(super) const NONE: Self = Self { url: None, href: None };
}

/// The longest base of a page, in bytes. Each link is resolved to about as many.
const MAX_LEN: usize = 64 << 10;

/// The bases of one page after another.
#[derive(Debug)]
pub(crate) struct Bases<'b> {
    /// The base of pages whose URL is not known.
    given: Option<&'b Base>,
    page: Page,
    /// The bases of its own URLs and of its links.
    own: Option<Base>,
    links: Option<Base>,
}

impl<'b> Bases<'b> {
    /// The bases of pages. `given` is the URL of those whose archive does not name it.
    pub(crate) fn new(given: Option<&'b Base>) -> Self {
        Self { given, page: Page::NONE, own: given.cloned(), links: given.cloned() }
    }

    /// The base of a field of `page`. `None` if it is not known, or if RFC 3986 refuses it.
    pub(crate) fn of(&mut self, page: &Page, role: Role) -> Option<&Base> {
        if *page != self.page {
            self.page = page.clone();
            self.own = match &page.url {
                Some(url) if url.len() <= MAX_LEN => Base::new(url).ok(),
                Some(_) => None,
                None => self.given.cloned(),
            };
            self.links = match &page.href {
                Some(href) if !is_ignored(href) => {
                    let mut target = Vec::new();
                    let is_known = resolve(self.own.as_ref(), href, &mut target) && target.len() <= MAX_LEN;
                    is_known.then(|| Base::new(&target).ok()).flatten()
                }
                _ => self.own.clone(),
            };
        }
        // The URLs of a page itself are those of its archive and of `base`, which another `base` does not change.
        if role == Role::Url { self.own.as_ref() } else { self.links.as_ref() }
    }
}

/// Whether browsers ignore the `href` of a `base` (HTML, section 4.2.3).
fn is_ignored(href: &[u8]) -> bool {
    let scheme = &href[..scheme_len(href).unwrap_or(0)];
    scheme.eq_ignore_ascii_case(b"data") || scheme.eq_ignore_ascii_case(b"javascript")
}
