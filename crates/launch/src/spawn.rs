//! Starting a rank's process: found first, then started without copying the launcher's memory.

use crate::offer::F_SETSIG;
use host::Affinity;
use std::ffi::{CStr, CString, OsStr, OsString, c_int, c_void};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::ptr;

/// Why a program can't be started, and the exit code that shells give for it.
#[derive(Debug, PartialEq)]
pub(crate) struct Unusable {
    /// 127: not found; 126: not a program.
    pub(crate) code: i32,
    /// What is wrong, and what to do.
    pub(crate) text: String,
}

/// The file of a program that was typed as `name`: a path when it has a slash, else on `PATH`, else in `directory`,
/// where its ranks start.
///
/// # Errors
/// When there is none, or it can't be executed.
pub(crate) fn find(name: &OsStr, directory: &Path, path: &OsStr) -> Result<PathBuf, Unusable> {
    let shown = name.to_string_lossy();
    let told = |code, text: String| Unusable { code, text };
    if name.is_empty() {
        return Err(told(127, "the program's name is empty".into()));
    }
    if !name.as_bytes().contains(&b'/') {
        let on_path = std::env::split_paths(path)
            .map(|folder| directory.join(folder).join(name))
            .find(|file| check(file).is_ok());
        let here = directory.join(name);
        return match on_path {
            Some(file) => Ok(file),
            None if check(&here).is_ok() => Ok(here),
            None => Err(told(127, format!("{shown} is neither on PATH nor in {}", directory.display()))),
        };
    }
    // Without the `.` of `./prog`.
    let file: PathBuf = directory.join(name).components().collect();
    match check(&file) {
        Ok(()) => Ok(file),
        Err(NotExecutable::None(error)) => Err(told(127, format!("{shown}: {error}"))),
        Err(NotExecutable::Folder) => Err(told(126, format!("{shown} is a folder"))),
        Err(NotExecutable::Mode) => {
            Err(told(126, format!("{shown} may not be executed; chmod +x {shown} allows it")))
        }
    }
}

enum NotExecutable {
    None(&'static str),
    Folder,
    Mode,
}

fn check(file: &Path) -> Result<(), NotExecutable> {
    let found = std::fs::metadata(file).map_err(|error| {
        NotExecutable::None(match error.kind() {
            io::ErrorKind::PermissionDenied => "may not be reached: permission denied",
            _ => "there is no such program",
        })
    })?;
    if found.is_dir() {
        return Err(NotExecutable::Folder);
    }
    // SAFETY: a C string; asks only. (The mode's bits alone don't say it for access lists.)
    let allowed = unsafe { libc::access(text(file.as_os_str()).as_ptr(), libc::X_OK) } == 0;
    if allowed && found.permissions().mode() & 0o111 != 0 { Ok(()) } else { Err(NotExecutable::Mode) }
}

/// A C string; what follows a 0 byte, which no argument can have, is left out.
pub(crate) fn text(word: &OsStr) -> CString {
    let bytes = word.as_bytes();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// The environment with changes: `NAME=VALUE` each, the last of a name counts.
pub(crate) fn environment(changes: &[(OsString, OsString)]) -> Vec<CString> {
    let mut all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let inherited = all.len();
    for (name, value) in changes {
        match all.iter().position(|(known, _)| known == name) {
            Some(place) => all[place].1.clone_from(value),
            None => all.push((name.clone(), value.clone())),
        }
    }
    debug_assert!(all.len() >= inherited);
    all.into_iter()
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            CString::new(name.into_vec()).unwrap_or_default()
        })
        .collect()
}

/// A process to start. All of it is prepared beforehand, because the child runs in this process's memory until it
/// executes the program.
pub(crate) struct Start<'a> {
    /// The file.
    pub(crate) file: &'a CStr,
    /// The arguments, the program's name as typed first.
    pub(crate) arguments: &'a [CString],
    /// The environment, as `NAME=VALUE`.
    pub(crate) environment: &'a [CString],
    /// Where it starts.
    pub(crate) directory: &'a CStr,
    /// Its standard input, output and error; above 2.
    pub(crate) streams: [RawFd; 3],
    /// A descriptor that it keeps.
    pub(crate) kept: RawFd,
    /// The reading end, by its name in `/proc`, of a pipe whose other end only this process has. When the pipe breaks,
    /// the kernel kills the started process's group, even if the process itself has ended.
    pub(crate) lifeline: &'a CStr,
    /// The process group to join; 0: its own.
    pub(crate) group: libc::pid_t,
    /// Where it may run; nothing: where this process may.
    pub(crate) cpus: Option<&'a Affinity>,
    /// Signals blocked when the launcher was started.
    pub(crate) mask: libc::sigset_t,
    /// The limit of descriptors that the launcher was started with.
    pub(crate) descriptors: libc::rlimit,
}

/// The lowest descriptor number for a rank's line: scripts and shells use the low ones.
const LIFELINE_FD: RawFd = 200;

/// The result of a start.
pub(crate) struct Started {
    /// The process.
    pub(crate) pid: libc::pid_t,
    /// Why it could not be pinned, if so; it runs all the same.
    pub(crate) refused: Option<io::Error>,
}

/// The memory that child and parent share until the child executes the program.
struct Shared<'a> {
    start: &'a Start<'a>,
    arguments: Vec<*const libc::c_char>,
    shell: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    parent: libc::pid_t,
    failed: c_int,
    refused: c_int,
}

