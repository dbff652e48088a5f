//! What the links of a page are resolved against (HTML, section 2.4.3): the URL of the page, and its element `base`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::Role;
use urlsift_grammar::password::shows_password_of;
use urlsift_grammar::resolve::{Base, resolve};
use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::whatwg::{Url, parse};

/// What is known of the page that fields belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its URL, if an archive names it.
    pub(super) url: Option<Arc<[u8]>>,
    /// The `href` of its first element `base` that has one.
    pub(super) href: Option<Arc<[u8]>>,
}

impl Page {
    /// Fields that belong to no page.
    pub const NONE: Self = Self { url: None, href: None };
}

/// The longest base of a page, in bytes. Each link is resolved to about as many.
const MAX_LEN: usize = 64 << 10;

/// A base of links. RFC 3986 has one for the column `resolved`, and the WHATWG parser has another.
pub trait PageBase: Clone {
    /// The base that the URL of a page is. `None` if the standard refuses it.
    fn of_page(url: &[u8]) -> Option<Self>;

    /// The base of the links of a page with the base `own` and an element `base` with this `href`.
    fn of_links(own: Option<&Self>, href: &[u8]) -> Option<Self>;

    fn text(&self) -> Cow<'_, [u8]>;
}

impl PageBase for Base {
    fn of_page(url: &[u8]) -> Option<Self> {
        Self::new(url).ok()
    }

    fn of_links(own: Option<&Self>, href: &[u8]) -> Option<Self> {
        if is_ignored(&href[..scheme_len(href).unwrap_or(0)]) {
            return own.cloned();
        }
        let mut target = Vec::new();
        let is_known = resolve(own, href, &mut target) && target.len() <= MAX_LEN;
        is_known.then(|| Self::new(&target).ok()).flatten()
    }

    fn text(&self) -> Cow<'_, [u8]> {
        self.as_bytes().into()
    }
}

impl PageBase for Url {
    fn of_page(url: &[u8]) -> Option<Self> {
        parse(url, None).url().cloned()
    }

    /// Browsers also ignore an `href` that is no URL (HTML, section 2.4.3).
    fn of_links(own: Option<&Self>, href: &[u8]) -> Option<Self> {
        match parse(href, own).url() {
            Some(url) if is_ignored(url.scheme.as_bytes()) => own.cloned(),
            Some(url) => (url.to_string().len() <= MAX_LEN).then(|| url.clone()),
            None => own.cloned(),
        }
    }

    fn text(&self) -> Cow<'_, [u8]> {
        self.to_string().into_bytes().into()
    }
}

/// The bases of one page after another.
#[derive(Debug)]
pub struct Bases<'b, B> {
    /// The base of pages whose URL is not known.
    given: Option<&'b B>,
    page: Page,
    /// The bases of its own URLs and of its links.
    own: Option<B>,
    links: Option<B>,
    /// What [`hides_password`](Self::hides_password) returns of each, once it is known.
    hides: [OnceCell<bool>; 2],
}

impl<'b, B: PageBase> Bases<'b, B> {
    /// The bases of pages. `given` is the URL of those whose archive does not name it.
    pub fn new(given: Option<&'b B>) -> Self {
        Self {
            given,
            page: Page::NONE,
            own: given.cloned(),
            links: given.cloned(),
            hides: Default::default(),
        }
    }

    /// Whether `page` is the page that [`turn_to`](Self::turn_to) was called with last.
    pub fn are_of(&self, page: &Page) -> bool {
        self.page == *page
    }

    /// Goes on to a page, which may be the same.
    pub fn turn_to(&mut self, page: &Page) {
        if self.are_of(page) {
            return;
        }
        (self.page, self.hides) = (page.clone(), Default::default());
        self.own = match &page.url {
            Some(url) if url.len() <= MAX_LEN => B::of_page(url),
            Some(_) => None,
            None => self.given.cloned(),
        };
        self.links = match &page.href {
            Some(href) => B::of_links(self.own.as_ref(), href),
            None => self.own.clone(),
        };
    }

    /// The base of the fields of the page that have this role. `None` if it is not known.
    pub fn of(&self, role: Role) -> Option<&B> {
        // The URL of `base` is the only one of a page, and another `base` does not change it.
        if role == Role::Url { self.own.as_ref() } else { self.links.as_ref() }
    }

    /// Whether the base of the fields that have this role may show a password where none is found: as a part of a path or a host. It
    /// is found in what the base was made of.
    pub fn hides_password(&self, role: Role) -> bool {
        let is_own = role == Role::Url;
        *self.hides[usize::from(is_own)].get_or_init(|| {
            let given = || self.given.map(B::text);
            let url = self.page.url.as_deref().map(Cow::Borrowed).or_else(given);
            let href = self.page.href.as_deref().filter(|_| !is_own);
            let sources: Vec<_> = url.as_deref().into_iter().chain(href).collect();
            self.of(role).is_some_and(|base| shows_password_of(&base.text(), &sources))
        })
    }
}

/// Whether browsers ignore the `href` of a `base` that has this scheme (HTML, section 4.2.3).
fn is_ignored(scheme: &[u8]) -> bool {
    scheme.eq_ignore_ascii_case(b"data") || scheme.eq_ignore_ascii_case(b"javascript")
}
