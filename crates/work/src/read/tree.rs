//! What TOML and JSON have in common: tables, lists and plain values, each with its line.

use std::borrow::Cow;

/// A value and the line, from 1, that it starts in.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) line: usize,
    pub(crate) value: Tree<'a>,
}

#[derive(Debug)]
pub(crate) enum Tree<'a> {
    /// JSON only.
    Null,
    Bool(bool),
    Whole(i64),
    Float(f64),
    Text(Cow<'a, str>),
    /// TOML only.
    Date(String),
    List(Vec<Node<'a>>),
    /// Keys differ; `line` is the key's.
    Table(Vec<Entry<'a>>),
}

#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) line: usize,
    pub(crate) node: Node<'a>,
}

impl Tree<'_> {
    /// What a message calls it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Tree::Null => "null".into(),
            Tree::Bool(b) => b.to_string(),
            Tree::Whole(n) => n.to_string(),
            Tree::Float(x) => x.to_string(),
            Tree::Text(t) => format!("the text {}", ground::quoted(t)),
            Tree::Date(d) => format!("the date {d}"),
            Tree::List(_) => "a list".into(),
            Tree::Table(_) => "a table".into(),
        }
    }
}