impl Start<'_> {
    /// Starts the process. It dies with this one (with its main thread).
    ///
    /// # Errors
    /// The kernel's, when there is no process more, or the file can't be executed.
    pub(crate) fn spawn(&self) -> io::Result<Started> {
        let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
            strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
        };
        // The shell runs a script whose first line names no interpreter, as everywhere.
        let mut shell = vec![c"/bin/sh".as_ptr(), self.file.as_ptr()];
        shell.extend(pointers(&self.arguments[1..]));
        let mut shared = Shared {
            start: self,
            arguments: pointers(self.arguments),
            shell,
            environment: pointers(self.environment),
            parent: std::process::id() as libc::pid_t,
            failed: 0,
            refused: 0,
        };
        const STACK: usize = 64 * 1024;
        let mut stack = vec![0u128; STACK / 16];
        // SAFETY: the child runs `child` on its own stack, in our memory, while we are stopped (CLONE_VFORK); it
        // touches nothing but `shared` and makes system calls only.
        let pid = unsafe {
            let top = stack.as_mut_ptr().add(stack.len());
            libc::clone(
                child,
                top.cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                ptr::from_mut(&mut shared).cast(),
            )
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: written by the child, which has left our memory.
        let (failed, refused) =
            unsafe { (ptr::read_volatile(&shared.failed), ptr::read_volatile(&shared.refused)) };
        if failed != 0 {
            // SAFETY: our own child, that has ended.
            unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
            return Err(io::Error::from_raw_os_error(failed));
        }
        Ok(Started { pid, refused: (refused != 0).then(|| io::Error::from_raw_os_error(refused)) })
    }
}

fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)
}

extern "C" fn child(shared: *mut c_void) -> c_int {
    // SAFETY: the parent's `Shared`, which waits for us.
    let shared = unsafe { &mut *shared.cast::<Shared>() };
    let start = shared.start;
    // SAFETY: system calls on numbers and on memory that the parent made; no allocation, no lock.
    unsafe {
        libc::setpgid(0, start.group);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != shared.parent {
            libc::_exit(1);
        }
        if let Some(cpus) = start.cpus
            && cpus.apply().is_err()
        {
            shared.refused = errno();
        }
        for (target, &source) in start.streams.iter().enumerate() {
            if libc::dup2(source, target as c_int) < 0 {
                shared.failed = errno();
                libc::_exit(127);
            }
        }
        libc::fcntl(start.kept, libc::F_SETFD, 0);
        hold(start.lifeline, start.group);
        libc::setrlimit(libc::RLIMIT_NOFILE, &start.descriptors);
        // The runtime of this program ignores it; nobody else should.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &start.mask, ptr::null_mut());
        if libc::chdir(start.directory.as_ptr()) != 0 {
            shared.failed = errno();
            libc::_exit(127);
        }
        libc::execve(start.file.as_ptr(), shared.arguments.as_ptr(), shared.environment.as_ptr());
        if errno() == libc::ENOEXEC {
            libc::execve(shared.shell[0], shared.shell.as_ptr(), shared.environment.as_ptr());
        }
        shared.failed = errno();
        libc::_exit(127)
    }
}

/// Opens a pipe for this process, which all processes that it starts inherit. When the pipe breaks, the kernel kills
/// the process's group, or only the process when the group is another one's.
///
/// # Safety
/// Makes only system calls, because the child shares its parent's memory.
unsafe fn hold(lifeline: &CStr, group: libc::pid_t) {
    // SAFETY: numbers, and a name that the parent made. It is opened and not inherited, because each opening has its
    // own process to kill.
    unsafe {
        let opened = libc::open(lifeline.as_ptr(), libc::O_RDONLY | libc::O_NONBLOCK);
        let fd = libc::fcntl(opened, libc::F_DUPFD, LIFELINE_FD);
        libc::close(opened);
        let own = libc::getpid();
        libc::fcntl(fd, F_SETSIG, libc::SIGKILL);
        libc::fcntl(fd, libc::F_SETOWN, if group == 0 { -own } else { own });
        libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let path = OsStr::new("/nowhere:/bin:/usr/bin");
        assert_eq!(find(OsStr::new("sh"), Path::new("/"), path).unwrap(), Path::new("/bin/sh"));
        assert_eq!(find(OsStr::new("./sh"), Path::new("/bin"), path).unwrap(), Path::new("/bin/sh"));
        assert_eq!(find(OsStr::new("sh"), Path::new("/bin"), OsStr::new("")).unwrap(), Path::new("/bin/sh"));
        let code = |name: &str| find(OsStr::new(name), Path::new("/"), path).unwrap_err().code;
        assert_eq!(
            (code("no-such-program"), code("/bin"), code("/etc/passwd"), code("/nowhere/x")),
            (127, 126, 126, 127)
        );
    }

    #[test]
    fn the_last_of_a_variables_values_counts() {
        let pair = |value: &str| (OsString::from("CELLWEAVE_TEST_ONLY"), OsString::from(value));
        let all = environment(&[pair("1"), pair("2")]);
        let found: Vec<_> =
            all.iter().filter(|v| v.to_bytes().starts_with(b"CELLWEAVE_TEST_ONLY=")).collect();
        assert_eq!(found, [c"CELLWEAVE_TEST_ONLY=2"]);
    }
}
