//! Takes wanted values of a JSON record as fields.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::pipelines::{self, KEYS, Known, PIPELINES, Pipeline};
use super::{Broken, Meaning, Path, Text, Token, Wanted};
use crate::quoted::{Quoted, target};
use crate::{BadCause, Miss, Outcome, Part, Parts, Role, container};

/// The target of a request line, which begins with a method and a blank.
fn requested(line: Part<'_>) -> Result<Part<'_>, Miss> {
    let missing = Miss::Bad(BadCause::BadRequest, line.at);
    let (at, bytes) = match line.bytes {
        Cow::Borrowed(text) => target(text, Quoted::plain(text)).ok().flatten().ok_or(missing)?,
        Cow::Owned(text) => {
            let (_, bytes) = target(&text, Quoted::plain(&text)).ok().flatten().ok_or(missing)?;
            (0, Cow::Owned(bytes.into_owned()))
        }
    };
    Ok(Part { role: Role::Request, wanted: line.wanted, bytes, at: line.at + at })
}

/// Whether a log has a value here.
fn is_given(part: &Part<'_>) -> bool {
    !matches!(&*part.bytes, b"" | b"-")
}

/// Whether a value is a string, a number or a word of JSON or JavaScript.
fn is_scalar(value: &[u8]) -> bool {
    match value {
        [b'"' | b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] => true,
        word => [&b"null"[..], b"true", b"false", b"NaN", b"Infinity", b"-Infinity"].contains(&word),
    }
}

/// Where the values of an object are that it has under [`KEYS`].
type Values = [Option<usize>; KEYS.len()];

impl<'a> Text<'_, 'a> {
    /// Takes the value at `at` as a field if it is a string, and each element if it is an array of strings. A null gives no field.
    #[inline]
    pub(super) fn take(&mut self, at: usize, meaning: Meaning, parts: &mut Parts<'_, 'a>) -> Outcome {
        match self.bytes.get(at) {
            Some(b'"') => self.take_string(at, meaning, parts).map(drop),
            Some(b'[') => self.each_element(at, |text, element| match text.bytes.get(element) {
                Some(b'"') => text.take_string(element, meaning, parts).map(Some),
                _ => text.take_null(element).map(Some),
            }),
            _ => self.take_null(at).map(drop),
        }
    }

    /// Takes the string at `at`. Returns its end.
    #[inline]
    fn take_string(&mut self, at: usize, meaning: Meaning, parts: &mut Parts<'_, 'a>) -> Result<usize, Miss> {
        let (mut part, end) = self.part(at, meaning)?;
        if meaning.is_request_line && pipelines::is_request_line(&part.bytes) {
            part = requested(part)?;
        }
        parts.push(part);
        Ok(end)
    }

    /// The string at `at` as a field, and its end.
    #[inline(always)]
    fn part(&mut self, at: usize, meaning: Meaning) -> Result<(Part<'a>, usize), Miss> {
        let string = self.string(at).map_err(|broken| self.miss(broken))?;
        let place = at - self.start;
        let bytes = self.said_by(&string).ok_or(Miss::Bad(BadCause::BadEscape, place))?;
        let Meaning { role, wanted, .. } = meaning;
        Ok((Part { role, wanted, bytes, at: place + 1 }, string.quotes[1] + 1))
    }

    /// Passes over the value at `at`, which must be a null. Returns its end.
    fn take_null(&mut self, at: usize) -> Result<usize, Miss> {
        let end = self.behind_value(at).map_err(|broken| self.miss(broken))?;
        let behind = self.bytes.get(self.behind_blanks(end));
        let is_null = &self.bytes[at..end] == b"null" && matches!(behind, None | Some(b',' | b'}' | b']'));
        if is_null { Ok(end) } else { Err(Miss::Bad(BadCause::NotAString, at - self.start)) }
    }

    /// Takes the whole record, which begins at `at` and is no array or object.
    #[cold]
    pub(super) fn take_scalar(&mut self, at: usize, wanted: &Wanted, parts: &mut Parts<'_, 'a>) -> Outcome {
        let end = self.behind_value(at).map_err(|broken| self.miss(broken))?;
        if !is_scalar(&self.bytes[at..end]) || self.behind_blanks(end) < self.bytes.len() {
            return Err(self.miss(Broken(at)));
        }
        match wanted {
            Wanted::Usual => self.take(at, Meaning::of(Role::Url), parts)?,
            Wanted::Paths(paths) => {
                for path in paths.iter().filter(|path| path.tokens.is_empty()) {
                    self.take(at, path.meaning, parts)?;
                }
            }
        }
        parts.or_skip()
    }

    /// Takes the values to which `tokens` lead from the value at `at`. They are the last tokens of `path`.
    #[inline]
    pub(super) fn take_path(
        &mut self,
        tokens: &[Token],
        at: usize,
        path: &Path,
        parts: &mut Parts<'_, 'a>,
    ) -> Outcome {
        let any = tokens.iter().position(|token| token.is_any);
        let found = self.find(&tokens[..any.unwrap_or(tokens.len())], at);
        let Some(value) = found.map_err(|broken| self.miss(broken))? else { return Ok(()) };
        match any {
            None => self.take(value, path.meaning, parts),
            Some(any) => self.take_children(&tokens[any + 1..], value, path, parts),
        }
    }

    /// Takes the values to which `tokens` lead from each child of the value at `at`.
    fn take_children(
        &mut self,
        tokens: &[Token],
        at: usize,
        path: &Path,
        parts: &mut Parts<'_, 'a>,
    ) -> Outcome {
        match self.bytes.get(at) {
            Some(b'[') => self.each_element(at, |text, element| {
                text.take_path(tokens, element, path, parts).map(|()| None)
            }),
            Some(b'{') => {
                let mut next = self.first(at, b'}');
                while let Some(at) = next {
                    let (_, value) = self.key(at, b"").map_err(|broken| self.miss(broken))?;
                    self.take_path(tokens, value, path, parts)?;
                    next = self.next(value, b'}').map_err(|broken| self.miss(broken))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Passes each element of the array at `at` to `take`, which may return where the element ends.
    fn each_element(
        &mut self,
        at: usize,
        mut take: impl FnMut(&mut Self, usize) -> Result<Option<usize>, Miss>,
    ) -> Outcome {
        let mut next = self.first(at, b']');
        while let Some(at) = next {
            let element = self.behind_blanks(at);
            next = match take(self, element)? {
                Some(end) => self.after(end, b']').map(ControlFlow::continue_value),
                None => self.next(element, b']'),
            }
            .map_err(|broken| self.miss(broken))?;
        }
        Ok(())
    }

    /// Where the first element or member of the array or object at `at` is looked for; `None` if `close` follows at once.
    #[inline(always)]
    pub(super) fn first(&self, at: usize, close: u8) -> Option<usize> {
        self.behind(close, at + 1).is_none().then_some(at + 1)
    }

    /// Where the value or member after the value at `at` begins; `None` if `close` ends the array or object.
    #[inline(always)]
    pub(super) fn next(&mut self, at: usize, close: u8) -> Result<Option<usize>, Broken> {
        let end = self.behind_value(at)?;
        self.after(end, close).map(ControlFlow::continue_value)
    }

    /// Takes the member "url" of the object at `at`, or the URLs of a known pipeline.
    pub(super) fn take_usual(&mut self, at: usize, parts: &mut Parts<'_, 'a>) -> Outcome {
        let mut values = [None; KEYS.len()];
        let mut next = self.first(at, b'}');
        while let Some(at) = next {
            let (key, value) = self.any_key(at).map_err(|broken| self.miss(broken))?;
            let [start, end] = key.quotes;
            let known = if key.has_escapes {
                self.said_by(&key).and_then(|said| pipelines::find(&said))
            } else {
                pipelines::find(&self.bytes[start + 1..end])
            };
            if let Some(n) = known {
                if n == 0 {
                    return self.take(value, Meaning::of(Role::Url), parts);
                }
                values[n].get_or_insert(value);
            }
            next = self.next(value, b'}').map_err(|broken| self.miss(broken))?;
        }
        if values.iter().all(Option::is_none) {
            return Ok(());
        }
        for pipeline in &PIPELINES {
            if self.take_pipeline(pipeline, &values, parts)? {
                return Ok(());
            }
        }
        // Without a request that can be read, its referer still counts.
        for pipeline in &PIPELINES {
            if self.take_referer(pipeline, &values, parts)? {
                return Ok(());
            }
        }
        match self.known(&pipelines::LINE, &values, Role::Url)? {
            Some(line) => container::take_line(line.bytes, line.at, parts),
            None => Ok(()),
        }
    }

    /// Takes the URLs of a pipeline from an object that has these `values` under [`KEYS`]. Returns whether it is of this pipeline.
    /// An empty value and "-" give no field.
    fn take_pipeline(
        &mut self,
        pipeline: &Pipeline,
        values: &Values,
        parts: &mut Parts<'_, 'a>,
    ) -> Result<bool, Miss> {
        let Some(mut request) = self.known(&pipeline.request, values, Role::Request)? else {
            return Ok(false);
        };
        if pipeline.is_line && is_given(&request) {
            if !pipelines::is_request_line(&request.bytes) {
                return Ok(false);
            }
            request = requested(request)?;
        }
        Some(request).filter(is_given).into_iter().for_each(|request| parts.push(request));
        self.take_referer(pipeline, values, parts)?;
        Ok(true)
    }

    /// Takes the referer of a pipeline. Returns whether there is one.
    fn take_referer(
        &mut self,
        pipeline: &Pipeline,
        values: &Values,
        parts: &mut Parts<'_, 'a>,
    ) -> Result<bool, Miss> {
        for referer in pipeline.referers {
            if let Some(referer) = self.known(referer, values, Role::Referer)?.filter(is_given) {
                parts.push(referer);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The string at a known place of an object that has these `values` under [`KEYS`].
    fn known(&mut self, known: &Known, values: &Values, role: Role) -> Result<Option<Part<'a>>, Miss> {
        let Some(mut at) = values[known.key] else { return Ok(None) };
        for name in known.below {
            let found = match self.bytes.get(at) {
                Some(b'{') => self.find_key(at, name.as_bytes()),
                Some(b'[') => self.find_index(at, 0),
                _ => Ok(None),
            };
            let Some(value) = found.map_err(|broken| self.miss(broken))? else { return Ok(None) };
            at = self.behind_blanks(value);
        }
        if self.bytes.get(at) == Some(&b'"') {
            self.part(at, Meaning::of(role)).map(|(part, _)| Some(part))
        } else {
            Ok(None)
        }
    }

    /// Takes the "url" of each object in an array; `at` is after its opening bracket. Returns the position after the array.
    pub(super) fn take_each_url(&mut self, mut at: usize, parts: &mut Parts<'_, 'a>) -> Result<usize, Miss> {
        if let Some(end) = self.behind(b']', at) {
            return Ok(end);
        }
        loop {
            at = self.behind_blanks(at);
            if self.bytes.get(at) == Some(&b'{') {
                let mut url = None;
                let first = |value| {
                    url.get_or_insert(value);
                    true
                };
                let end = self.members(at, b"url", first).map_err(|broken| self.miss(broken))?;
                if let Some(url) = url {
                    self.take(url, Meaning::of(Role::Link), parts)?;
                }
                at = end;
            } else {
                at = self.behind_value(at).map_err(|broken| self.miss(broken))?;
            }
            match self.after(at, b']').map_err(|broken| self.miss(broken))? {
                ControlFlow::Continue(next) => at = next,
                ControlFlow::Break(end) => return Ok(end),
            }
        }
    }
}
