//! What stands in for the outside world while an application is measured: nothing that it wrote is touched, and nothing
//! is read that could be read only once.

use work::{Graph, Value};

/// The built-in sinks, whose output goes nowhere while they are measured.
const FILE_SINKS: [&str; 2] = ["cellweave:write", "cellweave:write-wav"];
/// The built-in sources, of which standard input can be read only once.
const FILE_SOURCES: [&str; 2] = ["cellweave:read", "cellweave:read-wav"];

/// `graph` with file sinks that write to nowhere, and zeros in place of standard input.
pub(crate) fn harmless(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for task in &mut graph.tasks {
        let Some(kernel) = task.kernel.as_deref() else { continue };
        if FILE_SINKS.contains(&kernel) {
            task.params.insert("path".into(), Value::Text("/dev/null".into()));
        } else if FILE_SOURCES.contains(&kernel) && task.params.get("path") == Some(&Value::Text("-".into()))
        {
            task.kernel = Some("cellweave:zeros".into());
            task.params.clear();
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use work::Task;

    fn task(kernel: &str, path: &str) -> Task {
        let params = [("path".to_string(), Value::Text(path.into()))].into();
        Task { name: "t".into(), kernel: Some(kernel.into()), params, ..Task::default() }
    }

    #[test]
    fn sinks_write_nowhere_and_files_are_still_read() {
        let tasks = vec![
            task("cellweave:write-wav", "out.wav"),
            task("cellweave:read", "-"),
            task("cellweave:read-wav", "in.wav"),
        ];
        let graph = harmless(&Graph { tasks, ..Graph::default() });
        assert_eq!(graph.tasks[0].params["path"], Value::Text("/dev/null".into()));
        assert_eq!(graph.tasks[1].kernel.as_deref(), Some("cellweave:zeros"));
        assert!(graph.tasks[1].params.is_empty());
        assert_eq!(graph.tasks[2].params["path"], Value::Text("in.wav".into()));
    }
}
