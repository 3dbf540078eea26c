//! The types that an option may have.

use super::field::shown;
use super::{Given, OptionKind, OptionRange};
use crate::{did_you_mean, quoted};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a value of an option is read and shown.
pub trait OptionType {
    /// What the field holds.
    type Value;
    /// What a value is, or each of several.
    const KIND: OptionKind;
    /// Whether there may be several values.
    const MANY: bool = false;
    /// Whether the values have names of their own.
    const NAMED: bool = false;

    /// The words that are allowed, where the kind is a word.
    fn choices() -> Vec<&'static str> {
        Vec::new()
    }

    /// What numbers the type can hold.
    fn range() -> Option<OptionRange> {
        None
    }

    /// The value that is given.
    ///
    /// # Errors
    /// When it is of another type.
    fn read(given: &Given) -> Result<Self::Value, String>;

    /// The value as a caller gives it.
    fn show(value: &Self::Value) -> Given;
}

/// One of a few values that have names.
pub trait Word: Copy + PartialEq + 'static {
    /// Each value with its name, in the order in which to list them.
    const WORDS: &'static [(&'static str, Self)];

    /// The value's name.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }

    /// The value of that name.
    ///
    /// # Errors
    /// Names the nearest word and all of them.
    fn of_word(name: &str) -> Result<Self, String> {
        Self::WORDS.iter().find(|(word, _)| *word == name).map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
            let near = did_you_mean(name, names.iter().copied());
            format!("no {}; allowed: {}{near}", quoted(name), names.join(", "))
        })
    }
}

impl<W: Word> OptionType for W {
    type Value = W;
    const KIND: OptionKind = OptionKind::Word;

    fn choices() -> Vec<&'static str> {
        W::WORDS.iter().map(|(name, _)| *name).collect()
    }

    fn read(given: &Given) -> Result<W, String> {
        match given {
            Given::Text(name) => W::of_word(name),
            other => Err(format!("{} is no word; allowed: {}", shown(other), Self::choices().join(", "))),
        }
    }

    fn show(value: &W) -> Given {
        Given::Text(value.word().into())
    }
}

impl OptionType for bool {
    type Value = bool;
    const KIND: OptionKind = OptionKind::Flag;

    fn read(given: &Given) -> Result<bool, String> {
        match given {
            Given::Flag(yes) => Ok(*yes),
            other => Err(format!("{} is neither true nor false", shown(other))),
        }
    }

    fn show(value: &bool) -> Given {
        Given::Flag(*value)
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl OptionType for $type {
            type Value = $type;
            const KIND: OptionKind = OptionKind::Whole;

            fn range() -> Option<OptionRange> {
                Some(OptionRange::Whole(0, <$type>::MAX as i128))
            }

            fn read(given: &Given) -> Result<$type, String> {
                let wrong = || format!("{} is no whole number", shown(given));
                let Given::Whole(n) = given else { return Err(wrong()) };
                <$type>::try_from(*n).map_err(|_| wrong())
            }

            fn show(value: &$type) -> Given {
                Given::Whole(*value as i128)
            }
        }
    )*};
}
whole_numbers!(u32 u64 usize);

impl OptionType for f64 {
    type Value = f64;
    const KIND: OptionKind = OptionKind::Real;

    fn read(given: &Given) -> Result<f64, String> {
        match given {
            Given::Real(x) if x.is_finite() => Ok(*x),
            Given::Whole(n) => Ok(*n as f64),
            other => Err(format!("{} is no number", shown(other))),
        }
    }

    fn show(value: &f64) -> Given {
        Given::Real(*value)
    }
}

impl OptionType for String {
    type Value = String;
    const KIND: OptionKind = OptionKind::Text;

    fn read(given: &Given) -> Result<String, String> {
        match given {
            Given::Text(text) => Ok(text.clone()),
            other => Err(format!("{} is no text", shown(other))),
        }
    }

    fn show(value: &String) -> Given {
        Given::Text(value.clone())
    }
}

impl OptionType for PathBuf {
    type Value = PathBuf;
    const KIND: OptionKind = OptionKind::Text;

    fn read(given: &Given) -> Result<PathBuf, String> {
        String::read(given).map(PathBuf::from)
    }

    fn show(value: &PathBuf) -> Given {
        Given::Text(value.to_string_lossy().into_owned())
    }
}

impl<T: OptionType> OptionType for Option<T> {
    type Value = Option<T::Value>;
    const KIND: OptionKind = T::KIND;
    const MANY: bool = T::MANY;
    const NAMED: bool = T::NAMED;

    fn choices() -> Vec<&'static str> {
        T::choices()
    }

    fn range() -> Option<OptionRange> {
        T::range()
    }

    fn read(given: &Given) -> Result<Self::Value, String> {
        if *given == Given::Nothing { Ok(None) } else { T::read(given).map(Some) }
    }

    fn show(value: &Self::Value) -> Given {
        value.as_ref().map_or(Given::Nothing, T::show)
    }
}

/// One value that stands alone is a list of one.
impl<T: OptionType> OptionType for Vec<T> {
    type Value = Vec<T::Value>;
    const KIND: OptionKind = T::KIND;
    const MANY: bool = true;

    fn choices() -> Vec<&'static str> {
        T::choices()
    }

    fn range() -> Option<OptionRange> {
        T::range()
    }

    fn read(given: &Given) -> Result<Self::Value, String> {
        match given {
            Given::List(items) => items.iter().map(T::read).collect(),
            one => Ok(vec![T::read(one)?]),
        }
    }

    fn show(value: &Self::Value) -> Given {
        Given::List(value.iter().map(T::show).collect())
    }
}

impl<T: OptionType> OptionType for BTreeMap<String, T> {
    type Value = BTreeMap<String, T::Value>;
    const KIND: OptionKind = T::KIND;
    const MANY: bool = true;
    const NAMED: bool = true;

    fn range() -> Option<OptionRange> {
        T::range()
    }

    fn read(given: &Given) -> Result<Self::Value, String> {
        let Given::Table(entries) = given else {
            return Err(format!("{} is no table of names and values", shown(given)));
        };
        let named = |(name, value): &(String, Given)| {
            Ok((name.clone(), T::read(value).map_err(|why| format!("{name}: {why}"))?))
        };
        entries.iter().map(named).collect()
    }

    fn show(value: &Self::Value) -> Given {
        Given::Table(value.iter().map(|(name, value)| (name.clone(), T::show(value))).collect())
    }
}
