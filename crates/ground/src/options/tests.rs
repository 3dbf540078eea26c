use super::{Given, Word};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Colour {
    Red,
    Green,
}

impl Word for Colour {
    const WORDS: &'static [(&'static str, Colour)] = &[("red", Colour::Red), ("green", Colour::Green)];
}

crate::options! {
    /// What to paint.
    struct PaintOptions<'a>("paint") {
        /// The colour
        /// of the paint.
        colour: Colour = Colour::Red;
        /// Layers, by wall.
        layers: BTreeMap<String, u32> = BTreeMap::new(), in 1..=3;
        /// How long each layer dries.
        dry_s: Vec<f64> = vec![60.0], in 0.5..=1e6, unit "s";
        /// Whether to open the window.
        window: bool = true;
        /// Of the brush.
        seed: u64 = 7;
    } and {
        /// Called after each layer.
        done: Option<&'a dyn Fn()> = None;
    }
}

fn table(entries: &[(&str, Given)]) -> Given {
    Given::Table(entries.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
}

fn refused(name: &str, value: Given) -> String {
    PaintOptions::from_given(&table(&[(name, value)])).err().expect("it is wrong").to_string()
}

fn text(text: &str) -> Given {
    Given::Text(text.into())
}

#[test]
fn what_is_given_counts_and_the_rest_has_its_default() {
    let layers = table(&[("north", Given::Whole(2))]);
    let given = table(&[
        ("colour", text("green")),
        ("layers", layers),
        ("dry_s", Given::Whole(5)),
        ("seed", Given::Nothing),
    ]);
    let paint = PaintOptions::from_given(&given).unwrap();
    assert_eq!((paint.colour, paint.layers["north"]), (Colour::Green, 2));
    assert_eq!((paint.dry_s, paint.window, paint.seed), (vec![5.0], true, 7));
    assert!(paint.done.is_none());
}

#[test]
fn unknown_names_wrong_words_types_and_ranges_are_refused() {
    let allowed = "allowed: colour, layers, dry_s, window, seed";
    let unknown = format!("\"color\": paint has no such option; {allowed}; did you mean `colour`?");
    assert_eq!(refused("color", text("red")), unknown);
    assert_eq!(
        refused("colour", text("gren")),
        "colour: no \"gren\"; allowed: red, green; did you mean `green`?"
    );
    assert_eq!(refused("colour", Given::Whole(1)), "colour: 1 is no word; allowed: red, green");
    assert_eq!(refused("window", text("yes")), "window: \"yes\" is neither true nor false");
    assert_eq!(refused("seed", Given::Real(1.5)), "seed: 1.5 is no whole number");
    assert_eq!(refused("seed", Given::Flag(true)), "seed: true is no whole number");
    assert_eq!(refused("seed", Given::Whole(-1)), "seed: -1 is not allowed; at least 0 and at most 2^64 - 1");
    let dry = "is not allowed; at least 0.5 and at most 1000000";
    assert_eq!(refused("dry_s", Given::List(vec![Given::Real(0.1)])), format!("dry_s: 0.1 {dry}"));
    assert_eq!(refused("dry_s", Given::Real(f64::NAN)), format!("dry_s: nan {dry}"));
    let layers = refused("layers", table(&[("north", Given::Whole(4))]));
    assert_eq!(layers, "layers: \"north\": 4 is not allowed; at least 1 and at most 3");
    assert!(PaintOptions::from_given(&Given::Whole(1)).is_err());
}

#[test]
fn a_struct_that_was_filled_in_rust_is_checked_by_the_same_ranges() {
    assert!(PaintOptions::default().check().is_ok());
    let wrong = PaintOptions { dry_s: vec![0.1], ..Default::default() };
    assert!(wrong.check().unwrap_err().to_string().starts_with("dry_s: 0.1 is not allowed"));
}

#[test]
fn a_field_knows_what_the_command_line_and_the_book_say_of_it() {
    let fields = PaintOptions::fields();
    let of = |name: &str| fields.iter().find(|field| field.name == name).unwrap();
    assert_eq!(
        (of("colour").help.as_str(), of("colour").allowed().as_str()),
        ("The colour of the paint.", "red, green")
    );
    assert_eq!((of("dry_s").flag(), of("dry_s").allowed()), ("--dry".into(), "0.5 to 1000000".into()));
    assert_eq!((of("layers").many, of("layers").named, of("seed").many), (true, true, false));
    assert_eq!(of("seed").default, Given::Whole(7));
    assert_eq!(fields.len(), 5);
}
