//! Where the MPI library is, for programs that cannot tell by themselves.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The library's file.
const LIBRARY: &str = "libmpi_abi.so.1";
/// The variable that names the library for mpi4py's wheels: without it they look for other MPIs.
const MPI4PY_LIBRARY: &str = "MPI4PY_LIBMPI";
/// Folders where programs look for libraries. Some build systems link a program without the library's own folder.
const LIBRARY_FOLDERS: &str = "LD_LIBRARY_PATH";

/// What tells a program with this environment where the library is. Libraries and folders that the user has named come
/// first.
pub(crate) fn variables(environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let value = |wanted: &str| {
        let asked = environment.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        asked.or_else(|| std::env::var_os(wanted))
    };
    let Some(folder) = std::env::current_exe().ok().and_then(|launcher| folder(&launcher)) else {
        return Vec::new();
    };
    let mut folders = value(LIBRARY_FOLDERS).unwrap_or_default();
    if !folders.is_empty() {
        folders.push(":");
    }
    folders.push(&folder);
    let mut set = vec![(LIBRARY_FOLDERS.into(), folders)];
    if value(MPI4PY_LIBRARY).is_none() && value("MPI4PY_MPIABI").is_none() {
        set.push((MPI4PY_LIBRARY.into(), folder.join(LIBRARY).into()));
    }
    set
}

/// The library's folder: beside the launcher's, or in the Python package whose installer copied the launcher.
fn folder(launcher: &Path) -> Option<PathBuf> {
    let lib = launcher.parent()?.parent()?.join("lib");
    let has_library = |folder: &PathBuf| folder.join(LIBRARY).is_file();
    if has_library(&lib) {
        return Some(lib);
    }
    let mut packages: Vec<PathBuf> = Vec::new();
    for python in lib.read_dir().ok()?.flatten() {
        if python.file_name().as_encoded_bytes().starts_with(b"python") {
            packages.extend(["site-packages", "dist-packages"].map(|name| python.path().join(name)));
        }
    }
    packages.sort();
    // An editable installation names the folder that it stands for.
    let named =
        packages.iter().filter_map(|folder| std::fs::read_to_string(folder.join("cellweave.pth")).ok());
    let named: Vec<PathBuf> =
        named.flat_map(|text| text.lines().map(PathBuf::from).collect::<Vec<_>>()).collect();
    packages.into_iter().chain(named).map(|folder| folder.join("cellweave/mpi/lib")).find(has_library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_however_the_launcher_was_installed() {
        let root = std::env::temp_dir().join(format!("cellweave-library-{}", std::process::id()));
        let make = |lib: &str| {
            std::fs::create_dir_all(root.join(lib)).expect("a folder");
            std::fs::write(root.join(lib).join(LIBRARY), "").expect("a file");
            root.join(lib)
        };
        assert_eq!(folder(&root.join("none/bin/cellrun")), None);
        let beside = make("beside/lib");
        assert_eq!(folder(&root.join("beside/bin/cellrun")), Some(beside));
        let package = make("venv/lib/python3.11/site-packages/cellweave/mpi/lib");
        assert_eq!(folder(&root.join("venv/bin/cellrun")), Some(package));
        let edited = make("tree/python/cellweave/mpi/lib");
        let packages = root.join("editable/lib/python3.12/site-packages");
        std::fs::create_dir_all(&packages).expect("a folder");
        std::fs::write(packages.join("cellweave.pth"), format!("{}\n", root.join("tree/python").display()))
            .expect("a file");
        assert_eq!(folder(&root.join("editable/bin/cellrun")), Some(edited));
        std::fs::remove_dir_all(&root).expect("the folder goes");
    }
}
