//! The parts of a line that can have a defect. The doc comment of a variant is also a text for users.

use crate::named;

named! {
    /// The part of a line that has the defect: a component of RFC 3986, or the scheme-specific part by the name of its rule.
    /// If two readings are still possible at the defect, it is the part that contains both.
    Component {
        /// The scheme, up to its ":".
        Scheme = "scheme",
        /// The authority, if the defect comes before its parts can be told apart.
        Authority = "authority",
        /// User name and password before the "@".
        Userinfo = "userinfo",
        /// The host.
        Host = "host",
        /// The port.
        Port = "port",
        /// The path.
        Path = "path",
        /// The query, RFC 1738's `search`.
        Query = "query",
        /// The fragment.
        Fragment = "fragment",
        /// Everything after the ":" of a scheme that has no rule of its own (RFC 1738 `schemepart`).
        Schemepart = "schemepart",
        /// The part after ";" in a relative URL (RFC 1808 `params`).
        Params = "params",
        /// Everything after the ":" of a URI if no "/" follows the ":" (RFC 2396 `opaque_part`).
        OpaquePart = "opaque-part",
        /// ftp: the letter after ";type=" (RFC 1738 `ftptype`).
        Ftptype = "ftptype",
        /// mailto: the address (RFC 1738 `encoded822addr`).
        Encoded822addr = "encoded822addr",
        /// mailto: the address (draft1993 `mailtoaddress`).
        Mailtoaddress = "mailtoaddress",
        /// news: group, article or "*" (RFC 1738 `grouppart`).
        Grouppart = "grouppart",
        /// news: group, article or "*" (draft1993 `group_art`).
        GroupArt = "group-art",
        /// news and nntp: the group (`group`).
        Group = "group",
        /// news: the article (`article`).
        Article = "article",
        /// mid: the message identifier (draft1993 `addr_spec`).
        AddrSpec = "addr-spec",
        /// cid: the content identifier (draft1993 `content_identifier`).
        ContentIdentifier = "content-identifier",
        /// wais: the database (`database`).
        Database = "database",
        /// wais: the type of the document (`wtype`).
        Wtype = "wtype",
        /// wais: the document (`wpath`).
        Wpath = "wpath",
        /// prospero: a field after ";" (RFC 1738 `fieldspec`).
        Fieldspec = "fieldspec",
    }
}
