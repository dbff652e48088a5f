//! What helps, in the words of the command.

use urlsift_input::Advice;

/// What helps against an error, as the continuation of its sentence.
pub(crate) fn words(advice: Advice) -> String {
    let words = match advice {
        Advice::ListUrls(name) => return format!("; urlsift lines --input-format {name} lists their URLs"),
        Advice::ChooseField => "; --field chooses one by name or number",
        Advice::ChooseSmallerNumber => " as --field says",
        Advice::NameVariable => "; --field names any other variable",
        Advice::ChooseFormat => "; --input-format says what they are",
        Advice::ChooseOneFormat => "; say by --input-format which it has",
        Advice::ReadAsLines => "; --input-format lines --codec none reads its bytes as lines",
        Advice::ListValues => {
            "; urlsift lines --only accepted -c text writes the accepted values, and --only refused -c line,defect,text the \
             others with their rows"
        }
        _ => "",
    };
    words.to_owned()
}
