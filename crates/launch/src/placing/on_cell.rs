//! The SPEs of ranks on a simulated Cell: an affinity by its name, a list, or a file.

use super::file::texts;
use place::affinities;
use sim::Parameters;
use std::path::Path;

/// The seed of the affinity Default, as that of `cellweave place`.
const SEED: u64 = 1;

/// The SPE of each rank, as a word says: `Ring`, `0,3,1,2`, or a file with such a list or what `cellweave place` wrote.
///
/// # Errors
/// The word is none of these, or says of a rank nothing, an SPE that there isn't, or one that another rank has.
pub(crate) fn spes(word: &Path, ranks: usize, machine: &Parameters) -> Result<Vec<usize>, String> {
    let shown = word.display();
    let each = machine.spes() / machine.chips;
    let chips: Vec<Vec<usize>> =
        (0..machine.chips).map(|chip| (chip * each..(chip + 1) * each).collect()).collect();
    let known = affinities::named(ranks, &chips, SEED);
    let name = word.to_string_lossy();
    if let Some(affinity) = known.iter().find(|affinity| affinity.name.eq_ignore_ascii_case(&name)) {
        return Ok(affinity.seats.clone());
    }
    let list = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let text = if list {
        name.into_owned()
    } else {
        std::fs::read_to_string(word).map_err(|error| {
            let names: Vec<&str> = known.iter().map(|affinity| affinity.name).collect();
            format!(
                "--place {shown}: {error}; with --on, allowed are {}, a list of SPEs like 0,2,1,3, and a file",
                names.join(", ")
            )
        })?
    };
    let listed = texts(&text).and_then(|words| words.iter().map(|word| named(word)).collect());
    let mut spes: Vec<usize> = listed.map_err(|what: String| format!("--place {shown}: {what}"))?;
    if spes.len() < ranks {
        return Err(format!(
            "--place {shown}: it has places for {} ranks, and there are {ranks}",
            spes.len()
        ));
    }
    spes.truncate(ranks);
    for (rank, spe) in spes.iter().enumerate() {
        if *spe >= machine.spes() {
            let (name, last) = (&machine.name, machine.spes() - 1);
            return Err(format!(
                "--place {shown}: rank {rank} is to be on SPE{spe}; {name} has SPE0 to SPE{last}"
            ));
        }
        if let Some(first) = spes[..rank].iter().position(|other| other == spe) {
            return Err(format!("--place {shown}: ranks {first} and {rank} are both to be on SPE{spe}"));
        }
    }
    Ok(spes)
}

fn named(word: &str) -> Result<usize, String> {
    let digits = word.strip_prefix("SPE").unwrap_or(word);
    digits.parse().map_err(|_| format!("{word} is no SPE; allowed are numbers and names like SPE3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(machine: &str, word: &str, ranks: usize) -> Result<Vec<usize>, String> {
        spes(Path::new(word), ranks, &Parameters::named(machine).expect("a machine"))
    }

    #[test]
    fn an_affinity_has_a_name_or_a_list() {
        assert_eq!(on("cell", "Ring", 8), Ok(vec![0, 1, 3, 5, 7, 6, 4, 2]));
        assert_eq!(on("qs20", "evenodd", 16).unwrap()[8..], [8, 10, 12, 14, 9, 11, 13, 15]);
        assert_eq!(on("qs20", "15,0", 2), Ok(vec![15, 0]));
    }

    #[test]
    fn a_file_has_a_list_or_what_place_wrote() {
        let file = std::env::temp_dir().join(format!("cellweave-spes-{}", std::process::id()));
        for text in
            ["SPE3 1\n0 # the last", r#"{"mapping": ["SPE3", "SPE1", "SPE0"], "cpus": [null, null, null]}"#]
        {
            std::fs::write(&file, text).unwrap();
            assert_eq!(on("cell", file.to_str().unwrap(), 3), Ok(vec![3, 1, 0]));
        }
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for (machine, word, told) in [
            ("cell", "Rng", "allowed are Overlap, EvenOdd, Identity, Ring, Leap2, Default, a list"),
            ("cell", "0,1", "it has places for 2 ranks, and there are 3"),
            ("ps3", "0,6,1", "rank 1 is to be on SPE6; ps3 has SPE0 to SPE5"),
            ("cell", "0,3,0", "ranks 0 and 2 are both to be on SPE0"),
        ] {
            let error = on(machine, word, 3).unwrap_err();
            assert!(error.starts_with(&format!("--place {word}: ")) && error.contains(told), "{error}");
        }
    }
}
