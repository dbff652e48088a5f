//! Reads an input whole or in pieces. Both must find the same.

use urlsift::internal::run::{BadRecord, Counts};
use urlsift::internal::{Field, Reader};

/// The fields and the records that cannot be read, in their order, and the counts.
pub(crate) type Found<'a> = (Vec<Result<Field<'a>, BadRecord>>, Counts);

/// What a reader finds in an input that it has at once.
pub(crate) fn whole(mut reader: Reader, bytes: &[u8]) -> Found<'_> {
    let found = reader.fields(bytes).collect();
    (found, reader.counts().clone())
}

/// What it finds if reads of the input end at `ends`, and then the input ends. Ends beyond that are left out.
pub(crate) fn by_pieces(
    mut reader: Reader,
    bytes: &[u8],
    ends: impl IntoIterator<Item = usize>,
) -> Found<'_> {
    let (mut found, mut counts, mut start) = (Vec::new(), Counts::default(), 0);
    let ends = ends.into_iter().take_while(|&end| end <= bytes.len()).map(|end| (end, false));
    for (end, is_last) in ends.chain([(bytes.len(), true)]) {
        let mut copy = reader.clone();
        let len = reader.cut(&bytes[start..end], is_last);
        if len > 0 {
            copy.take_known(&mut reader);
        }
        let what = || format!("{} cut at {start} {len}", reader.format());
        assert_eq!(*copy.counts(), Counts::default(), "{}", what());
        found.extend(copy.fields(&bytes[start..start + len]));
        if len > 0 {
            assert_eq!((copy.offset(), copy.line()), (reader.offset(), reader.line()), "{}", what());
        }
        // Between pieces, only the reader that cuts knows that it is inside the opening of a comment.
        if is_last {
            assert_eq!((len, copy.complaint()), (end - start, reader.complaint()), "{}", what());
        }
        counts = counts.merge(copy.counts());
        start += len;
    }
    (found, counts)
}
