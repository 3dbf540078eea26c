//! The nearest right name for a wrong one.

/// The candidate that is most like `wrong`, if any is: at most a third of its letters (at least one) inserted, left out,
/// replaced or swapped, upper and lower case being the same. Ties go to the first.
///
/// ```
/// assert_eq!(work::nearest::nearest("bnad3", ["band1", "band3", "split"]), Some("band3"));
/// assert_eq!(work::nearest::nearest("peak", ["bytes", "peek", "delay"]), Some("peek"));
/// assert_eq!(work::nearest::nearest("colour", ["bytes", "peek", "delay"]), None);
/// ```
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = letters(wrong);
    let mut best = None;
    let mut allowed = (wrong.len() / 3).max(1);
    for candidate in candidates {
        if candidate.len() > 4 * LONGEST {
            continue;
        }
        let right = letters(candidate);
        if wrong.len().abs_diff(right.len()) > allowed || (wrong.len() <= 1 && wrong != right) {
            continue;
        }
        let found = distance(&wrong, &right);
        if found <= allowed && (best.is_none() || found < allowed) {
            allowed = found;
            best = Some(candidate);
            if found == 0 {
                break;
            }
        }
    }
    best
}

/// ` (nearest: "band3")`, or nothing: the end of a message about a wrong name.
pub(crate) fn hint<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, candidates).map_or_else(String::new, |name| format!(" (nearest: {name:?})"))
}

/// Longer names are compared by their first letters: 100,000 names must not take long.
const LONGEST: usize = 40;

fn letters(text: &str) -> Vec<char> {
    text.chars().take(LONGEST).flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = last.clone();
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_one_step_and_case_is_none() {
        assert_eq!(distance(&letters("bnad"), &letters("band")), 1);
        assert_eq!(distance(&letters("BAND"), &letters("band")), 0);
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(distance(&letters(""), &letters("abc")), 3);
    }

    #[test]
    fn nothing_is_near_to_everything() {
        assert_eq!(nearest("x", ["a", "b"]), None);
        assert_eq!(nearest("", ["a", "b"]), None);
        assert_eq!(nearest("t1", ["t2", "t11", "t1"]), Some("t1"));
    }
}
