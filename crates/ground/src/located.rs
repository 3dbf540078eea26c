//! An error that says where.

use std::fmt;

/// What is wrong with a file, a text or a value, and where.
///
/// Prints as `file:line: key: message`, with as much of this as is known.
///
/// ```
/// let error = ground::Located::new("-5 is not a number from 0").key("task \"a\", cost_ns.ppe");
/// assert_eq!(error.to_string(), "task \"a\", cost_ns.ppe: -5 is not a number from 0");
/// let error = error.line(12).file("app.toml");
/// assert_eq!(error.to_string(), "app.toml:12: task \"a\", cost_ns.ppe: -5 is not a number from 0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file's name as the caller gave it.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// Which part of the file, or which option: `limit[3].capacity_bytes_per_s`.
    pub key: Option<String>,
    /// What is wrong, what is allowed, and the nearest right name where one was unknown.
    pub message: String,
}

impl Located {
    /// An error whose place is not known yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, key: None, message: message.into() }
    }

    /// The same error, in `file`.
    #[must_use]
    pub fn file(self, file: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..self }
    }

    /// The same error, on `line` (from 1), where that is known.
    #[must_use]
    pub fn line(self, line: impl Into<Option<usize>>) -> Self {
        Self { line: line.into(), ..self }
    }

    /// The same error, at `key`.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// The same error, one level further out: `name` in `element[0]` is `element[0].name`.
    #[must_use]
    pub fn within(self, parent: &str) -> Self {
        let key = self.key.as_ref().map_or_else(|| parent.to_string(), |key| format!("{parent}.{key}"));
        self.key(key)
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Located {}

/// `text` in quotes, its control characters escaped, cut where it is long: fit for a message.
///
/// ```
/// assert_eq!(ground::quoted("band\n3"), r#""band\n3""#);
/// assert_eq!(ground::quoted(&"x".repeat(100)).len(), 64);
/// ```
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}..", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_as_much_of_its_place_as_is_known() {
        let error = Located::new("wrong");
        assert_eq!(error.to_string(), "wrong");
        assert_eq!(error.clone().line(3).to_string(), "line 3: wrong");
        assert_eq!(error.clone().file("f").to_string(), "f: wrong");
        assert_eq!(error.file("f").key("k").line(None).to_string(), "f: k: wrong");
    }

    #[test]
    fn a_key_grows_outwards() {
        let error = Located::new("wrong").within("element[0]");
        assert_eq!(error.key.as_deref(), Some("element[0]"));
        assert_eq!(
            Located::new("wrong").key("name").within("element[0]").to_string(),
            "element[0].name: wrong"
        );
    }
}
