//! What is known of one option, and how a value for it is checked.

use super::{Given, OptionType};
use crate::{Located, did_you_mean, quoted};
use std::ops::RangeInclusive;

/// What an option's value is, or each of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Yes or no.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// One of [`OptionField::choices`].
    Word,
    /// Any text.
    Text,
}

impl OptionKind {
    /// `flag`, `whole`, `real`, `word` or `text`.
    pub fn name(self) -> &'static str {
        match self {
            OptionKind::Flag => "flag",
            OptionKind::Whole => "whole",
            OptionKind::Real => "real",
            OptionKind::Word => "word",
            OptionKind::Text => "text",
        }
    }
}

/// From which to which number a value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionRange {
    /// Whole numbers.
    Whole(i128, i128),
    /// Numbers.
    Real(f64, f64),
}

impl From<RangeInclusive<u64>> for OptionRange {
    fn from(range: RangeInclusive<u64>) -> OptionRange {
        OptionRange::Whole(i128::from(*range.start()), i128::from(*range.end()))
    }
}

impl From<RangeInclusive<f64>> for OptionRange {
    fn from(range: RangeInclusive<f64>) -> OptionRange {
        OptionRange::Real(*range.start(), *range.end())
    }
}

impl OptionRange {
    fn bounds(self) -> (String, String) {
        match self {
            OptionRange::Whole(least, most) => (whole(least), whole(most)),
            OptionRange::Real(least, most) => (real(least), real(most)),
        }
    }

    fn holds(self, given: &Given) -> bool {
        match (self, given) {
            (OptionRange::Whole(least, most), Given::Whole(n)) => (least..=most).contains(n),
            (OptionRange::Real(least, most), Given::Whole(n)) => (least..=most).contains(&(*n as f64)),
            (OptionRange::Real(least, most), Given::Real(x)) => (least..=most).contains(x),
            (OptionRange::Whole(..), Given::Real(x)) => x.fract() != 0.0 && x.is_finite(), // the type is wrong
            (range, Given::List(items)) => items.iter().all(|item| range.holds(item)),
            (range, Given::Table(entries)) => entries.iter().all(|(_, value)| range.holds(value)),
            (_, Given::Nothing | Given::Flag(_) | Given::Text(_)) => true,
        }
    }

    /// The first value that is out of range.
    fn broken(self, given: &Given) -> Option<String> {
        match given {
            Given::List(items) => items.iter().find_map(|item| self.broken(item)),
            Given::Table(entries) => entries
                .iter()
                .find_map(|(name, value)| self.broken(value).map(|why| format!("{}: {why}", quoted(name)))),
            one if self.holds(one) => None,
            one => {
                let (least, most) = self.bounds();
                Some(format!("{} is not allowed; at least {least} and at most {most}", shown(one)))
            }
        }
    }
}

/// One option of a verb.
#[derive(Debug, Clone)]
pub struct OptionField {
    /// As Rust, Python and files name it.
    pub name: &'static str,
    /// What it means, in sentences.
    pub help: String,
    /// `s`, `ns`, `bytes`, `GB/s`; empty: a plain number or no number.
    pub unit: &'static str,
    /// What its value is, or each of its values.
    pub kind: OptionKind,
    /// Whether it takes several values.
    pub many: bool,
    /// Whether its values have names of their own.
    pub named: bool,
    /// The words that are allowed; empty where the kind is no word.
    pub choices: Vec<&'static str>,
    /// What a number may be.
    pub range: Option<OptionRange>,
    /// What counts where nothing is given; [`Given::Nothing`]: as the help text says.
    pub default: Given,
    fits: fn(&Given) -> Result<(), String>,
}

impl OptionField {
    /// The field of type `T`; called by [`options!`](crate::options!).
    pub fn of<T: OptionType>(
        name: &'static str,
        help: &str,
        unit: &'static str,
        range: Option<OptionRange>,
        default: &T::Value,
    ) -> OptionField {
        OptionField {
            name,
            help: help.trim().to_string(),
            unit,
            kind: T::KIND,
            many: T::MANY,
            named: T::NAMED,
            choices: T::choices(),
            range: range.or(T::range()),
            default: T::show(default),
            fits: |given| T::read(given).map(drop),
        }
    }

