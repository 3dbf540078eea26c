//! The options of a verb: name, type, unit, range, choices, default and help text stand beside the field, once.
//!
//! [`options!`](crate::options!) makes a struct of them. The command line, Python and the book read its
//! [`fields`](OptionField); whatever comes in by name is read by the struct's `from_given`, which refuses unknown
//! names, wrong types, numbers out of range and unknown words.
//!
//! ```
//! use ground::options::Given;
//! ground::options! {
//!     /// How to boil an egg.
//!     #[derive(Debug, Clone, PartialEq)]
//!     pub struct BoilOptions("boil") {
//!         /// How long it boils.
//!         pub time_s: f64 = 240.0, in 1.0..=3600.0, unit "s";
//!         /// Eggs at a time; by default as many as there are.
//!         pub eggs: Option<u64> = None, in 1..=12;
//!     }
//! }
//! let given = |key: &str, value: Given| BoilOptions::from_given(&Given::Table(vec![(key.into(), value)]));
//! assert_eq!(given("eggs", Given::Whole(3)), Ok(BoilOptions { time_s: 240.0, eggs: Some(3) }));
//! assert_eq!(
//!     given("tiem_s", Given::Whole(3)).unwrap_err().to_string(),
//!     "\"tiem_s\": boil has no such option; allowed: time_s, eggs; did you mean `time_s`?"
//! );
//! assert_eq!(
//!     given("eggs", Given::Whole(13)).unwrap_err().to_string(),
//!     "eggs: 13 is not allowed; at least 1 and at most 12"
//! );
//! assert!(BoilOptions { eggs: Some(0), ..Default::default() }.check().is_err());
//! ```

mod field;
mod types;

pub use field::{OptionField, OptionKind, OptionRange, entries};
pub use types::{OptionType, Word};

#[cfg(test)]
mod tests;

/// A value as a caller gives it: from Python, from a command line or from a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Not given: the default counts.
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i128),
    /// A number.
    Real(f64),
    /// Text, or a word out of a few.
    Text(String),
    /// Several values.
    List(Vec<Given>),
    /// Values by name.
    Table(Vec<(String, Given)>),
}

/// Makes a struct of options; see [the module](mod@crate::options) for an example.
///
/// A field is `name: type = default`, then where it applies `, in least..=most` and `, unit "s"`. Its doc comment is
/// also the help text of the command line and the text of the book, so that it names no Rust. `type as Reader` reads
/// the field by another [`OptionType`] than the type's own. Fields after `and` are for callers in Rust only.
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime>)? ($verb:literal) {
            $(
                $(#[doc = $help:literal])+
                $field_vis:vis $field:ident: $type:ty $(as $reader:ty)? = $default:expr
                $(, in $range:expr)? $(, unit $unit:literal)?;
            )*
        }
        $(and {
            $(
                $(#[doc = $own_help:literal])+
                $own_vis:vis $own:ident: $own_type:ty = $own_default:expr;
            )*
        })?
    ) => {
        $(#[$meta])*
        $vis struct $name $(<$life>)? {
            $( $(#[doc = $help])+ $field_vis $field: $type, )*
            $($( $(#[doc = $own_help])+ $own_vis $own: $own_type, )*)?
        }

        impl $(<$life>)? Default for $name $(<$life>)? {
            fn default() -> Self {
                $name {
                    $( $field: $default, )*
                    $($( $own: $own_default, )*)?
                }
            }
        }

        #[allow(dead_code, unreachable_pub)]
        impl $(<$life>)? $name $(<$life>)? {
            /// What can be given by name.
            pub fn fields() -> Vec<$crate::options::OptionField> {
                let default = <$name>::default();
                vec![$(
                    $crate::options::OptionField::of::<$crate::options!(@type $type $(, $reader)?)>(
                        stringify!($field),
                        concat!($($help),+),
                        $crate::options!(@unit $($unit)?),
                        $crate::options!(@range $($range)?),
                        &default.$field,
                    ),
                )*]
            }

            /// The options that are given by name, and the defaults of the others.
            ///
            /// # Errors
            /// The first unknown name, wrong type, number out of range or unknown word; says what is allowed.
            pub fn from_given(given: &$crate::options::Given) -> Result<Self, $crate::Located> {
                let fields = Self::fields();
                let mut options = Self::default();
                for (field, value) in $crate::options::entries($verb, &fields, given)? {
                    $(
                        if field.name == stringify!($field) {
                            type Reader = $crate::options!(@type $type $(, $reader)?);
                            options.$field = field.read::<Reader>(value)?;
                        }
                    )*
                }
                Ok(options)
            }

            /// Refuses values out of range.
            ///
            /// # Errors
            /// Names the option and what is allowed.
            pub fn check(&self) -> Result<(), $crate::Located> {
                for field in Self::fields() {
                    $(
                        if field.name == stringify!($field) {
                            type Reader = $crate::options!(@type $type $(, $reader)?);
                            let value = <Reader as $crate::options::OptionType>::show(&self.$field);
                            field.check(&value, field.name)?;
                        }
                    )*
                }
                Ok(())
            }
        }
    };
    (@type $type:ty) => { $type };
    (@type $type:ty, $reader:ty) => { $reader };
    (@unit) => { "" };
    (@unit $unit:literal) => { $unit };
    (@range) => { None };
    (@range $range:expr) => { Some($crate::options::OptionRange::from($range)) };
}
