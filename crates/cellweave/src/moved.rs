//! An application that is written to another folder still finds the files that it reads.

use std::path::{Component, Path, PathBuf};
use work::{Graph, Value};

/// The built-in sources that read a file.
const FILE_SOURCES: [&str; 2] = ["cellweave:read", "cellweave:read-wav"];

/// `graph` with paths that start in the folder `new`, where they started in the folder `old`. Libraries and files that
/// it reads are found where they are; what it writes goes beside the new file.
pub fn moved(graph: &Graph, old: &Path, new: &Path) -> Graph {
    let found = |name: &str| -> Option<String> {
        let path = Path::new(name);
        let there = !path.is_absolute() && old.join(path).is_file();
        there.then(|| relative(&old.join(path), new).to_string_lossy().into_owned())
    };
    let mut graph = graph.clone();
    for task in &mut graph.tasks {
        let Some(kernel) = task.kernel.clone() else { continue };
        if FILE_SOURCES.contains(&kernel.as_str()) {
            if let Some(Value::Text(path)) = task.params.get_mut("path")
                && let Some(there) = found(path)
            {
                *path = there;
            }
        } else if let Some((library, symbol)) = kernel.split_once(':')
            && !["cellweave", "python"].contains(&library)
            && let Some(there) = found(library)
        {
            // A bare name would be looked for among the system's libraries, too.
            let start = if there.contains('/') { "" } else { "./" };
            task.kernel = Some(format!("{start}{there}:{symbol}"));
        }
    }
    graph
}

/// `path` as it is written in `folder`; both are absolute.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let (path, folder) = (plain(path), plain(folder));
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use work::Task;

    #[test]
    fn a_path_is_written_from_the_new_folder() {
        let from =
            |path: &str, folder: &str| relative(Path::new(path), Path::new(folder)).display().to_string();
        assert_eq!(from("/a/b/x.wav", "/a/c/d"), "../../b/x.wav");
        assert_eq!(from("/a/b/x.wav", "/a/b"), "x.wav");
        assert_eq!(from("/a/b/../x.wav", "/a/./b"), "../x.wav");
    }

    #[test]
    fn files_that_are_read_move_and_everything_else_stays() {
        let old = std::env::temp_dir().join(format!("cellweave-moved-{}", std::process::id()));
        std::fs::create_dir_all(old.join("new")).unwrap();
        for name in ["in.raw", "libf.so"] {
            std::fs::write(old.join(name), "").unwrap();
        }
        let task = |kernel: &str, path: &str| Task {
            name: "t".into(),
            kernel: Some(kernel.into()),
            params: [("path".to_string(), Value::Text(path.into()))].into(),
            ..Task::default()
        };
        let tasks = vec![
            task("cellweave:read", "in.raw"),
            task("cellweave:write", "in.raw"),
            task("libf.so:f", "in.raw"),
            task("libnone.so:f", "x"),
            task("python:m:f", "x"),
        ];
        let moved = moved(&Graph { tasks, ..Graph::default() }, &old, &old.join("new"));
        std::fs::remove_dir_all(&old).unwrap();
        let path = |t: usize| moved.tasks[t].params["path"].clone();
        assert_eq!((path(0), path(1)), (Value::Text("../in.raw".into()), Value::Text("in.raw".into())));
        let kernels: Vec<&str> = moved.tasks[2..].iter().filter_map(|t| t.kernel.as_deref()).collect();
        assert_eq!(kernels, ["../libf.so:f", "libnone.so:f", "python:m:f"]);
    }
}
