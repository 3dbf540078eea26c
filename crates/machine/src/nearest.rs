//! The nearest right name to a wrong one.

/// The one of `names` that takes the fewest edits to reach from `wrong`, if that is at most about a third of its letters.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of a thousand letters is not a slip of the fingers, and comparing it would take time.
    let wrong: Vec<char> = wrong.chars().take(65).map(|c| c.to_ascii_lowercase()).collect();
    if wrong.len() == 65 {
        return None;
    }
    names
        .into_iter()
        .map(|name| (edits(&wrong, name), name))
        .filter(|(edits, name)| *edits <= (name.len().max(wrong.len()) / 3).max(1))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// `; did you mean X?`, or nothing.
pub(crate) fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, names).map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Insertions, deletions, replacements and swaps of neighbours between the two, ignoring case.
fn edits(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(128).map(|c| c.to_ascii_lowercase()).collect();
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows.rotate_left(1);
        // Now: rows[0] is line i - 1, rows[2] is written for the rotation below, rows[1] is line i.
        let (before, rest) = rows.split_at_mut(1);
        let (line, two_before) = rest.split_at_mut(1);
        line[0][0] = i;
        for j in 1..=b.len() {
            let replaced = before[0][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(before[0][j] + 1).min(line[0][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(two_before[0][j - 2] + 1);
            }
            line[0][j] = best;
        }
    }
    rows[1][b.len()]
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
    fn edits_are_counted_as_a_person_counts_them() {
        let count = |a: &str, b: &str| edits(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("abc", "abc"), 0);
        assert_eq!(count("acb", "abc"), 1);
        assert_eq!(count("kitten", "sitting"), 3);
    }
}
