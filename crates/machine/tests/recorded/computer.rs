//! The files of a recorded computer, in a directory; for the tests of this crate and of others.

use machine::discover::cpu_list;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/tests/recorded").join(name)
}

/// The files of a recorded computer.
pub(crate) fn files(name: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder(name).join("tree.txt")).unwrap();
    let mut files = Vec::new();
    for line in text.lines() {
        let (path, content) = line.split_once('\t').unwrap();
        let content = content.replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0");
        match path.split_once('{').map(|(start, rest)| (start, rest.split_once('}').unwrap())) {
            None => files.push((path.to_string(), content)),
            Some((start, (cpus, end))) => {
                for cpu in cpu_list(cpus).unwrap() {
                    files.push((format!("{start}{cpu}{end}"), content.clone()));
                }
            }
        }
    }
    files
}

/// A directory of its own that is removed when dropped.
pub(crate) struct Root(pub(crate) PathBuf);

impl Root {
    pub(crate) fn of(files: &[(String, String)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("cellweave-recorded-{}-{number}", std::process::id()));
        let root = Self(root);
        for (path, content) in files {
            root.put(path, content.as_bytes());
        }
        root
    }

    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
