//! The parts of a line in which a defect can lie.

use crate::grammar::named_enum::named;

named! {
    /// The part of a line in which a defect lies: a component of RFC 3986, or the scheme-specific part by the name of its
    /// rule. Where two readings are still open at the defect, it is the part that holds both.
    Component {
        /// The scheme, up to its ":".
        Scheme = "scheme",
        /// The authority, where its parts cannot be told apart yet.
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
        /// All behind the ":" where the grammar has no rule for the scheme (RFC 1738 `schemepart`).
        Schemepart = "schemepart",
        /// The part behind ";" of a relative URL (RFC 1808 `params`).
        Params = "params",
        /// All behind the ":" of a URI that does not go on with "/" (RFC 2396 `opaque_part`).
        OpaquePart = "opaque-part",
        /// ftp: the letter behind ";type=" (RFC 1738 `ftptype`).
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
        /// prospero: a field behind ";" (RFC 1738 `fieldspec`).
        Fieldspec = "fieldspec",
    }
}
