//! A moment as files and people write it.

const DAY_S: u64 = 86_400;

/// A moment in universal time, given in seconds since 1970. Later moments are later in the order of texts.
///
/// ```
/// assert_eq!(ground::utc(1_709_210_096), "2024-02-29T12:34:56Z");
/// ```
pub fn utc(unix_s: u64) -> String {
    let (mut days, s) = (unix_s / DAY_S, unix_s % DAY_S);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (s / 3600, s / 60 % 60, s % 60);
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_day_of_months_and_years_are_right() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(utc(1_798_761_599), "2026-12-31T23:59:59Z");
        assert_eq!(utc(1_798_761_600), "2027-01-01T00:00:00Z");
    }
}
