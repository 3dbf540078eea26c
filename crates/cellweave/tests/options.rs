//! Every verb refuses what it cannot mean, and names it.

use cellweave::ground::options::{Given, OptionField, OptionKind};

/// A verb's options from one of them.
type Refusal = fn(Given) -> Option<String>;

fn refusals(verb: &str) -> Refusal {
    fn of<T>(read: Result<T, cellweave::ground::Located>) -> Option<String> {
        read.err().map(|e| e.to_string())
    }
    match verb {
        "plan" => |given| of(cellweave::plan::PlanOptions::from_given(&given)),
        "profile" => |given| of(cellweave::ProfileOptions::from_given(&given)),
        "run" => |given| of(cellweave::run::RunOptions::from_given(&given)),
        "probe" => |given| of(probe::ProbeOptions::from_given(&given)),
        "ring" => |given| of(probe::ring::RingOptions::from_given(&given)),
        "place" => |given| of(cellweave::place::PlaceOptions::from_given(&given)),
        "daggen" => |given| of(cellweave::work::daggen::DaggenOptions::from_given(&given)),
        other => panic!("{other} is not tested here"),
    }
}

/// What a verb says to one option.
fn said(verb: &str, name: &str, value: Given) -> Option<String> {
    refusals(verb)(Given::Table(vec![(name.into(), value)]))
}

fn fields() -> Vec<(&'static str, OptionField)> {
    let of =
        |verb: &'static str| cellweave::options(verb).unwrap().into_iter().map(move |field| (verb, field));
    cellweave::verbs().into_iter().flat_map(of).collect()
}

#[test]
fn an_unknown_key_is_refused_at_every_verb_and_the_nearest_is_named() {
    for verb in cellweave::verbs() {
        let known = cellweave::options(verb).unwrap()[0].name;
        let why = said(verb, &format!("{known}x"), Given::Whole(1)).unwrap();
        assert!(why.contains(&format!("{verb} has no such option")), "{why}");
        assert!(why.contains(&format!("did you mean `{known}`?")), "{why}");
    }
}

#[test]
fn an_unknown_word_is_refused_and_the_words_are_listed() {
    let mut words = 0;
    for (verb, field) in fields().into_iter().filter(|(_, field)| field.kind == OptionKind::Word) {
        let why = said(verb, field.name, Given::Text("nonsense".into())).unwrap();
        assert!(why.starts_with(field.name) && why.contains(&field.choices.join(", ")), "{why}");
        words += 1;
    }
    assert!(words > 2);
}

#[test]
fn a_number_out_of_range_is_refused_and_the_range_is_named() {
    let mut numbers = 0;
    for (verb, field) in fields().into_iter().filter(|(_, field)| field.range.is_some()) {
        let (least, most) =
            field.allowed().split_once(" to ").map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
        let far = Given::Whole(-1);
        let far = if field.named { Given::Table(vec![("a".into(), far)]) } else { far };
        let why = said(verb, field.name, far).unwrap();
        assert!(why.contains(&format!("at least {least} and at most {most}")), "{why}");
        numbers += 1;
    }
    assert!(numbers > 8);
}

#[test]
fn a_value_of_another_type_is_refused() {
    for (verb, field) in fields() {
        let wrong = match field.kind {
            OptionKind::Flag | OptionKind::Whole | OptionKind::Real => Given::Text("many".into()),
            OptionKind::Word | OptionKind::Text => Given::Flag(true),
        };
        let why =
            said(verb, field.name, wrong).unwrap_or_else(|| panic!("{verb} {} takes anything", field.name));
        assert!(why.starts_with(field.name), "{why}");
    }
}

#[test]
fn every_default_is_allowed_and_every_option_says_what_it_means() {
    for (verb, field) in fields() {
        assert_eq!(said(verb, field.name, field.default.clone()), None, "{verb} {}", field.name);
        assert!(field.help.ends_with('.') && field.help.len() > 10, "{verb} {}: {}", field.name, field.help);
    }
}

#[test]
fn a_verb_that_is_none_has_no_options() {
    let why = cellweave::options("plann").unwrap_err().to_string();
    assert!(why.contains("did you mean `plan`?"), "{why}");
}