    /// The name without its unit, with dashes: `time_s` is the flag `--time`.
    pub fn flag(&self) -> String {
        let letters: String = self.unit.chars().filter(char::is_ascii_alphabetic).collect();
        let suffix = format!("_{}", letters.to_ascii_lowercase());
        let name = self.name.strip_suffix(&suffix).filter(|_| !letters.is_empty()).unwrap_or(self.name);
        format!("--{}", name.replace('_', "-"))
    }

    /// `1 to 64`, the words, or nothing where anything is allowed.
    pub fn allowed(&self) -> String {
        if !self.choices.is_empty() {
            return self.choices.join(", ");
        }
        self.range.map_or_else(String::new, |range| {
            let (least, most) = range.bounds();
            format!("{least} to {most}")
        })
    }

    /// Refuses a value that the option cannot have; `label` is what the caller calls the option.
    ///
    /// # Errors
    /// Says what was given and what is allowed.
    pub fn check(&self, given: &Given, label: &str) -> Result<(), Located> {
        if *given == Given::Nothing {
            return Ok(());
        }
        if let Some(why) = self.range.and_then(|range| range.broken(given)) {
            return Err(Located::new(why).key(label));
        }
        (self.fits)(given).map_err(|why| Located::new(why).key(label))
    }

    /// The value that is given.
    ///
    /// # Errors
    /// As [`check`](OptionField::check).
    pub fn read<T: OptionType>(&self, given: &Given) -> Result<T::Value, Located> {
        self.check(given, self.name)?;
        T::read(given).map_err(|why| Located::new(why).key(self.name))
    }
}

/// The fields that are given, each with its value.
///
/// # Errors
/// When `given` is no table, or a name in it is no option.
pub fn entries<'f, 'g>(
    verb: &str,
    fields: &'f [OptionField],
    given: &'g Given,
) -> Result<Vec<(&'f OptionField, &'g Given)>, Located> {
    let Given::Table(entries) = given else {
        return Err(Located::new(format!("options of {verb} are given by name, not as {}", shown(given))));
    };
    let known = |name: &str| {
        fields.iter().find(|field| field.name == name).ok_or_else(|| {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let near = did_you_mean(name, names.iter().copied());
            let all = names.join(", ");
            Located::new(format!("{verb} has no such option; allowed: {all}{near}")).key(quoted(name))
        })
    };
    let named = entries.iter().map(|(name, value)| Ok((known(name)?, value)));
    named.filter(|entry| !matches!(entry, Ok((_, Given::Nothing)))).collect()
}

/// A value in a message.
pub(super) fn shown(given: &Given) -> String {
    match given {
        Given::Nothing => "nothing".into(),
        Given::Flag(yes) => yes.to_string(),
        Given::Whole(n) => n.to_string(),
        Given::Real(x) if x.is_nan() => "nan".into(),
        Given::Real(x) => x.to_string(),
        Given::Text(text) => quoted(text),
        Given::List(items) if items.is_empty() => "an empty list".into(),
        Given::List(items) => format!("a list of {}", items.len()),
        Given::Table(_) => "a table".into(),
    }
}

/// Large powers of two are shown as powers, because 18446744073709551615 cannot be read at a glance.
fn whole(n: i128) -> String {
    const LARGE: i128 = 10_000_000;
    let power = |n: i128, base: i128| {
        let mut exponent = 0;
        let mut rest = n;
        while rest > 1 && rest % base == 0 {
            rest /= base;
            exponent += 1;
        }
        (rest == 1).then_some(exponent)
    };
    if n < LARGE {
        return n.to_string();
    }
    if let Some(exponent) = power(n, 10) {
        return format!("10^{exponent}");
    }
    if let Some(exponent) = power(n, 2) {
        return format!("2^{exponent}");
    }
    power(n + 1, 2).map_or_else(|| n.to_string(), |exponent| format!("2^{exponent} - 1"))
}

fn real(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 { whole(x as i128) } else { x.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bounds_are_read_at_a_glance() {
        assert_eq!(whole(i128::from(u64::MAX)), "2^64 - 1");
        assert_eq!(whole(1 << 63), "2^63");
        assert_eq!(whole(1_000_000_000_000_000), "10^15");
        assert_eq!(whole(1 << 20), "1048576");
        assert_eq!(real(604_800.0), "604800");
        assert_eq!(real(0.001), "0.001");
    }
}
