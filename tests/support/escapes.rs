//! The escapes in files of cases and in rows.

/// Undoes escapes: `\n`, `\t`, `\r`, `\\` and `\xHH`.
pub(crate) fn unescaped(field: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), field.bytes());
    while let Some(byte) = rest.next() {
        let escaped = (byte == b'\\').then(|| rest.next().unwrap());
        bytes.push(match escaped {
            None => byte,
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'\\') => b'\\',
            Some(b'x') => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            Some(_) => panic!("{field}"),
        });
    }
    bytes
}
