//! Finds the links of HTML pages: the attributes whose value is a URL. A record is a tag that has such an attribute.
//!
//! Tags are those of the HTML standard, section 13.2.5. No tree is built, so that what an element is inside of does not matter.

use std::ops::Range;

use super::construct::State;
use super::raw::Raw;
use super::references::undo_html;
use super::tag::{self, Attribute, Walked, walk};
use super::{Language, Name, Unit, index, part, without_white};
use crate::{BadCause, Parts, Role};

/// How URLs are written in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It is a URL.
    Url(Role),
    /// Several URLs, each with its conditions.
    Candidates,
    /// A time and a URL, if the element is a refresh.
    Refresh,
}

/// The form of the URLs in an attribute of an element, and the index of the name that selects it. `None` if its value is none.
/// `names` are those that the user wants.
fn form(names: &[Name], element: &[u8], attribute: &[u8]) -> Option<(Form, u32)> {
    // Most names have other lengths, or begin with other letters.
    let may_be_known = matches!(attribute.len(), 3 | 4 | 6 | 7 | 10 | 11)
        && matches!(attribute[0] | 0x20, b'a'..=b'd' | b'f' | b'h' | b'i' | b'p' | b's' | b'x');
    if names.is_empty() && !may_be_known {
        return None;
    }
    let mut lower = [0; 16];
    let lower = lower.get_mut(..attribute.len());
    let known = lower.and_then(|lower| {
        lower.copy_from_slice(attribute);
        lower.make_ascii_lowercase();
        let is = |name: &str| element.eq_ignore_ascii_case(name.as_bytes());
        Some(match &*lower {
            b"href" if is("base") => Form::Url(Role::Url),
            b"href" | b"xlink:href" | b"formaction" | b"cite" => Form::Url(Role::Link),
            b"action" if is("form") => Form::Url(Role::Link),
            b"src" | b"poster" | b"background" => Form::Url(Role::Embed),
            b"data" if is("object") => Form::Url(Role::Embed),
            b"srcset" | b"imagesrcset" => Form::Candidates,
            b"content" if is("meta") => Form::Refresh,
            _ => return None,
        })
    });
    let is_wanted = |name: &Name| name.is_attribute(element, attribute, <[u8]>::eq_ignore_ascii_case);
    let n = index(names, || known.is_some(), is_wanted)?;
    Some((known.unwrap_or(Form::Url(Role::Link)), n))
}

/// An attribute that has URLs.
#[derive(Clone, Debug)]
pub(super) struct Link {
    form: Form,
    /// The index of the name that selects it.
    wanted: u32,
    name: Range<usize>,
    value: Range<usize>,
}

/// Looks at the tag at the start of `bytes`, and replaces `links` by its attributes that have URLs. `names` are those that the
/// user wants. An empty list stands for the usual attributes.
pub(super) fn unit(names: &[Name], bytes: &[u8], ended: bool, links: &mut Vec<Link>) -> Unit {
    let element = tag::name(bytes);
    let mut is_refresh = false;
    links.clear();
    let walked = walk(bytes, Language::Html, |Attribute { name, value }| {
        let text = &bytes[name.clone()];
        is_refresh |=
            text.eq_ignore_ascii_case(b"http-equiv") && bytes[value.clone()].eq_ignore_ascii_case(b"refresh");
        // If an attribute occurs twice, the first counts.
        if let Some((form, wanted)) = form(names, element, text)
            && !links.iter().any(|link| bytes[link.name.clone()].eq_ignore_ascii_case(text))
        {
            links.push(Link { form, wanted, name, value });
        }
    });
    links.retain(|link| link.form != Form::Refresh || is_refresh);
    let raw = if element.is_empty() { Raw::None } else { Raw::after(element) };
    match walked {
        Walked::To(end) if !element.is_empty() && !links.is_empty() => Unit::Record(end, raw.state()),
        Walked::To(end) | Walked::Malformed(_, end) => Unit::Nothing(end, raw.state()),
        Walked::Open(..) if ended && element.is_empty() => Unit::Nothing(bytes.len(), State::Content),
        Walked::Open(..) if ended => Unit::Bad(BadCause::CutOff, bytes.len(), bytes.len()),
        Walked::Open(inside, _) => Unit::Open(bytes.len(), State::Tag(inside, raw)),
    }
}

