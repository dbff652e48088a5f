//! What helps, in the words of the command.

use crate::report::{Trial, Words};
use urlsift_grammar::escape::shell_word;
use urlsift_input::Advice;
use urlsift_records::Format;

/// What a report calls commands and options.
pub(crate) const WORDS: Words = Words {
    list: "urlsift lines",
    grammar: "-g",
    base: "--base",
    condition: "--where",
    render: "urlsift render --format json FILE",
    write: "urlsift --format json",
    all_inputs: "--by-input=all",
};

/// The command that reads an input as in a trial, and what it finds.
pub(crate) fn command(trial: &Trial, found: &str) -> String {
    let delimiter = trial.delimiter.map(|char| format!(" --delimiter {}", shell_word(&char.to_string())));
    let columns: Vec<_> = trial.columns().map(|column| column.to_string()).collect();
    let field = if columns.is_empty() { String::new() } else { format!(" --field {}", columns.join(",")) };
    let also = if trial.format == Format::Text { ", and urlsift extract lists them" } else { "" };
    let options = format!("{}{}{field}", trial.format, delimiter.unwrap_or_default());
    format!("urlsift --input-format {options} {found}{also}")
}

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
    };
    words.to_owned()
}
