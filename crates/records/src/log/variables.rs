//! What the variables of nginx and the directives of Apache contain.

use super::super::{Role, Selector};

/// The variables that are URLs, as a message names them.
pub(super) const URLS: &str = "in nginx's syntax these are $request, $request_uri, $uri, $http_referer, $sent_http_location and \
     $scheme://$host$request_uri, in Apache's %r, %U%q, %{Referer}i and %{Location}o";

/// A variable of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// As in the pattern, without `$` or `%` and modifiers.
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// What a variable contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Method, target and version of a request.
    RequestLine,
    Method,
    Protocol,
    /// A path, perhaps with a query. It can be part of a longer URL.
    Target,
    /// A scheme, a host or a port.
    Origin,
    Query,
    /// A whole URL.
    Url(Role),
    /// Text that may contain blanks.
    Text,
    Other,
}

impl Variable {
    /// The variable of nginx with this name.
    pub(super) fn of_nginx(name: &str) -> Self {
        let kind = match name {
            "request" => Kind::RequestLine,
            "request_method" => Kind::Method,
            "server_protocol" => Kind::Protocol,
            "request_uri" | "uri" | "document_uri" => Kind::Target,
            "scheme" | "host" | "http_host" | "hostname" | "server_name" | "server_port" => Kind::Origin,
            "args" | "query_string" | "is_args" => Kind::Query,
            "http_referer" => Kind::Url(Role::Referer),
            "url" | "sent_http_location" | "upstream_http_location" => Kind::Url(Role::Url),
            "http_user_agent" | "http_x_forwarded_for" | "proxy_add_x_forwarded_for" | "http_cookie" => {
                Kind::Text
            }
            // Several servers are separated by ", ".
            _ if name.starts_with("upstream_") => Kind::Text,
            _ => Kind::Other,
        };
        Self { name: name.to_owned(), kind }
    }

    /// The directive of Apache with this letter and argument.
    pub(super) fn of_apache(directive: &str, argument: Option<&str>) -> Self {
        let header = argument.unwrap_or_default().to_ascii_lowercase();
        let kind = match (directive, header.as_str()) {
            ("r", _) => Kind::RequestLine,
            ("m", _) => Kind::Method,
            ("H", _) => Kind::Protocol,
            ("U", _) => Kind::Target,
            ("v" | "V" | "p", _) | ("i", "host") => Kind::Origin,
            ("q", _) => Kind::Query,
            ("i", "referer") => Kind::Url(Role::Referer),
            ("o", "location") => Kind::Url(Role::Url),
            ("i", "user-agent" | "x-forwarded-for" | "cookie") => Kind::Text,
            _ => Kind::Other,
        };
        let name = match argument {
            Some(argument) => format!("{{{argument}}}{directive}"),
            None => directive.to_owned(),
        };
        Self { name, kind }
    }

    /// Whether a field names this variable, or its role.
    pub(super) fn is_field(&self, field: &Selector) -> bool {
        let Selector::Name(wanted) = field else { return false };
        let role = match self.kind {
            Kind::RequestLine | Kind::Target => Some(Role::Request),
            Kind::Url(role) => Some(role),
            _ => None,
        };
        let bare = wanted.strip_prefix(['$', '%']).unwrap_or(wanted);
        role.is_some_and(|role| role.name() == wanted) || self.name.eq_ignore_ascii_case(bare)
    }

    /// Whether its values may contain blanks.
    pub(super) fn may_have_blanks(&self) -> bool {
        matches!(self.kind, Kind::RequestLine | Kind::Text)
    }
}
