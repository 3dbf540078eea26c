//! Sizes and counts as people write them: `16k`, `16..16k`, `1..8`.

use crate::TargetError;

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
pub fn sizes(text: &str) -> Result<Vec<u32>, TargetError> {
    let Some((first, last)) = text.split_once("..") else { return Ok(vec![size(text)?]) };
    let (first, last) = (size(first)?, size(last)?);
    if first == 0 || first > last {
        return Err(TargetError::Request(format!(
            "size: {text:?} is no range from a smaller to a larger size"
        )));
    }
    Ok((0..32).map_while(|doubled| first.checked_mul(1 << doubled)).take_while(|s| *s <= last).collect())
}

/// Bytes: `16384` or `16k`.
///
/// # Errors
/// Repeats the text and says what is allowed.
pub fn size(text: &str) -> Result<u32, TargetError> {
    let text = text.trim();
    let digits = text.trim_end_matches(['k', 'K', 'M']);
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "k" | "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        _ => None,
    };
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let value = unit.filter(|_| plain).and_then(|unit| digits.parse::<u32>().ok()?.checked_mul(unit));
    value.ok_or_else(|| {
        let start: String = text.chars().take(40).collect();
        TargetError::Request(format!(
            "size: {start:?} is no number of bytes like 128, 16k (16384) or 16..16k"
        ))
    })
}

/// Whole numbers: `4`, or each from one to another: `1..8`. `what` is what errors call them.
///
/// # Errors
/// Repeats the text and says what is allowed.
///
/// ```
/// assert_eq!(probe::ranges::counts("--buffers", "1..4").unwrap(), [1, 2, 3, 4]);
/// ```
pub fn counts(what: &str, text: &str) -> Result<Vec<u32>, TargetError> {
    let number = |text: &str| -> Result<u32, TargetError> {
        let text = text.trim();
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| plain).ok_or_else(|| {
            let start: String = text.chars().take(40).collect();
            TargetError::Request(format!(
                "{what}: {start:?} is no whole number like 4, nor a range like 1..8"
            ))
        })
    };
    let Some((first, last)) = text.split_once("..") else { return Ok(vec![number(text)?]) };
    let (first, last) = (number(first)?, number(last)?);
    if first > last || last - first >= VALUES_MAX {
        return Err(TargetError::Request(format!(
            "{what}: {text:?} is no range from a smaller to a larger number"
        )));
    }
    Ok((first..=last).collect())
}
