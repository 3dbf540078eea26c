//! Mappings as that paper writes them: `[a0 a1 ...]` says that thread i executes task ai.

use crate::TargetError;

/// The most tasks whose mappings are listed: 40,320 with task 0 on thread 0.
pub const LISTED_TASKS_MAX: usize = 9;

/// Every mapping of `tasks` tasks in the order of their digits: (tasks - 1)! with task 0 on thread 0, and tasks! where
/// thread 0 may execute any.
///
/// # Errors
/// From ten tasks on, which have too many.
///
/// ```
/// use probe::ring::mapping::all;
/// assert_eq!(all(6, false)?.len(), 120);
/// assert_eq!(all(3, false)?, [[0, 1, 2], [0, 2, 1]]);
/// # Ok::<(), probe::TargetError>(())
/// ```
pub fn all(tasks: usize, any_first: bool) -> Result<Vec<Vec<usize>>, TargetError> {
    if tasks > LISTED_TASKS_MAX {
        return Err(TargetError::Request(format!(
            "every mapping of {tasks} tasks is too many; name the mappings, or take at most {LISTED_TASKS_MAX} tasks"
        )));
    }
    let mut found = Vec::new();
    extend(&mut Vec::with_capacity(tasks), tasks, any_first, &mut found);
    Ok(found)
}

fn extend(start: &mut Vec<usize>, tasks: usize, any_first: bool, found: &mut Vec<Vec<usize>>) {
    if start.len() == tasks {
        found.push(start.clone());
        return;
    }
    let most = if start.is_empty() && !any_first { tasks.min(1) } else { tasks };
    for task in 0..most {
        if !start.contains(&task) {
            start.push(task);
            extend(start, tasks, any_first, found);
            start.pop();
        }
    }
}

/// A mapping as it is written: `[024531]`, or with blanks where a number has two digits.
///
/// ```
/// assert_eq!(probe::ring::mapping::text(&[0, 2, 1]), "[021]");
/// ```
pub fn text(mapping: &[usize]) -> String {
    let digits: Vec<String> = mapping.iter().map(usize::to_string).collect();
    format!("[{}]", digits.join(if mapping.len() > 10 { " " } else { "" }))
}

/// Reads `[024531]`, `024531`, `0 2 4 5 3 1` or `0,2,4,5,3,1`.
///
/// # Errors
/// Says which character is no task's number.
///
/// ```
/// use probe::ring::mapping::parse;
/// assert_eq!(parse("[024531]")?, [0, 2, 4, 5, 3, 1]);
/// assert_eq!(parse("0 10 1")?, [0, 10, 1]);
/// # Ok::<(), probe::TargetError>(())
/// ```
pub fn parse(written: &str) -> Result<Vec<usize>, TargetError> {
    let inner = written.trim();
    let inner = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(inner).trim();
    let separated = inner.contains([' ', ',']);
    let numbers: Vec<&str> = if separated {
        inner.split([' ', ',']).filter(|part| !part.is_empty()).collect()
    } else {
        inner.split("").filter(|part| !part.is_empty()).collect()
    };
    let number = |part: &&str| {
        part.parse().map_err(|_| {
            TargetError::Request(format!(
                "mapping {written}: `{part}` is no task; written like [024531] or 0,2,4,5,3,1"
            ))
        })
    };
    numbers.iter().map(number).collect()
}

/// Refuses a list that is not a mapping of `tasks` tasks.
///
/// # Errors
/// Says what is missing or there twice; where `any_first` is false, that thread 0 executes another task than 0.
pub fn check(mapping: &[usize], tasks: usize, any_first: bool) -> Result<(), TargetError> {
    let refuse = |why: String| Err(TargetError::Request(format!("mapping {}: {why}", text(mapping))));
    if mapping.len() != tasks {
        return refuse(format!("{} numbers for {tasks} tasks", mapping.len()));
    }
    if let Some(wrong) = mapping.iter().find(|&&task| task >= tasks) {
        return refuse(format!("no task {wrong}; allowed: each of 0 to {} once", tasks - 1));
    }
    if let Some(missing) = (0..tasks).find(|task| !mapping.contains(task)) {
        return refuse(format!("task {missing} is nowhere; allowed: each of 0 to {} once", tasks - 1));
    }
    if !any_first && mapping.first() != Some(&0) {
        return refuse("thread 0 executes task 0, unless any first task is asked for".into());
    }
    Ok(())
}

/// The SPE of each task, when thread i is on SPE `places[i]`.
///
/// ```
/// // Thread 1, on SPE 1, executes task 2.
/// assert_eq!(probe::ring::mapping::spes(&[0, 2, 1, 3], &[0, 1, 2, 3]), [0, 2, 1, 3]);
/// assert_eq!(probe::ring::mapping::spes(&[0, 2, 3, 1], &[0, 1, 2, 3]), [0, 3, 1, 2]);
/// ```
///
/// # Panics
/// When `mapping` is no permutation, or longer than `places`.
pub fn spes(mapping: &[usize], places: &[usize]) -> Vec<usize> {
    let mut spes = vec![0; mapping.len()];
    for (thread, &task) in mapping.iter().enumerate() {
        spes[task] = places[thread];
    }
    spes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(mapping: &[usize], tasks: usize, any_first: bool) -> String {
        check(mapping, tasks, any_first).unwrap_err().to_string()
    }

    #[test]
    fn every_mapping_is_there_once_and_allowed() {
        for (tasks, any_first, count) in [(6, false, 120), (8, false, 5040), (4, true, 24)] {
            let mut mappings = all(tasks, any_first).unwrap();
            assert!(mappings.is_sorted());
            assert!(mappings.iter().all(|m| check(m, tasks, any_first).is_ok()));
            mappings.dedup();
            assert_eq!(mappings.len(), count);
        }
        assert!(all(10, false).unwrap_err().to_string().contains("at most 9 tasks"));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for mapping in all(5, true).unwrap() {
            assert_eq!(parse(&text(&mapping)).unwrap(), mapping);
        }
        let long: Vec<usize> = (0..16).rev().collect();
        assert_eq!(parse(&text(&long)).unwrap(), long);
        assert_eq!(parse(" 0, 2,1 ").unwrap(), [0, 2, 1]);
        assert!(parse("[02x1]").unwrap_err().to_string().contains("`x` is no task"));
    }

    #[test]
    fn what_is_no_mapping_is_refused_with_the_reason() {
        assert!(refused(&[0, 1, 1], 3, false).contains("task 2 is nowhere"));
        assert!(refused(&[0, 1, 3], 3, false).contains("no task 3"));
        assert!(refused(&[0, 1], 3, false).contains("2 numbers for 3 tasks"));
        assert!(refused(&[1, 0, 2], 3, false).contains("[102]: thread 0 executes task 0"));
        assert!(check(&[1, 0, 2], 3, true).is_ok());
    }

    #[test]
    fn threads_take_their_tasks_to_their_places() {
        let mapping = [0, 4, 3, 5, 1, 2];
        let places = [5, 1, 0, 4, 3, 2];
        let spes = spes(&mapping, &places);
        for (thread, &task) in mapping.iter().enumerate() {
            assert_eq!(spes[task], places[thread]);
        }
    }
}
