//! GraphML, as networkx, yEd and others write it: one directed graph; nodes are tasks by their `id`.
//!
//! `<key>` declarations give the [attributes] their names and defaults; an edge's `sourceport` and
//! `targetport` name its ports. Nested graphs, hyperedges and undirected edges are errors.

use super::attributes::{self, EdgeAttributes};
use super::{Draft, Lines};
use crate::{Task, sizes};
use ground::{Located, quoted};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

/// A `<key>`: what its data mean.
struct Key {
    of: String,
    name: String,
    default: Option<String>,
}

/// The element that `<data>` belongs to.
enum Open {
    Nothing,
    Graph,
    Node { task: Task, line: usize },
    Edge { from: String, to: String, attributes: EdgeAttributes, line: usize },
}

struct State<'d> {
    draft: &'d mut Draft,
    keys: HashMap<String, Key>,
    /// Ids of the keys that have a default, in file order.
    defaults: Vec<String>,
    open: Open,
    graphs: usize,
    /// The key whose `<data>` or `<default>` is open, and its text so far.
    data: Option<(String, String)>,
    line: usize,
}

type Attributes = HashMap<String, String>;

/// Puts the graph in `text` into `draft`.
pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Located> {
    let lines = Lines::new(text);
    let mut state = State {
        draft,
        keys: HashMap::new(),
        defaults: Vec::new(),
        open: Open::Nothing,
        graphs: 0,
        data: None,
        line: 1,
    };
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut path: Vec<String> = Vec::new();
    loop {
        let at = reader.buffer_position() as usize;
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(e) => {
                let line = lines.of(reader.error_position() as usize);
                return Err(state.draft.error(Some(line), None, format!("not XML: {e}")));
            }
        };
        // The start of the tag, not of the blanks before it.
        state.line = lines.of(at);
        let step = match event {
            Event::Start(tag) => {
                let name = tag.local_name().as_ref().to_string();
                let parent = path.last().map(String::as_str).unwrap_or_default().to_string();
                path.push(name.clone());
                if path.len() > sizes::DEPTH {
                    Err(format!("tags within tags, more than {} deep", sizes::DEPTH))
                } else {
                    attributes_of(&tag).and_then(|found| state.start(&name, &parent, found))
                }
            }
            Event::End(_) => {
                let name = path.pop().unwrap_or_default();
                state.end(&name)
            }
            Event::Text(t) => state.text(&t.xml10_content()),
            Event::CData(t) => state.text(&t.xml10_content()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(c)) => state.text(c.encode_utf8(&mut [0; 4])),
                Ok(None) => {
                    let name = reference.xml10_content();
                    match quick_xml::escape::resolve_predefined_entity(&name) {
                        Some(text) => state.text(text),
                        None => Err(format!("unknown entity {}", quoted(&name))),
                    }
                }
                Err(e) => Err(e.to_string()),
            },
            Event::Eof if path.is_empty() => break,
            Event::Eof => Err(format!("the tag <{}> has no end", path.last().map_or("", |p| p))),
            _ => Ok(()),
        };
        step.map_err(|message| {
            let place = state.place();
            state.draft.error(Some(state.line), place.as_deref(), message)
        })?;
    }
    if state.graphs == 0 {
        return Err(state.draft.error(None, None, "not GraphML: no <graph>".into()));
    }
    Ok(())
}

fn attributes_of(tag: &BytesStart) -> Result<Attributes, String> {
    let mut found = Attributes::new();
    let mut all = tag.attributes();
    for attribute in all.with_checks(false) {
        let attribute = attribute.map_err(|e| format!("not XML: {e}"))?;
        let value =
            attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).map_err(|e| e.to_string())?;
        found.insert(attribute.key.local_name().as_ref().to_string(), value.into_owned());
    }
    Ok(found)
}

