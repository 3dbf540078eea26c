//! DOT, Graphviz's language: one `digraph`; nodes are tasks by their names.
//!
//! ```text
//! digraph equaliser {
//!     node [cost_ppe = 5200, cost_spe = 1700]
//!     edge [bytes = 256]
//!     split -> {low high} -> join
//!     high -> meter [peek = 1]
//!     low:rest -> meter:in
//! }
//! ```
//! Defaults (`node [..]`, `edge [..]`) hold from there to the end of their braces; subgraphs group and stand for all
//! their nodes in an edge. [Attributes](super::attributes) carry the figures; `a:port` names a port.

use super::Draft;
use super::attributes::{self, EdgeAttributes};
use crate::{Task, sizes};
use ground::{Located, did_you_mean, quoted};
use std::collections::{HashMap, HashSet};

mod lex;
use lex::{Lexer, Token};

struct Node {
    task: Task,
    line: usize,
}

/// An end of an edge, before its port is known to matter.
#[derive(Clone)]
struct End {
    node: usize,
    port: Option<String>,
}

/// What `node [..]` and `edge [..]` said so far within the braces.
#[derive(Clone, Default)]
struct Defaults {
    node: Task,
    edge: EdgeAttributes,
}

struct Parser<'a, 'd> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    line: usize,
    draft: &'d mut Draft,
    nodes: Vec<Node>,
    ids: HashMap<String, usize>,
    strict: Option<HashSet<(usize, usize)>>,
    /// Nodes that were named since the start, by subgraph: an edge's end may be a subgraph.
    named: Vec<usize>,
    /// What the message is about, where it is about more than the text.
    place: Option<String>,
}

/// Puts the graph in `text` into `draft`.
pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Located> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        token: Token::End,
        line: 1,
        draft,
        nodes: Vec::new(),
        ids: HashMap::new(),
        strict: None,
        named: Vec::new(),
        place: None,
    };
    let read = parser.file();
    let (line, place) = (parser.line, parser.place.take());
    read.map_err(|message| parser.draft.error(Some(line), place.as_deref(), message))?;
    let nodes = std::mem::take(&mut parser.nodes);
    nodes.into_iter().for_each(|node| parser.draft.task(node.task, node.line));
    Ok(())
}

impl Parser<'_, '_> {
    fn advance(&mut self) -> Result<(), String> {
        let token = self.lexer.next();
        self.line = self.lexer.line;
        self.token = token?;
        Ok(())
    }

    /// Passes `sign` if it stands here.
    fn pass(&mut self, sign: char) -> Result<bool, String> {
        let there = self.token == Token::Sign(sign);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        if self.pass(sign)? {
            Ok(())
        } else {
            Err(format!("{sign:?} expected, {} found", self.token.describe()))
        }
    }

    fn id(&mut self, what: &str) -> Result<String, String> {
        let Token::Id { text, .. } = &self.token else {
            return Err(format!("{what} expected, {} found", self.token.describe()));
        };
        let text = text.clone().into_owned();
        self.advance()?;
        Ok(text)
    }

    fn file(&mut self) -> Result<(), String> {
        self.advance()?;
        if self.token.is_word("strict") {
            self.strict = Some(HashSet::new());
            self.advance()?;
        }
        if self.token.is_word("graph") {
            return Err("an undirected graph; applications are directed: `digraph`".into());
        }
        if !self.token.is_word("digraph") {
            let Token::Id { text, .. } = &self.token else {
                return Err(format!("`digraph` expected, {} found", self.token.describe()));
            };
            let hint = did_you_mean(text, ["digraph", "strict"]);
            return Err(format!("`digraph` expected, {} found{hint}", quoted(text)));
        }
        self.advance()?;
        if let Token::Id { .. } = self.token {
            self.draft.graph.name = self.id("a name")?;
        }
        self.expect('{')?;
        self.statements(&mut Defaults::default(), 1)?;
        match self.token {
            Token::End => Ok(()),
            _ => Err(format!(
                "the end of the file expected, {} found; one graph is allowed",
                self.token.describe()
            )),
        }
    }

    /// To the closing brace, which it passes.
    fn statements(&mut self, defaults: &mut Defaults, depth: usize) -> Result<(), String> {
        if depth > sizes::DEPTH {
            return Err(format!("braces within braces, more than {} deep", sizes::DEPTH));
        }
        while !self.pass('}')? {
            if self.token == Token::End {
                return Err("a closing brace expected, the end of the file found".into());
            }
            self.statement(defaults, depth)?;
            self.pass(';')?;
        }
        Ok(())
    }

