//! A plan's file.

use super::{BadPlan, FORMAT, Plan};
use crate::read::{self, json};
use ground::{Located, did_you_mean};
use std::path::Path;

impl Plan {
    /// Reads the plan in the file at `path`.
    ///
    /// # Errors
    /// As [`Plan::from_json`], or the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Plan, Located> {
        let path = path.as_ref();
        Plan::from_json(&read::file(path)?, &path.display().to_string())
    }

    /// Reads the plan in `text`; `file_name` is what errors call it. Whether it fits a graph and a machine is
    /// [`Plan::check`]'s question.
    ///
    /// # Errors
    /// Not JSON, another format version, a key missing or unknown, a number that is not finite, or parts that
    /// contradict each other.
    pub fn from_json(text: &str, file_name: &str) -> Result<Plan, Located> {
        let error = |line, key: Option<&str>, message| Located {
            file: Some(file_name.into()),
            line,
            key: key.map(str::to_string),
            message,
        };
        // First by our own parser: it knows lines and finds keys that come twice.
        let root = json::parse(text, file_name)?;
        match json::whole_number(&root, "format") {
            Some((_, Some(format))) if format == i64::from(FORMAT) => {}
            Some((line, Some(format))) => {
                let message =
                    format!("a plan of format {format}; this version reads format {FORMAT}: plan again");
                return Err(error(Some(line), Some("format"), message));
            }
            Some((line, None)) => {
                return Err(error(Some(line), Some("format"), "a whole number expected".into()));
            }
            None => return Err(error(None, Some("format"), "the key is missing: not a plan".into())),
        }
        let plan: Plan = serde_json::from_str(text).map_err(|e| error(Some(e.line()), None, explain(&e)))?;
        plan.check_itself().map_err(|bad| error(None, None, bad.to_string()))?;
        Ok(plan)
    }

    /// The text of the plan's file.
    ///
    /// # Errors
    /// A number is not finite, or parts contradict each other: what [`Plan::from_json`] would refuse.
    pub fn to_json(&self) -> Result<String, BadPlan> {
        self.check_itself()?;
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|e| BadPlan { problems: vec![e.to_string()] })
    }
}

/// serde's message without its place, with the nearest right key.
fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(wrong) if message.starts_with("unknown field") => {
            let near = did_you_mean(wrong, names.clone());
            format!("unknown key {wrong:?}; keys are {}{near}", names.collect::<Vec<_>>().join(", "))
        }
        Some(name) if message.starts_with("missing field") => format!("the key {name:?} is missing"),
        _ => message.to_string(),
    }
}
