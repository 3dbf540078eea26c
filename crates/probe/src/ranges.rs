//! Sizes and counts as people write them: `16k`, `16..16k`, `1..8`.

use ground::options::{Given, OptionKind, OptionType};
use ground::quoted;

/// The most values that one range gives.
const VALUES_MAX: u32 = 4096;

/// Bytes: `16384`, `16k` (k = 1024, as sizes of transfers are counted), or from one to another by doubling: `16..16k`.
///
/// # Errors
/// Repeats the text and says what is allowed.
///
/// ```
/// assert_eq!(probe::ranges::sizes("16..128").unwrap(), [16, 32, 64, 128]);
/// assert_eq!(probe::ranges::sizes("16k").unwrap(), [16384]);
/// assert!(probe::ranges::sizes("16kB").is_err());
/// ```
pub fn sizes(text: &str) -> Result<Vec<u32>, String> {
    let Some((first, last)) = text.split_once("..") else { return Ok(vec![size(text)?]) };
    let (first, last) = (size(first)?, size(last)?);
    if first == 0 || first > last {
        return Err(format!("{} is no range from a smaller to a larger size", quoted(text)));
    }
    Ok((0..32).map_while(|doubled| first.checked_mul(1 << doubled)).take_while(|s| *s <= last).collect())
}

/// Bytes: `16384` or `16k`.
///
/// # Errors
/// Repeats the text and says what is allowed.
///
/// ```
/// assert_eq!(probe::ranges::size("16k"), Ok(16384));
/// let text = probe::ranges::size("99999999999999999").unwrap_err();
/// assert_eq!(text, "\"99999999999999999\" is too many bytes; allowed: up to 4294967295");
/// ```
pub fn size(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(['k', 'K', 'M']);
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "k" | "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        _ => None,
    };
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let Some(unit) = unit.filter(|_| plain) else {
        return Err(format!("{} is no number of bytes like 128, 16k (16384) or 16..16k", quoted(text)));
    };
    let value = digits.parse::<u32>().ok().and_then(|digits| digits.checked_mul(unit));
    value.ok_or_else(|| format!("{} is too many bytes; allowed: up to {}", quoted(text), u32::MAX))
}

/// Whole numbers: `4`, or each from one to another: `1..8`.
///
/// # Errors
/// Repeats the text and says what is allowed.
///
/// ```
/// assert_eq!(probe::ranges::counts("1..4").unwrap(), [1, 2, 3, 4]);
/// ```
pub fn counts(text: &str) -> Result<Vec<u32>, String> {
    let number = |text: &str| -> Result<u32, String> {
        let text = text.trim();
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let wrong = || format!("{} is no whole number like 4, nor a range like 1..8", quoted(text));
        text.parse().ok().filter(|_| plain).ok_or_else(wrong)
    };
    let Some((first, last)) = text.split_once("..") else { return Ok(vec![number(text)?]) };
    let (first, last) = (number(first)?, number(last)?);
    if first > last || last - first >= VALUES_MAX {
        return Err(format!("{} is no range from a smaller to a larger number", quoted(text)));
    }
    Ok((first..=last).collect())
}

/// An option whose values are written as [`sizes`].
pub struct Sizes;

/// An option whose value is written as [`size`].
pub struct Size;

/// An option whose values are written as [`counts`].
pub struct Ranges;

impl OptionType for Sizes {
    type Value = Vec<u32>;
    const KIND: OptionKind = OptionKind::Text;
    const MANY: bool = true;

    fn read(given: &Given) -> Result<Vec<u32>, String> {
        each(given, sizes)
    }

    fn show(value: &Vec<u32>) -> Given {
        shown(value)
    }
}

impl OptionType for Size {
    type Value = u32;
    const KIND: OptionKind = OptionKind::Text;

    fn read(given: &Given) -> Result<u32, String> {
        size(&written(given)?)
    }

    fn show(value: &u32) -> Given {
        Given::Whole(i128::from(*value))
    }
}

impl OptionType for Ranges {
    type Value = Vec<u32>;
    const KIND: OptionKind = OptionKind::Text;
    const MANY: bool = true;

    fn read(given: &Given) -> Result<Vec<u32>, String> {
        each(given, counts)
    }

    fn show(value: &Vec<u32>) -> Given {
        shown(value)
    }
}

/// The values of one text or of several.
fn each(given: &Given, values: fn(&str) -> Result<Vec<u32>, String>) -> Result<Vec<u32>, String> {
    let Given::List(items) = given else { return values(&written(given)?) };
    let lists: Result<Vec<_>, String> = items.iter().map(|item| values(&written(item)?)).collect();
    Ok(lists?.concat())
}

/// A number or a text, as it is written.
fn written(given: &Given) -> Result<String, String> {
    match given {
        Given::Whole(n) => Ok(n.to_string()),
        Given::Text(text) => Ok(text.clone()),
        other => Err(format!("{other:?} is neither a number nor a range")),
    }
}

fn shown(values: &[u32]) -> Given {
    Given::List(values.iter().map(|n| Given::Whole(i128::from(*n))).collect())
}
