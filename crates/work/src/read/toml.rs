//! TOML, with a line for every value.

use super::Lines;
use super::tree::{Entry, Node, Tree};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use ground::Located;

/// Parses `text`. The parser itself limits how deep brackets nest.
pub(super) fn parse<'a>(text: &'a str, file: &str) -> Result<Node<'a>, Located> {
    let lines = Lines::new(text);
    let fail = |offset: Option<usize>, message: String| {
        Located::new(message).line(offset.map(|o| lines.of(o))).file(file)
    };
    let document = DeTable::parse(text).map_err(|e| {
        let message = e.message().lines().collect::<Vec<_>>().join("; ");
        fail(e.span().map(|s| s.start), format!("not TOML: {message}"))
    })?;
    let value = table(document.into_inner(), &lines).map_err(|(at, message)| fail(Some(at), message))?;
    Ok(Node { line: 1, value })
}

type Wrong = (usize, String);

fn table<'a>(table: DeTable<'a>, lines: &Lines) -> Result<Tree<'a>, Wrong> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let line = lines.of(key.span().start);
        entries.push(Entry { key: key.into_inner(), line, node: node(value, lines)? });
    }
    Ok(Tree::Table(entries))
}

fn node<'a>(value: Spanned<DeValue<'a>>, lines: &Lines) -> Result<Node<'a>, Wrong> {
    let at = value.span().start;
    let value = match value.into_inner() {
        DeValue::Boolean(b) => Tree::Bool(b),
        DeValue::String(s) => Tree::Text(s),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Tree::Whole(n),
            Err(_) => {
                return Err((at, format!("the number {} is too large", ground::quoted(n.as_str()))));
            }
        },
        DeValue::Float(x) => match x.as_str().parse() {
            Ok(x) => Tree::Float(x),
            Err(_) => return Err((at, format!("{} is not a number", ground::quoted(x.as_str())))),
        },
        DeValue::Datetime(d) => Tree::Date(d.to_string()),
        DeValue::Array(list) => {
            let mut items = Vec::with_capacity(list.len());
            for item in list {
                items.push(node(item, lines)?);
            }
            Tree::List(items)
        }
        DeValue::Table(entries) => table(entries, lines)?,
    };
    Ok(Node { line: lines.of(at), value })
}
