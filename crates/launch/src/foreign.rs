//! Other MPIs: their programs under our launcher, and our programs under theirs. Either would silently run as many jobs
//! of one rank each. The list of libraries that a program needs (ELF, `DT_NEEDED`) tells which MPI it was built for.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The message for a program that needs another MPI: which one, and what to do. Nothing for other programs and scripts.
///
/// A program that also needs the standard ABI's library counts as one of ours.
pub(crate) fn built_for_another(program: &Path) -> Option<String> {
    let needed = needed(program)?;
    if needed.iter().any(|library| library.starts_with("libmpi_abi.so.")) {
        return None;
    }
    let (library, name) = needed.iter().find_map(|library| Some((library, name_of(library)?)))?;
    Some(format!(
        "{} was built for {name} (it needs {library}); build it for this MPI with cellcc or cellcxx, or start it with \
         its own launcher",
        program.display()
    ))
}

/// The MPI that a library belongs to.
fn name_of(library: &str) -> Option<&'static str> {
    let version = |prefix: &str| library.strip_prefix(prefix).and_then(|rest| rest.split('.').next());
    match version("libmpi.so.") {
        Some("12") => return Some("MPICH or Intel MPI, by MPICH's own ABI"),
        Some("0" | "1" | "20" | "40" | "80") => return Some("Open MPI"),
        Some(_) => return Some("another MPI"),
        None => {}
    }
    ["libmpich.so.", "libmpichcxx.so.", "libmpichfort.so."]
        .into_iter()
        .any(|prefix| library.starts_with(prefix))
        .then_some("MPICH")
}

/// The message for a running process that has loaded another MPI's library (through an interpreter, for instance).
pub(crate) fn loaded_another(pid: libc::pid_t) -> Option<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let paths = || maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if paths().any(|path| file(path).starts_with("libmpi_abi.so.")) {
        return None;
    }
    let (path, name) = paths().find_map(|path| Some((path, name_of(&file(path))?)))?;
    Some(format!(
        "has loaded {path} ({name}), so that every rank will think that it is alone; what loads it must be built for \
         this MPI with \
         cellcc (mpi4py: MPI4PY_BUILD_MPIABI=1 pip install --no-binary mpi4py mpi4py)"
    ))
}

/// Variables in which other launchers give the number of ranks, and the launcher of each.
const LAUNCHERS: [(&str, &str); 8] = [
    ("OMPI_COMM_WORLD_SIZE", "Open MPI"),
    ("PMI_SIZE", "MPICH or Intel MPI"),
    ("MPI_LOCALNRANKS", "MPICH or Intel MPI"),
    ("MV2_COMM_WORLD_SIZE", "MVAPICH"),
    ("PALS_NRANKS", "Cray's PALS"),
    ("FLUX_JOB_SIZE", "Flux"),
    ("JSM_NAMESPACE_SIZE", "IBM's JSM"),
    ("SLURM_STEP_NUM_TASKS", "Slurm (srun)"),
];

/// Says that another MPI's launcher started this process as one of several ranks, and what to do. `variable` gives the
/// value of a variable of the environment.
pub(crate) fn started_by_another(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let sized = LAUNCHERS.iter().find_map(|(name, launcher)| {
        let ranks: usize = variable(name)?.trim().parse().ok()?;
        // A batch script also has the variables of the step, but is not one of its tasks.
        let no_task = *name == "SLURM_STEP_NUM_TASKS" && variable("SLURM_PROCID").is_none();
        (ranks > 1 && !no_task).then(|| {
            format!(
                "started by the launcher of {launcher} as one of {ranks} ranks ({name}={ranks}), but this program runs \
                 on \
                 cellweave's MPI: start it with cellrun -n {ranks}, or unset {name} to run it alone"
            )
        })
    });
    // PMIx alone does not give the number of ranks; a rank above 0 is one of several.
    sized.or_else(|| {
        let rank: u64 = variable("PMIX_RANK")?.trim().parse().ok().filter(|&rank| rank > 0)?;
        Some(format!(
            "started by a PMIx launcher as rank {rank}, but this program runs on cellweave's MPI: start it with \
             cellrun, or unset \
             PMIX_RANK to run it alone"
        ))
    })
}

const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
/// More than any program has; a file with more is not an ELF file that we understand.
const MOST_BYTES: u64 = 1 << 24;