/// The `href` of `tag`, if it is one of the element `base`.
pub(super) fn base(tag: &[u8]) -> Option<Vec<u8>> {
    let begins = tag.get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"base"));
    if !begins || tag::name(tag).len() != 4 {
        return None;
    }
    let mut href = None;
    walk(tag, Language::Html, |Attribute { name, value }| {
        if href.is_none() && tag[name].eq_ignore_ascii_case(b"href") {
            href = Some(value);
        }
    });
    let text = undo_html(&tag[href?]);
    Some(text[without_white(&text)].to_vec())
}

/// Reads the fields of `record`. [`unit()`] has found `links` in it. Offsets of fields count from `start` bytes before the record.
pub(super) fn read<'a>(links: &[Link], record: &'a [u8], start: usize, parts: &mut Parts<'_, 'a>) {
    for Link { form, wanted, value, .. } in links {
        let text = undo_html(&record[value.clone()]);
        let start = start + value.start;
        match *form {
            Form::Url(role) => parts.push(part(&text, without_white(&text), start, role, *wanted)),
            Form::Candidates => each_candidate(&text, |candidate| {
                parts.push(part(&text, candidate, start, Role::Embed, *wanted));
            }),
            Form::Refresh => {
                if let Some(url) = refresh(&text) {
                    parts.push(part(&text, url, start, Role::Link, *wanted));
                }
            }
        }
    }
}

/// Passes the place of each URL in a `srcset` to `each` (HTML, section 4.8.4.2.1).
fn each_candidate(text: &[u8], mut each: impl FnMut(Range<usize>)) {
    let mut at = 0;
    loop {
        at += text[at..].iter().take_while(|&&byte| byte.is_ascii_whitespace() || byte == b',').count();
        if at == text.len() {
            return;
        }
        let start = at;
        at += text[at..].iter().take_while(|&&byte| !byte.is_ascii_whitespace()).count();
        let commas = text[start..at].iter().rev().take_while(|&&byte| byte == b',').count();
        each(start..at - commas);
        if commas > 0 {
            continue;
        }
        // The conditions end at a comma that is not in parentheses.
        let mut is_inside = false;
        while let Some(&byte) = text.get(at).filter(|&&byte| byte != b',' || is_inside) {
            is_inside = byte == b'(' || is_inside && byte != b')';
            at += 1;
        }
    }
}

/// The place of the URL in the content of a refresh (HTML, section 4.2.5.3).
fn refresh(text: &[u8]) -> Option<Range<usize>> {
    let white = |at: usize| at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let start = white(0);
    let mut at = start + text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if at == start && text.get(at) != Some(&b'.') {
        return None;
    }
    at += text[at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let after = white(at);
    let separator = matches!(text.get(after), Some(b';' | b','));
    if after == at && !separator {
        return None;
    }
    at = white(after + usize::from(separator));
    if at == text.len() {
        return None;
    }
    if text[at..].len() >= 3 && text[at..at + 3].eq_ignore_ascii_case(b"url") {
        let equals = white(at + 3);
        if text.get(equals) == Some(&b'=') {
            at = white(equals + 1);
        }
    }
    let mut end = text.len();
    if let Some(quote @ (b'"' | b'\'')) = text.get(at) {
        at += 1;
        end = memchr::memchr(*quote, &text[at..]).map_or(end, |len| at + len);
    }
    let inside = without_white(&text[at..end]);
    Some(at + inside.start..at + inside.end)
}
