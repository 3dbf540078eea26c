//! A graph while it is read: edges name their tasks, and every part knows its line.

use crate::error::Part;
use crate::{Edge, Graph, Port, Task, TaskId, graph::DEFAULT_CODE_BYTES, sizes};
use ground::{Located, did_you_mean, quoted};
use std::collections::{HashMap, HashSet};

pub(super) struct Draft {
    file: String,
    /// Its edges come with [`Draft::finish`].
    pub(super) graph: Graph,
    task_lines: Vec<usize>,
    edges: Vec<DraftEdge>,
    /// Bytes that copies (defaults into nodes, names into edges between groups) may still take.
    room: usize,
}

pub(super) struct DraftEdge {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) bytes: u64,
    pub(super) peek: u64,
    pub(super) delay: u64,
    pub(super) line: usize,
    /// Lines of the keys `from` and `to`, where they have lines of their own.
    pub(super) end_lines: (usize, usize),
}

/// `split.3` or `split`.
pub(super) struct End {
    pub(super) task: String,
    pub(super) port: Option<String>,
}

impl End {
    pub(super) fn new(text: &str) -> End {
        match text.split_once('.') {
            Some((task, port)) => End { task: task.into(), port: Some(port.into()) },
            None => End { task: text.into(), port: None },
        }
    }
}

impl Draft {
    /// An empty graph, named after the file.
    pub(super) fn new(file: &str) -> Draft {
        let stem = std::path::Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned());
        let graph =
            Graph { name: stem.unwrap_or_default(), code_bytes: DEFAULT_CODE_BYTES, ..Graph::default() };
        Draft {
            file: file.into(),
            graph,
            task_lines: Vec::new(),
            edges: Vec::new(),
            room: 4 * sizes::FILE_BYTES as usize,
        }
    }

    pub(super) fn error(&self, line: Option<usize>, key: Option<&str>, message: String) -> Located {
        Located { file: Some(self.file.clone()), line, key: key.map(str::to_string), message }
    }

    pub(super) fn task(&mut self, task: Task, line: usize) {
        self.graph.tasks.push(task);
        self.task_lines.push(line);
    }

    pub(super) fn task_line(&self, name: &str) -> Option<usize> {
        let at = self.graph.tasks.iter().position(|task| task.name == name)?;
        self.task_lines.get(at).copied()
    }

    pub(super) fn edge(&mut self, edge: DraftEdge) {
        self.edges.push(edge);
    }

    pub(super) fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Accounts for a copy of `bytes`: a short file can ask for more copies than fit any memory.
    pub(super) fn take_room(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.room.checked_sub(bytes);
        self.room = left.ok_or("defaults or groups of nodes make too large a graph")?;
        Ok(())
    }

    /// Finds the tasks of the edges, numbers the ports that have no name, and validates.
    pub(super) fn finish(self) -> Result<Graph, Located> {
        let mut ids: HashMap<&str, TaskId> = HashMap::with_capacity(self.graph.tasks.len());
        for (id, task) in self.graph.tasks.iter().enumerate() {
            ids.entry(&task.name).or_insert(id);
        }
        let mut ends: Vec<(TaskId, TaskId)> = Vec::with_capacity(self.edges.len());
        for (at, edge) in self.edges.iter().enumerate() {
            let find = |end: &End, key: &str, line: usize| {
                ids.get(end.task.as_str()).copied().ok_or_else(|| {
                    let hint = did_you_mean(&end.task, self.graph.tasks.iter().map(|t| t.name.as_str()));
                    let message = format!("no task is called {}{hint}", quoted(&end.task));
                    self.error(Some(line), Some(&format!("edge {}, {key}", at + 1)), message)
                })
            };
            ends.push((find(&edge.from, "from", edge.end_lines.0)?, find(&edge.to, "to", edge.end_lines.1)?));
        }
        let mut outputs = Ports::new(self.graph.tasks.len());
        let mut inputs = Ports::new(self.graph.tasks.len());
        for (edge, &(from, to)) in self.edges.iter().zip(&ends) {
            outputs.take(from, edge.from.port.as_deref());
            inputs.take(to, edge.to.port.as_deref());
        }
        let mut edges = Vec::with_capacity(self.edges.len());
        for (edge, &(from, to)) in self.edges.iter().zip(&ends) {
            let from = Port { task: from, name: outputs.name(from, edge.from.port.as_deref()) };
            let to = Port { task: to, name: inputs.name(to, edge.to.port.as_deref()) };
            edges.push(Edge { from, to, bytes: edge.bytes, peek: edge.peek, delay: edge.delay });
        }
        let graph = Graph { edges, ..self.graph };
        graph.validate().map_err(|invalid| Located {
            file: Some(self.file),
            line: match invalid.part {
                Part::Graph => None,
                Part::Task(id) => self.task_lines.get(id).copied(),
                Part::Edge(id) => self.edges.get(id).map(|e| e.line),
            },
            key: Some(invalid.key),
            message: invalid.message,
        })?;
        Ok(graph)
    }
}

/// Names of the ports on one side of the tasks.
struct Ports<'a> {
    taken: HashSet<(TaskId, &'a str)>,
    next: Vec<usize>,
}

impl<'a> Ports<'a> {
    fn new(tasks: usize) -> Self {
        Ports { taken: HashSet::new(), next: vec![0; tasks] }
    }

    /// Notes a name that the file gives; only numbers can be in the way.
    fn take(&mut self, task: TaskId, name: Option<&'a str>) {
        if let Some(name) = name.filter(|n| n.starts_with(|c: char| c.is_ascii_digit())) {
            self.taken.insert((task, name));
        }
    }

    /// The given name, or the next free number.
    fn name(&mut self, task: TaskId, given: Option<&str>) -> String {
        if let Some(name) = given {
            return name.into();
        }
        loop {
            let name = self.next[task].to_string();
            self.next[task] += 1;
            if !self.taken.contains(&(task, name.as_str())) {
                return name;
            }
        }
    }
}