    fn statement(&mut self, defaults: &mut Defaults, depth: usize) -> Result<(), String> {
        for word in ["graph", "node", "edge"] {
            if self.token.is_word(word) {
                self.advance()?;
                for (key, value) in self.attributes()? {
                    self.place = Some(format!("{word}, {key}"));
                    match word {
                        "graph" => self.graph_attribute(&key, &value, depth)?,
                        "node" => attributes::node(&mut defaults.node, &key, &value)?,
                        _ => defaults.edge.set(&key, &value)?,
                    }
                    self.place = None;
                }
                return Ok(());
            }
        }
        let line = self.line;
        let first = match self.end(defaults, depth)? {
            Ok(ends) => ends,
            Err(name) => {
                // `name = value`
                let value = self.id("a value")?;
                self.place = Some(format!("graph, {name}"));
                self.graph_attribute(&name, &value, depth)?;
                self.place = None;
                return Ok(());
            }
        };
        let mut chain = vec![first];
        while let Token::Arrow | Token::Line = self.token {
            if self.token == Token::Line {
                return Err("an undirected edge, \"--\"; applications are directed: \"->\"".into());
            }
            self.advance()?;
            match self.end(defaults, depth)? {
                Ok(ends) => chain.push(ends),
                Err(_) => return Err("\"=\" within an edge".into()),
            }
        }
        let found = self.attributes()?;
        if let [ends] = &chain[..] {
            for (key, value) in &found {
                let [End { node, .. }] = ends[..] else {
                    return Err("attributes of a subgraph stand within its braces: `node [..]`".into());
                };
                let task = &mut self.nodes[node].task;
                let set = attributes::node(task, key, value);
                if set.is_err() {
                    self.place = Some(format!("node {}, {key}", quoted(&task.name)));
                }
                set?;
            }
            return Ok(());
        }
        let mut attributes = defaults.edge.clone();
        for (key, value) in &found {
            self.place = Some(format!("edge {}, {key}", self.draft.edges() + 1));
            attributes.set(key, value)?;
        }
        self.place = None;
        for pair in chain.windows(2) {
            for from in &pair[0] {
                for to in &pair[1] {
                    self.edge(from, to, attributes.clone(), line)?;
                }
            }
        }
        Ok(())
    }

    fn graph_attribute(&mut self, key: &str, value: &str, depth: usize) -> Result<(), String> {
        // Subgraphs have attributes of their own, for drawing.
        if depth == 1 { attributes::graph(&mut self.draft.graph, key, value) } else { Ok(()) }
    }

    fn edge(&mut self, from: &End, to: &End, found: EdgeAttributes, line: usize) -> Result<(), String> {
        let mut found = found;
        if self.draft.edges() >= sizes::EDGES {
            return Err(format!("more than {} edges", sizes::EDGES));
        }
        let [from_name, to_name] = [from, to].map(|end| self.nodes[end.node].task.name.as_str());
        let twice = self.strict.as_mut().is_some_and(|seen| !seen.insert((from.node, to.node)));
        found.from_port = from.port.clone().or(found.from_port);
        found.to_port = to.port.clone().or(found.to_port);
        self.draft.take_room(from_name.len() + to_name.len() + found.text_bytes())?;
        let edge = if twice {
            Err("the same edge twice in a strict graph".into())
        } else {
            found.edge(from_name, to_name, line)
        };
        if edge.is_err() {
            let names = format!("{from_name} -> {to_name}");
            self.place = Some(format!("edge {} {}", self.draft.edges() + 1, quoted(&names)));
        }
        let edge = edge?;
        self.draft.edge(edge);
        Ok(())
    }

    /// A node, or a subgraph for all its nodes; `Err` of a name that `=` follows, which it passes.
    fn end(&mut self, defaults: &mut Defaults, depth: usize) -> Result<Result<Vec<End>, String>, String> {
        let is_subgraph = self.token.is_word("subgraph");
        if is_subgraph {
            self.advance()?;
            if let Token::Id { .. } = self.token {
                self.advance()?;
            }
        }
        if is_subgraph || self.token == Token::Sign('{') {
            self.expect('{')?;
            let outer = self.named.len();
            let bytes = attributes::node_bytes(&defaults.node) + defaults.edge.text_bytes();
            self.draft.take_room(bytes)?;
            self.statements(&mut defaults.clone(), depth + 1)?;
            let mut nodes = self.named[outer..].to_vec();
            nodes.sort_unstable();
            nodes.dedup();
            self.named.truncate(outer);
            // They are nodes of the subgraphs around as well.
            self.named.extend(&nodes);
            return Ok(Ok(nodes.into_iter().map(|node| End { node, port: None }).collect()));
        }
        let line = self.line;
        let name = self.id("a node, an edge or an attribute")?;
        if self.pass('=')? {
            return Ok(Err(name));
        }
        let node = match self.ids.get(&name) {
            Some(&node) => node,
            None => {
                if self.nodes.len() >= sizes::TASKS {
                    return Err(format!("more than {} nodes", sizes::TASKS));
                }
                self.draft.take_room(attributes::node_bytes(&defaults.node))?;
                let task = Task { name: name.clone(), ..defaults.node.clone() };
                self.nodes.push(Node { task, line });
                self.ids.insert(name, self.nodes.len() - 1);
                self.nodes.len() - 1
            }
        };
        self.named.push(node);
        let mut port = None;
        if self.pass(':')? {
            port = Some(self.id("a port")?);
            if self.pass(':')? {
                self.id("a point of the compass")?;
            }
        }
        Ok(Ok(vec![End { node, port }]))
    }

    /// `[a = 1, b = 2; c] [d]`, any number of brackets, also none.
    fn attributes(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut found = Vec::new();
        while self.pass('[')? {
            while !self.pass(']')? {
                let key = self.id("an attribute")?;
                let value = if self.pass('=')? { self.id("a value")? } else { "true".into() };
                found.push((key, value));
                if !self.pass(',')? {
                    self.pass(';')?;
                }
            }
        }
        Ok(found)
    }
}
