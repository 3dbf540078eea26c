//! What was wrong with a request for a machine, and where.

use std::fmt;

/// Says what was wrong, where, what is allowed, and the nearest right name where a name was unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The machine file, where it was one.
    pub file: Option<String>,
    /// Line of the file, from 1.
    pub line: Option<usize>,
    /// `limit[3].capacity_bytes_per_s`, or the option of a specification.
    pub key: Option<String>,
    /// What was wrong, and what is allowed.
    pub message: String,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, key: None, message: message.into() }
    }

    pub(crate) fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    pub(crate) fn line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    pub(crate) fn file(self, file: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
