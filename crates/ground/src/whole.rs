//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all: `fill` writes a file of another name beside it, which then takes its name. A file
/// that is there is replaced and keeps its permissions; a link to a file stays a link. Pipes and devices cannot be
/// replaced: `fill` writes into them.
///
/// # Errors
/// As the system's, or `fill`'s; a file that was there is as it was before.
///
/// ```
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("cellweave-whole-{}", std::process::id()));
/// ground::write_whole(&path, |out| out.write_all(b"all of it"))?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let found = fs::metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        fill(&mut out)?;
        return out.flush();
    }
    let path = if found.is_some() { fs::canonicalize(path)? } else { path.to_path_buf() };
    let part = Unfinished::of(&path)?;
    let mut out = BufWriter::new(File::create(&part.0)?);
    if let Some(found) = found {
        out.get_ref().set_permissions(found.permissions())?;
    }
    fill(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()?;
    fs::rename(&part.0, path)
}

/// A file that is removed when dropped, unless it has taken another name.
struct Unfinished(PathBuf);

impl Unfinished {
    fn of(path: &Path) -> io::Result<Self> {
        let nameless = || io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file");
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or_else(nameless)?);
        name.push(format!(".{}.part", std::process::id()));
        Ok(Self(path.with_file_name(name)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Nothing is there when it has its name; what stopped the writing matters more than this.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    /// A folder that is removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("cellweave-whole-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn files(&self) -> usize {
            fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn write(path: &Path, text: &str) -> io::Result<()> {
        write_whole(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_appears_whole_and_keeps_what_it_was_when_writing_fails() {
        let folder = Folder::new("fails");
        let path = folder.0.join("a");
        write(&path, "first").unwrap();
        let stopped = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(stopped.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        write(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(folder.files(), 1, "nothing is left beside it");
        assert!(write(&folder.0.join("no/where"), "x").is_err());
        assert!(write(&folder.0, "x").is_err(), "a folder is no file");
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions_and_a_link_stays_one() {
        let folder = Folder::new("link");
        let (path, link) = (folder.0.join("a"), folder.0.join("b"));
        write(&path, "first").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("a", &link).unwrap();
        write(&link, "second").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_device_is_written_to_and_stays_a_device() {
        // Through a link of our own: a fault here must not replace a device that others use.
        let folder = Folder::new("device");
        let full = folder.0.join("full");
        symlink("/dev/full", &full).unwrap();
        let error = write(&full, "x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fs::metadata(&full).unwrap().file_type().is_char_device());
        assert_eq!(folder.files(), 1);
    }
}
