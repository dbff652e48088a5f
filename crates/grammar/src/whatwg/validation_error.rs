//! The validation errors of the standard (section 1.1), by the names that it gives them.

use crate::named;

named! {
    /// What the parser of the WHATWG URL Standard finds wrong in a URL. Some of these errors end the parse, the others do not.
    ValidationError {
        /// The host is no domain for the Domain Name System: a label or the whole is too long or empty, or has a character or a hyphen
        /// where none is allowed, or Unicode ToASCII fails.
        DomainToAscii = "domain-to-ASCII",
        /// The host has escapes, which are undone.
        DomainPercentEncoded = "domain-percent-encoded",
        /// The host of a URL whose scheme is not special has a character that no host may have.
        HostInvalidCodePoint = "host-invalid-code-point",
        /// The address ends in a dot.
        Ipv4EmptyPart = "IPv4-empty-part",
        /// The address has more than four parts.
        Ipv4TooManyParts = "IPv4-too-many-parts",
        /// The address has fewer than four parts. Its last part fills the bytes that are left.
        Ipv4TooFewParts = "IPv4-too-few-parts",
        /// A part of the address is no number, although its last part is one.
        Ipv4NonNumericPart = "IPv4-non-numeric-part",
        /// A part of the address is octal or hexadecimal.
        Ipv4NonDecimalPart = "IPv4-non-decimal-part",
        /// A part of the address is above 255.
        Ipv4OutOfRangePart = "IPv4-out-of-range-part",
        /// The address has characters beyond ASCII, which are mapped to digits and dots.
        Ipv4NonAsciiInput = "IPv4-non-ASCII-input",
        /// The bracket of the address is not closed.
        Ipv6Unclosed = "IPv6-unclosed",
        /// The address begins with a single colon.
        Ipv6InvalidCompression = "IPv6-invalid-compression",
        /// The address has more than eight pieces.
        Ipv6TooManyPieces = "IPv6-too-many-pieces",
        /// The address is compressed in two places.
        Ipv6MultipleCompression = "IPv6-multiple-compression",
        /// The address has a character that is no hexadecimal digit and no colon, or ends in a single colon.
        Ipv6InvalidCodePoint = "IPv6-invalid-code-point",
        /// The address has fewer than eight pieces and is not compressed.
        Ipv6TooFewPieces = "IPv6-too-few-pieces",
        /// A piece of the address begins with a zero that it does not need.
        Ipv6PieceLeadingZero = "IPv6-piece-leading-zero",
        /// The IPv4 address in the IPv6 address comes after more than six pieces.
        Ipv4InIpv6TooManyPieces = "IPv4-in-IPv6-too-many-pieces",
        /// The IPv4 address in the IPv6 address has an empty part, a part with a leading zero, a fifth part, or another character.
        Ipv4InIpv6InvalidCodePoint = "IPv4-in-IPv6-invalid-code-point",
        /// A part of the IPv4 address in the IPv6 address is above 255.
        Ipv4InIpv6OutOfRangePart = "IPv4-in-IPv6-out-of-range-part",
        /// The IPv4 address in the IPv6 address has fewer than four parts.
        Ipv4InIpv6TooFewParts = "IPv4-in-IPv6-too-few-parts",
        /// A character is not allowed in a URL as it is, or a "%" is not followed by two hexadecimal digits. Tabs and line ends are removed,
        /// and so are blanks and controls at both ends.
        InvalidUrlUnit = "invalid-URL-unit",
        /// A special scheme is not followed by exactly "//".
        SpecialSchemeMissingFollowingSolidus = "special-scheme-missing-following-solidus",
        /// There is no scheme, and no base that the reference could be resolved against.
        MissingSchemeNonRelativeUrl = "missing-scheme-non-relative-URL",
        /// A "\" stands where "/" should. Special schemes take it for one.
        InvalidReverseSolidus = "invalid-reverse-solidus",
        /// The URL has a user name or a password.
        InvalidCredentials = "invalid-credentials",
        /// There is no host where there has to be one.
        HostMissing = "host-missing",
        /// The port is above 65535.
        PortOutOfRange = "port-out-of-range",
        /// The port has something other than digits.
        PortInvalid = "port-invalid",
        /// A reference begins with a drive letter and is resolved against a file URL.
        FileInvalidWindowsDriveLetter = "file-invalid-Windows-drive-letter",
        /// The host of a file URL is a drive letter, which becomes part of the path.
        FileInvalidWindowsDriveLetterHost = "file-invalid-Windows-drive-letter-host",
    }
}
