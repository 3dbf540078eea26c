//! A TOML table with the path to it, so that every error can name its key.

use ground::{Located, did_you_mean};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) struct Table<'a> {
    table: &'a DeTable<'a>,
    path: String,
}

impl<'a> Table<'a> {
    /// The file's top level, or a table at `path`; only the keys `known` are allowed in it.
    pub(super) fn new(table: &'a DeTable<'a>, path: String, known: &[&str]) -> Result<Self, Located> {
        let table = Self { table, path };
        if let Some(key) = table.keys().find(|key| !known.contains(key)) {
            let near = did_you_mean(key, known.iter().copied());
            let shown: String = key.chars().take(60).collect();
            let message = format!("unknown key; known are {}{near}", known.join(", "));
            return Err(Located::new(message).key(table.path(&shown)));
        }
        Ok(table)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    fn get(&self, key: &str) -> Option<&'a DeValue<'a>> {
        self.table.get(key).map(Spanned::get_ref)
    }

    /// What `convert` makes of a key's value; `None` when the key is absent.
    fn read<T>(
        &self,
        key: &str,
        allowed: &str,
        convert: impl Fn(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<T>, Located> {
        let Some(value) = self.get(key) else { return Ok(None) };
        convert(value).map(Some).ok_or_else(|| wrong(value, allowed).key(self.path(key)))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Located> {
        self.read(key, "a string", |v| v.as_str().map(str::to_string))
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Located> {
        self.read(key, "true or false", DeValue::as_bool)
    }

    pub(super) fn float(&self, key: &str) -> Result<Option<f64>, Located> {
        self.read(key, "a number", float)
    }

    pub(super) fn u32(&self, key: &str) -> Result<Option<u32>, Located> {
        self.read(key, "a whole number from 0 to 4294967295", |v| u32::try_from(whole(v)?).ok())
    }

    pub(super) fn u32_pair(&self, key: &str) -> Result<Option<[u32; 2]>, Located> {
        self.read(key, "an array of two whole numbers from 0 to 4294967295", |v| {
            let numbers = v.as_array()?.iter().map(|n| u32::try_from(whole(n.get_ref())?).ok());
            numbers.collect::<Option<Vec<u32>>>()?.try_into().ok()
        })
    }

    pub(super) fn u64(&self, key: &str) -> Result<Option<u64>, Located> {
        self.read(key, "a whole number from 0 on", whole)
    }

    pub(super) fn table(&self, key: &str, known: &[&str]) -> Result<Option<Table<'a>>, Located> {
        let table = self.read(key, "a table", DeValue::as_table)?;
        table.map(|table| Table::new(table, self.path(key), known)).transpose()
    }

    /// A table whose keys are the user's own words.
    pub(super) fn open_table(&self, key: &str) -> Result<Option<Table<'a>>, Located> {
        let table = self.read(key, "a table", DeValue::as_table)?;
        Ok(table.map(|table| Table { table, path: self.path(key) }))
    }

    /// An array of tables; empty when the key is absent.
    pub(super) fn tables(&self, key: &str, known: &[&str]) -> Result<Vec<Table<'a>>, Located> {
        let array = self.read(key, "an array of tables", DeValue::as_array)?;
        let values = array.into_iter().flat_map(|a| a.iter()).enumerate();
        values
            .map(|(i, value)| {
                let path = format!("{}[{i}]", self.path(key));
                match value.get_ref().as_table() {
                    Some(table) => Table::new(table, path, known),
                    None => Err(wrong(value.get_ref(), "a table").key(path)),
                }
            })
            .collect()
    }

    /// One string or an array of strings; empty when the key is absent.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>, Located> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(DeValue::String(text)) => Ok(vec![text]),
            Some(DeValue::Array(array)) => array
                .iter()
                .map(|v| {
                    let text = v.get_ref().as_str();
                    text.ok_or_else(|| wrong(v.get_ref(), "a name").key(self.path(key)))
                })
                .collect(),
            Some(other) => Err(wrong(other, "a name or an array of names").key(self.path(key))),
        }
    }

    /// An array of arrays of numbers.
    pub(super) fn matrix(&self, key: &str) -> Result<Option<Vec<Vec<f64>>>, Located> {
        let Some(rows) = self.read(key, "an array of arrays of numbers", DeValue::as_array)? else {
            return Ok(None);
        };
        let mut matrix = Vec::with_capacity(rows.len());
        for (i, row) in rows.iter().enumerate() {
            let path = || format!("{}[{i}]", self.path(key));
            let Some(row) = row.get_ref().as_array() else {
                return Err(wrong(row.get_ref(), "an array of numbers").key(path()));
            };
            let mut numbers = Vec::with_capacity(row.len());
            for (j, value) in row.iter().enumerate() {
                let number = float(value.get_ref());
                numbers.push(
                    number
                        .ok_or_else(|| wrong(value.get_ref(), "a number").key(format!("{}[{j}]", path())))?,
                );
            }
            matrix.push(numbers);
        }
        Ok(Some(matrix))
    }

    pub(super) fn needed<T>(&self, key: &str, value: Option<T>) -> Result<T, Located> {
        value.ok_or_else(|| Located::new("missing").key(self.path(key)))
    }
}

/// Where in the text the value at `key` (`limit[3].pairs[0].from`) starts, or the deepest part of it that is there.
pub(super) fn locate(root: &DeTable, key: &str) -> Option<usize> {
    let (mut table, mut array) = (Some(root), None);
    let mut found = None;
    for part in key.split(['.', '[']) {
        let value = match part.strip_suffix(']') {
            Some(index) => {
                let index: Option<usize> = index.parse().ok();
                array.zip(index).and_then(|(a, i): (&toml::de::DeArray, _)| a.get(i))
            }
            None => table.and_then(|t| {
                let (key, value) = t.get_key_value(part)?;
                found = Some(key.span().start);
                Some(value)
            }),
        };
        let Some(value) = value else { break };
        if part.ends_with(']') {
            found = Some(value.span().start);
        }
        (table, array) = (value.get_ref().as_table(), value.get_ref().as_array());
    }
    found
}

fn whole(value: &DeValue) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Integers count as numbers; what is too large for a float does not.
fn float(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n as f64)
        }
        _ => None,
    }
}

fn wrong(value: &DeValue, allowed: &str) -> Located {
    let found = match value {
        DeValue::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        DeValue::Integer(number) => number.to_string().chars().take(40).collect(),
        DeValue::Float(number) => number.to_string().chars().take(40).collect(),
        other => format!("this {}", other.type_str()),
    };
    Located::new(format!("{found} is not {allowed}"))
}
