//! The cpus of ranks, from a file.

use machine::Machine;
use serde_json::Value;
use std::path::Path;

/// The cpus of so many ranks: numbers or names (`CPU3`) in the order of ranks, or the JSON of `cellweave place`.
///
/// # Errors
/// A file that can't be read, says nothing of a rank, or names a cpu that this process may not use.
pub(super) fn cpus(file: &Path, ranks: usize, machine: &Machine) -> Result<Vec<u32>, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("--place {shown}: {error}"))?;
    let mut cpus = listed(&text).map_err(|what| format!("--place {shown}: {what}"))?;
    if cpus.len() < ranks {
        return Err(format!(
            "--place {shown}: it has places for {} ranks, and there are {ranks}",
            cpus.len()
        ));
    }
    cpus.truncate(ranks);
    let allowed: Vec<u32> = machine.elements.iter().filter_map(|element| element.os_cpu).collect();
    match cpus.iter().enumerate().find(|(_, cpu)| !allowed.contains(cpu)) {
        // Where nothing is known of the machine, the kernel says later what it refuses.
        Some((rank, cpu)) if !allowed.is_empty() => {
            let all: Vec<String> = allowed.iter().map(u32::to_string).collect();
            Err(format!("--place {shown}: rank {rank} is to run on cpu {cpu}; allowed are {}", all.join(" ")))
        }
        _ => Ok(cpus),
    }
}

fn listed(text: &str) -> Result<Vec<u32>, String> {
    match json(text)? {
        Some(root) => of_json(&root),
        None => words(text).map(named).collect(),
    }
}

/// The places of ranks in a file as words: a list, or the `mapping` of what `cellweave place` wrote.
///
/// # Errors
/// It is neither.
pub(super) fn texts(text: &str) -> Result<Vec<String>, String> {
    let Some(root) = json(text)? else { return Ok(words(text).map(str::to_owned).collect()) };
    let word = |name: &Value| name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    Ok(mapping(&root)?.iter().map(word).collect())
}

fn json(text: &str) -> Result<Option<Value>, String> {
    if text.trim_start().starts_with(['{', '[']) {
        return serde_json::from_str(text).map(Some).map_err(|error| format!("not JSON: {error}"));
    }
    Ok(None)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split_once('#').map_or(line, |(places, _)| places))
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || c == ','))
        .filter(|word| !word.is_empty())
}

fn mapping(root: &Value) -> Result<&Vec<Value>, String> {
    let mapping = if root.is_array() { root } else { &root["mapping"] };
    if mapping.is_object() {
        return Err("it is a plan; `cellweave plan --export cellrun` writes what is read here".into());
    }
    mapping.as_array().ok_or_else(|| "its \"mapping\" is not a list of cpus".into())
}

/// A list of cpus; or an object with such a list as its `cpus`, which `cellweave place` writes, or as its `mapping`.
fn of_json(root: &Value) -> Result<Vec<u32>, String> {
    let names = mapping(root)?;
    let known = root["cpus"].as_array().filter(|cpus| cpus.len() == names.len());
    let one = |(rank, name): (usize, &Value)| match (known.map(|cpus| &cpus[rank]), name) {
        (Some(Value::Number(cpu)), _) | (None, Value::Number(cpu)) => named(&cpu.to_string()),
        (None, Value::String(name)) => named(name),
        _ => Err(format!("rank {rank} is on {name}, which is no cpu of a computer")),
    };
    names.iter().enumerate().map(one).collect()
}

fn named(word: &str) -> Result<u32, String> {
    let digits = word.strip_prefix("CPU").or_else(|| word.strip_prefix("cpu")).unwrap_or(word);
    digits.parse().map_err(|_| format!("{word} is no cpu; allowed are numbers and names like CPU3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_cpus_in_words_or_as_json() {
        assert_eq!(listed("0 CPU3,1\n2 # the last\n"), Ok(vec![0, 3, 1, 2]));
        assert_eq!(listed(r#"{"ranks": 2, "mapping": ["CPU1", 0], "x": [7]}"#), Ok(vec![1, 0]));
        assert_eq!(listed("[4,5]"), Ok(vec![4, 5]));
        assert!(listed("0 one").unwrap_err().starts_with("one is no cpu"));
    }

    #[test]
    fn elements_may_have_any_name_where_their_cpus_stand_beside_them() {
        assert_eq!(listed(r#"{"mapping": ["left", "right"], "cpus": [9, 4]}"#), Ok(vec![9, 4]));
        let simulated = listed(r#"{"mapping": ["SPE0"], "cpus": [null]}"#).unwrap_err();
        assert_eq!(simulated, r#"rank 0 is on "SPE0", which is no cpu of a computer"#);
    }

    #[test]
    fn what_is_no_list_of_cpus_is_named() {
        assert!(listed(r#"{"mapping": {"a": "CPU0"}}"#).unwrap_err().starts_with("it is a plan"));
        assert_eq!(listed("{}").unwrap_err(), "its \"mapping\" is not a list of cpus");
        assert!(listed("{").unwrap_err().starts_with("not JSON"));
        assert!(listed("[-1]").unwrap_err().starts_with("-1 is no cpu"));
    }
}