/// Little-endian numbers in a piece of a file.
struct Piece(Vec<u8>);

impl Piece {
    fn read(file: &File, offset: u64, bytes: u64) -> Option<Self> {
        let mut piece = vec![0; usize::try_from(bytes).ok().filter(|_| bytes <= MOST_BYTES)?];
        file.read_exact_at(&mut piece, offset).ok()?;
        Some(Self(piece))
    }

    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let bytes = self.0.get(at..at + bytes)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn string(&self, at: u64) -> Option<String> {
        let rest = self.0.get(usize::try_from(at).ok()?..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

/// The libraries that a program names; nothing when it is not a 64-bit little-endian ELF file, or names none.
fn needed(program: &Path) -> Option<Vec<String>> {
    let file = File::open(program).ok()?;
    let header = Piece::read(&file, 0, 64)?;
    if header.0[..6] != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    let (size, count) = (header.number(54, 2)?, header.number(56, 2)?);
    let table = Piece::read(&file, header.number(32, 8)?, size * count)?;
    // Kind, offset in the file, address, bytes in the file.
    let segments: Vec<[u64; 4]> = (0..count as usize)
        .map(|i| {
            let at = i * size as usize;
            Some([
                table.number(at, 4)?,
                table.number(at + 8, 8)?,
                table.number(at + 16, 8)?,
                table.number(at + 32, 8)?,
            ])
        })
        .collect::<Option<_>>()?;
    let dynamic = segments.iter().find(|segment| segment[0] == PT_DYNAMIC)?;
    let entries = Piece::read(&file, dynamic[1], dynamic[3])?;
    let entries: Vec<(u64, u64)> = (0..entries.0.len() / 16)
        .map_while(|i| Some((entries.number(i * 16, 8)?, entries.number(i * 16 + 8, 8)?)))
        .take_while(|&(tag, _)| tag != 0)
        .collect();
    let value = |wanted| entries.iter().find(|entry| entry.0 == wanted).map(|entry| entry.1);
    let address = value(DT_STRTAB)?;
    let [_, offset, start, _] = segments.iter().find(|[kind, _, start, bytes]| {
        *kind == PT_LOAD && (*start..start.saturating_add(*bytes)).contains(&address)
    })?;
    let strings = Piece::read(&file, offset + (address - start), value(DT_STRSZ)?)?;
    entries.iter().filter(|entry| entry.0 == DT_NEEDED).map(|entry| strings.string(entry.1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_program_are_read() {
        // This test itself is a program.
        let libraries = needed(&std::env::current_exe().unwrap()).unwrap();
        assert!(libraries.iter().any(|library| library.starts_with("libc.so.")), "{libraries:?}");
        assert_eq!(built_for_another(&std::env::current_exe().unwrap()), None);
    }

    #[test]
    fn what_is_no_program_is_let_through() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
        assert_eq!(built_for_another(&source), None);
        assert_eq!(built_for_another(Path::new("/nowhere/to/be/found")), None);
    }

    #[test]
    fn another_launchers_ranks_are_told_from_a_program_alone() {
        let from = |pairs: &'static [(&str, &str)]| {
            started_by_another(|name| {
                pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into())
            })
        };
        assert_eq!(from(&[]), None);
        assert_eq!(from(&[("PMI_SIZE", "1")]), None);
        assert_eq!(from(&[("SLURM_STEP_NUM_TASKS", "4")]), None);
        let text = from(&[("OMPI_COMM_WORLD_SIZE", "4")]).unwrap();
        assert!(text.contains("Open MPI as one of 4 ranks") && text.contains("cellrun -n 4"), "{text}");
        assert!(from(&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "2")]).is_some());
        assert_eq!(from(&[("PMIX_RANK", "0")]), None);
        assert!(from(&[("PMIX_RANK", "3")]).unwrap().contains("as rank 3"));
    }

    #[test]
    fn each_mpi_is_known_by_its_library() {
        assert_eq!(name_of("libmpi.so.40"), Some("Open MPI"));
        assert_eq!(name_of("libmpi.so.12"), Some("MPICH or Intel MPI, by MPICH's own ABI"));
        assert_eq!(name_of("libmpich.so.12"), Some("MPICH"));
        assert_eq!(name_of("libmpi_abi.so.1"), None);
        assert_eq!(name_of("libmpifr.so.1"), None);
    }
}
