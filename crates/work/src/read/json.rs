//! JSON, with a line for every value.

use super::tree::{Entry, Node, Tree};
use crate::sizes;
use ground::{Located, quoted};
use std::borrow::Cow;
use std::collections::HashSet;

/// Parses `text`; a key that comes twice in a table is an error.
pub(crate) fn parse<'a>(text: &'a str, file: &str) -> Result<Node<'a>, Located> {
    let mut parser = Parser { text, at: 0, line: 1, depth: 0, values: 0 };
    let whole = parser.node().and_then(|node| {
        parser.blanks();
        if parser.at == text.len() { Ok(node) } else { Err("something follows the end".into()) }
    });
    whole.map_err(|message| Located::new(format!("not JSON: {message}")).line(parser.line).file(file))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    depth: usize,
    values: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b) = self.peek().filter(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
            self.line += usize::from(b == b'\n');
            self.at += 1;
        }
    }

    fn found(&self) -> String {
        self.text[self.at..].chars().next().map_or("the end of the file".into(), |c| format!("{c:?}"))
    }

    /// Passes blanks and `byte`, or says what stands there.
    fn expect(&mut self, byte: u8) -> Result<(), String> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(format!("{:?} expected, {} found", byte as char, self.found()));
        }
        self.at += 1;
        Ok(())
    }

    /// Passes blanks and `byte` if it stands there.
    fn pass(&mut self, byte: u8) -> bool {
        self.blanks();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn node(&mut self) -> Result<Node<'a>, String> {
        self.blanks();
        self.values += 1;
        if self.values > sizes::VALUES {
            return Err(format!("more than {} values", sizes::VALUES));
        }
        let line = self.line;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::table)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Tree::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { line, value })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Tree<'a>, String>) -> Result<Tree<'a>, String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > sizes::DEPTH {
            return Err(format!("brackets within brackets, more than {} deep", sizes::DEPTH));
        }
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn table(&mut self) -> Result<Tree<'a>, String> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut seen = HashSet::new();
        if self.pass(b'}') {
            return Ok(Tree::Table(entries));
        }
        loop {
            self.blanks();
            let line = self.line;
            if self.peek() != Some(b'"') {
                return Err(format!("a key in quotes expected, {} found", self.found()));
            }
            let key = self.string()?;
            if !seen.insert(key.clone()) {
                return Err(format!("the key {} twice in one table", quoted(&key)));
            }
            self.expect(b':')?;
            let node = self.node()?;
            entries.push(Entry { key, line, node });
            if !self.pass(b',') {
                self.expect(b'}')?;
                return Ok(Tree::Table(entries));
            }
        }
    }

    fn list(&mut self) -> Result<Tree<'a>, String> {
        let mut items = Vec::new();
        if self.pass(b']') {
            return Ok(Tree::List(items));
        }
        loop {
            items.push(self.node()?);
            if !self.pass(b',') {
                self.expect(b']')?;
                return Ok(Tree::List(items));
            }
        }
    }

    fn word(&mut self) -> Result<Tree<'a>, String> {
        for (word, value) in [("true", Tree::Bool(true)), ("false", Tree::Bool(false)), ("null", Tree::Null)]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(format!("a value expected, {} found", self.found()))
    }

    fn number(&mut self) -> Result<Tree<'a>, String> {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|b| !matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let number = &rest[..end.unwrap_or(rest.len())];
        if !is_number(number) {
            return Err(format!("{} is not a number", quoted(number)));
        }
        self.at += number.len();
        let float =
            || number.parse().map(Tree::Float).map_err(|_| format!("{} is not a number", quoted(number)));
        if number.contains(['.', 'e', 'E']) || number == "-0" {
            return float();
        }
        number.parse().map_or_else(|_| float(), |n| Ok(Tree::Whole(n)))
    }

    /// Stands on the opening quote.
    fn string(&mut self) -> Result<Cow<'a, str>, String> {
        self.at += 1;
        let start = self.at;
        let mut owned: Option<String> = None;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|b| matches!(b, b'"' | b'\\') || b < 0x20);
            let plain = plain.ok_or("a text without end")?;
            if let Some(text) = &mut owned {
                text.push_str(&rest[..plain]);
            }
            self.at += plain;
            match self.text.as_bytes()[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(owned.map_or(Cow::Borrowed(&self.text[start..self.at - 1]), Cow::Owned));
                }
                b'\\' => {
                    let text = owned.get_or_insert_with(|| self.text[start..self.at].to_string());
                    let (c, length) = escape(&self.text[self.at..])?;
                    text.push(c);
                    self.at += length;
                }
                _ => return Err("a text with a control character; write it as an escape".into()),
            }
        }
    }
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
fn is_number(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escape(text: &str) -> Result<(char, usize), String> {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let wrong = || "a text with an escape that JSON does not have".to_string();
    let c = match text.as_bytes().get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let first = unit(2).ok_or_else(wrong)?;
            if (0xd800..0xdc00).contains(&first) && text.get(6..8) == Some("\\u") {
                let second = unit(8).filter(|u| (0xdc00..0xe000).contains(u)).ok_or_else(wrong)?;
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(code).map(|c| (c, 12)).ok_or_else(wrong);
            }
            return char::from_u32(first).map(|c| (c, 6)).ok_or_else(wrong);
        }
        _ => return Err(wrong()),
    };
    Ok((c, 2))
}

/// The line and the value of `key` in the table `root`, if it is there; the value only where it is a whole number.
pub(crate) fn whole_number(root: &Node, key: &str) -> Option<(usize, Option<i64>)> {
    let Tree::Table(entries) = &root.value else { return None };
    let entry = entries.iter().find(|e| e.key == key)?;
    Some((entry.line, if let Tree::Whole(n) = entry.node.value { Some(n) } else { None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted() {
        let mut parser = Parser { text: "[0, 0]", at: 0, line: 1, depth: 0, values: sizes::VALUES - 3 };
        assert!(parser.node().is_ok());
        let mut parser = Parser { text: "[0, 0, 0]", at: 0, line: 1, depth: 0, values: sizes::VALUES - 3 };
        assert_eq!(parser.node().unwrap_err(), "more than 16777216 values");
    }
}