impl State<'_> {
    fn place(&self) -> Option<String> {
        let place = match &self.open {
            Open::Node { task, .. } => format!("node {}", quoted(&task.name)),
            Open::Edge { from, to, .. } => format!("edge {}", quoted(&format!("{from} -> {to}"))),
            Open::Nothing | Open::Graph => return None,
        };
        let key = self.data.as_ref().and_then(|(id, _)| self.keys.get(id));
        Some(key.map_or(place.clone(), |key| format!("{place}, {}", key.name)))
    }

    fn start(&mut self, name: &str, parent: &str, mut found: Attributes) -> Result<(), String> {
        let mut need =
            |key: &str| found.remove(key).ok_or_else(|| format!("<{name}> without the attribute {key:?}"));
        match (name, parent) {
            ("key", "graphml") => {
                let id = need("id")?;
                let of = found.remove("for").unwrap_or_else(|| "all".into());
                // yEd declares keys for its drawings that have no attr.name.
                let name = found.remove("attr.name").unwrap_or_default();
                self.data = Some((id.clone(), String::new()));
                self.keys.insert(id, Key { of, name, default: None });
            }
            ("graph", "graphml") => {
                self.graphs += 1;
                if self.graphs > 1 {
                    return Err("a second <graph>; one is allowed".into());
                }
                if found.get("edgedefault").is_some_and(|d| d != "directed") {
                    return Err(
                        "an undirected graph; applications are directed (edgedefault=\"directed\")".into()
                    );
                }
                if let Some(id) = found.remove("id").filter(|id| !id.is_empty()) {
                    self.draft.graph.name = id;
                }
                self.open = Open::Graph;
            }
            ("graph", _) => return Err("a graph within a graph; that is not supported".into()),
            ("hyperedge", _) => return Err("a hyperedge; that is not supported".into()),
            ("node", "graph") => {
                let task = Task { name: need("id")?, ..Task::default() };
                self.open = Open::Node { task, line: self.line };
                self.set_defaults()?;
            }
            ("edge", "graph") => {
                let (from, to) = (need("source")?, need("target")?);
                let mut attributes = EdgeAttributes::default();
                if found.get("directed").is_some_and(|d| d != "true") {
                    return Err("an undirected edge; applications are directed".into());
                }
                attributes.from_port = found.remove("sourceport");
                attributes.to_port = found.remove("targetport");
                self.open = Open::Edge { from, to, attributes, line: self.line };
                self.set_defaults()?;
            }
            ("data", "node" | "edge" | "graph") => {
                let id = need("key")?;
                if !self.keys.contains_key(&id) {
                    return Err(format!("<data> of the key {}, which no <key> declares", quoted(&id)));
                }
                self.data = Some((id, String::new()));
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if let Some((_, data)) = &mut self.data {
            if data.len() + text.len() > sizes::TEXT_BYTES {
                // A drawing, perhaps: only attributes that mean something here are limited, and those are short.
                data.truncate(0);
            } else {
                data.push_str(text);
            }
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), String> {
        match name {
            "default" => {
                if let Some((id, text)) = &mut self.data
                    && let Some(key) = self.keys.get_mut(id)
                {
                    key.default = Some(text.trim().to_string());
                    self.defaults.push(id.clone());
                }
            }
            "key" => self.data = None,
            "data" => {
                if let Some((id, text)) = &self.data {
                    let name = self.keys.get(id).map(|k| k.name.clone()).unwrap_or_default();
                    let text = text.trim().to_string();
                    self.set(&name, &text)?;
                }
                self.data = None;
            }
            "node" => {
                if self.draft.graph.tasks.len() >= sizes::TASKS {
                    return Err(format!("more than {} nodes", sizes::TASKS));
                }
                if let Open::Node { task, line } = std::mem::replace(&mut self.open, Open::Graph) {
                    self.draft.task(task, line);
                }
            }
            "edge" => {
                if let Open::Edge { from, to, attributes, line } = &self.open {
                    let edge = attributes.clone().edge(from, to, *line)?;
                    self.open = Open::Graph;
                    self.draft.edge(edge);
                }
            }
            "graph" => self.open = Open::Nothing,
            _ => {}
        }
        Ok(())
    }

    fn set_defaults(&mut self) -> Result<(), String> {
        let kind = if matches!(self.open, Open::Node { .. }) { "node" } else { "edge" };
        for at in 0..self.defaults.len() {
            let key = &self.keys[&self.defaults[at]];
            self.draft.take_room(16)?;
            if key.of == kind || key.of == "all" {
                let (name, text) = (key.name.clone(), key.default.clone().unwrap_or_default());
                self.draft.take_room(32 + name.len() + text.len())?;
                self.set(&name, &text)?;
            }
        }
        Ok(())
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match &mut self.open {
            _ if name.is_empty() => Ok(()),
            Open::Nothing => Ok(()),
            Open::Graph => attributes::graph(&mut self.draft.graph, name, text),
            Open::Node { task, .. } => attributes::node(task, name, text),
            Open::Edge { attributes, .. } => attributes.set(name, text),
        }
    }
}
