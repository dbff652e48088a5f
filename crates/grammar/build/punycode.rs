//! A-labels of names that are already in the form of UTS 46, as those of the Public Suffix List are (RFC 3492).
//!
//! The library has the crate idna for all names. It would be compiled a second time for the build script.

/// A name with A-labels in the place of labels beyond ASCII.
pub fn name_to_ascii(name: &str) -> String {
    let labels = name
        .split('.')
        .map(|label| if label.is_ascii() { label.to_owned() } else { format!("xn--{}", encode(label)) });
    labels.collect::<Vec<_>>().join(".")
}

/// RFC 3492, section 6.3.
fn encode(label: &str) -> String {
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let n_basic = u32::try_from(out.len()).expect("a label is short");
    if n_basic > 0 {
        out.push('-');
    }
    let (mut n, mut delta, mut bias, mut done) = (128, 0, 72, n_basic);
    let rest = |n: u32| label.chars().map(u32::from).filter(move |&c| c >= n).min();
    while let Some(next) = rest(n) {
        delta += (next - n) * (done + 1);
        n = next;
        for c in label.chars().map(u32::from) {
            if c < n {
                delta += 1;
            } else if c == n {
                push_integer(delta, bias, &mut out);
                bias = adapt(delta, done + 1, done == n_basic);
                (delta, done) = (0, done + 1);
            }
        }
        (delta, n) = (delta + 1, n + 1);
    }
    out
}

/// Writes an integer of variable length (section 3.3).
fn push_integer(mut rest: u32, bias: u32, out: &mut String) {
    let digit = |digit: u32| char::from_digit(digit, 36).expect("a digit");
    // Digits are a to z and 0 to 9, where `char` has 0 to 9 and a to z.
    let push = |out: &mut String, value: u32| out.push(digit((value + 10) % 36));
    for k in (36..).step_by(36) {
        let threshold = if k <= bias { 1 } else { (k - bias).min(26) };
        if rest < threshold {
            return push(out, rest);
        }
        push(out, threshold + (rest - threshold) % (36 - threshold));
        rest = (rest - threshold) / (36 - threshold);
    }
}

/// The bias after a delta (section 6.1).
fn adapt(delta: u32, n_done: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / 700 } else { delta / 2 };
    delta += delta / n_done;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}
