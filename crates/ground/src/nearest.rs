//! The right name for a misspelt one.

/// The one of `names` that is most like `wrong`, if any is: at most a third of the letters of the longer one (at least
/// one letter) inserted, left out, replaced or swapped with a neighbour. Case does not count. The first of several
/// wins.
///
/// ```
/// use ground::nearest;
/// assert_eq!(nearest("bnad3", ["band1", "band3", "split"]), Some("band3"));
/// assert_eq!(nearest("peak", ["bytes", "peek", "delay"]), Some("peek"));
/// assert_eq!(nearest("colour", ["bytes", "peek", "delay"]), None);
/// ```
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of a thousand letters is not a slip of the fingers.
    if wrong.len() > 4 * LONGEST {
        return None;
    }
    let wrong = letters(wrong);
    let mut best = None;
    for name in names.into_iter().filter(|name| name.len() <= 4 * LONGEST) {
        let right = letters(name);
        let allowed = (wrong.len().max(right.len()) / 3).max(1);
        let allowed = best.map_or(allowed, |(edits, _): (usize, _)| allowed.min(edits - 1));
        // A single letter is near to every other one.
        if wrong.len().abs_diff(right.len()) > allowed || (wrong.len() <= 1 && wrong != right) {
            continue;
        }
        match edits(&wrong, &right) {
            0 => return Some(name),
            found if found <= allowed => best = Some((found, name)),
            _ => {}
        }
    }
    best.map(|(_, name)| name)
}

/// The end of a message about a wrong name: ``; did you mean `band3`?``, or nothing.
///
/// ```
/// use ground::did_you_mean;
/// assert_eq!(did_you_mean("anneel", ["greedy", "anneal"]), "; did you mean `anneal`?");
/// assert_eq!(did_you_mean("exact", ["greedy", "anneal"]), "");
/// ```
pub fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, names).map_or_else(String::new, |name| {
        // Names come from files too: control characters do not belong in a message.
        let escaped = format!("{name:?}");
        format!("; did you mean `{}`?", &escaped[1..escaped.len() - 1])
    })
}

/// Names are compared by their first letters: 100,000 of them must not take long.
const LONGEST: usize = 40;

fn letters(text: &str) -> Vec<char> {
    text.chars().take(LONGEST).flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment: insertions, deletions, replacements, and swaps of neighbours.
fn edits(a: &[char], b: &[char]) -> usize {
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
    fn a_slip_of_the_fingers_finds_its_name() {
        let names = ["ps3", "cell", "qs20", "qs22", "host"];
        assert_eq!(nearest("hots", names), Some("host"));
        assert_eq!(nearest("QS22", names), Some("qs22"));
        assert_eq!(nearest("sell", names), Some("cell"));
        assert_eq!(nearest("mainframe", names), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), names), None);
    }

    #[test]
    fn the_right_name_wins_over_those_that_are_like_it() {
        assert_eq!(nearest("t1", ["t2", "t11", "t1"]), Some("t1"));
        assert_eq!(nearest("bandd", ["bands2", "bandx", "band"]), Some("bandx"));
    }

    #[test]
    fn nothing_is_near_to_everything() {
        assert_eq!(nearest("x", ["a", "b"]), None);
        assert_eq!(nearest("", ["a", "b"]), None);
    }

    #[test]
    fn edits_are_counted_as_a_person_counts_them() {
        let count = |a: &str, b: &str| edits(&letters(a), &letters(b));
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("BAND", "band"), 0);
        assert_eq!(count("acb", "abc"), 1);
        assert_eq!(count("kitten", "sitting"), 3);
    }

    #[test]
    fn a_name_from_a_file_cannot_break_the_message() {
        assert_eq!(did_you_mean("banad", ["ban\nd"]), "; did you mean `ban\\nd`?");
    }
}
