//! Kernels in shared objects.

use super::{Code, Opened, PortSpec, abi};
use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A shared object that stays loaded until this is dropped.
#[derive(Debug)]
pub struct SharedObject {
    handle: *mut c_void,
    path: PathBuf,
}

// SAFETY: the loader's functions may be called from any thread; the handle is only a key for them.
unsafe impl Send for SharedObject {}
// SAFETY: as above.
unsafe impl Sync for SharedObject {}

impl Drop for SharedObject {
    fn drop(&mut self) {
        // SAFETY: the handle came from dlopen and is closed once; kernels hold an Arc of this library while they live.
        unsafe { libc::dlclose(self.handle) };
    }
}

impl SharedObject {
    /// Loads `name`: relative to `folder` (the application file's), then as given (the loader's search path).
    ///
    /// # Errors
    /// A sentence: where it was looked for, or what the loader said.
    pub fn load(name: &str, folder: Option<&Path>) -> Result<SharedObject, String> {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ["c", "cc", "cpp", "rs"].contains(&ending) {
            let compiler =
                if ending == "rs" { "cargo build" } else { "gcc -shared -fPIC -I$(cellweave --include)" };
            return Err(format!("'{name}' is source code: name the library that `{compiler}` makes of it"));
        }
        let beside = folder.map(|f| f.join(name)).filter(|p| p.is_file());
        let given = Path::new(name);
        let path = match beside {
            Some(path) => path.canonicalize().unwrap_or(path),
            None if given.is_file() => given.canonicalize().unwrap_or_else(|_| given.to_path_buf()),
            None if name.contains('/') => {
                let tried =
                    folder.map(|f| f.join(name).display().to_string()).unwrap_or_else(|| name.to_string());
                return Err(format!("there is no file '{tried}'"));
            }
            None => given.to_path_buf(),
        };
        let c_path = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| format!("'{}' contains a NUL", name.escape_debug()))?;
        // SAFETY: the path is NUL terminated. Loading runs the object's constructors: naming a kernel is asking for its
        // code to run.
        let handle = unsafe { libc::dlopen(c_path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            let why = loader_error();
            return Err(if path == given && !name.contains('/') {
                let folder = folder.map(|f| format!("'{}' and ", f.display())).unwrap_or_default();
                format!("'{name}' was not found in {folder}the loader's path ({why})")
            } else {
                format!("'{}' cannot be loaded: {why}", path.display())
            });
        }
        Ok(SharedObject { handle, path })
    }

    /// Opens the kernel that is called `symbol`.
    ///
    /// # Errors
    /// A sentence: no such symbol (with the nearest), another ABI version, no `fire`, a wrong descriptor.
    pub fn open(self: &Arc<SharedObject>, symbol: &str) -> Result<Opened, String> {
        let c_symbol = CString::new(symbol).map_err(|_| "the symbol contains a NUL".to_string())?;
        // SAFETY: the handle is open, the name NUL terminated.
        let at = unsafe { libc::dlsym(self.handle, c_symbol.as_ptr()) };
        if at.is_null() {
            let exported = std::fs::read(&self.path).map(|b| exported(&b)).unwrap_or_default();
            let hint = match exported.is_empty() {
                true => String::new(),
                false => format!("; {}", super::ports::allowed(symbol, exported.iter().map(String::as_str))),
            };
            return Err(format!("'{}' has no symbol '{symbol}'{hint}", self.path.display()));
        }
        if !at.cast::<abi::CwKernel>().is_aligned() {
            return Err(format!("'{symbol}' of '{}' is no cw_kernel", self.path.display()));
        }
        // SAFETY: the application says that a cw_kernel stands there; its first two fields are checked before the rest
        // is believed, and the library is kept loaded.
        unsafe { open_descriptor(at.cast(), self.clone()) }
            .map_err(|why| format!("'{symbol}' of '{}': {why}", self.path.display()))
    }
}

/// Checks a descriptor and copies what it says.
///
/// # Safety
/// At least the first eight bytes at `kernel` must be readable; all of it, as `cellweave.h` says, if those are the
/// version and the size of this ABI.
pub(crate) unsafe fn open_descriptor(
    kernel: *const abi::CwKernel,
    keep: Arc<dyn Any + Send + Sync>,
) -> Result<Opened, String> {
    // SAFETY: the caller's promise.
    let (version, bytes) = unsafe { (kernel.cast::<u32>().read(), kernel.cast::<u32>().add(1).read()) };
    if version != abi::ABI_VERSION {
        return Err(match version {
            1..=999 => format!("it was built for ABI {version}, this is ABI {}", abi::ABI_VERSION),
            _ => "it is no cw_kernel (its first word is no ABI version)".to_string(),
        });
    }
    if bytes as usize != size_of::<abi::CwKernel>() {
        return Err(format!(
            "its struct_bytes is {bytes}, cw_kernel of ABI {} has {}",
            abi::ABI_VERSION,
            size_of::<abi::CwKernel>()
        ));
    }
    // SAFETY: version and size are ours, so the caller promises a whole descriptor.
    let kernel = unsafe { kernel.read() };
    let fire = kernel.fire.ok_or("it has no fire function")?;
    const PORTS_MAX: u32 = 1 << 16;
    if kernel.inputs.max(kernel.outputs) > PORTS_MAX {
        return Err(format!("it says it has {} inputs and {} outputs", kernel.inputs, kernel.outputs));
    }
    let list = |ports: *const abi::CwPort, count: u32| {
        if ports.is_null() && count > 0 {
            return Err(format!("it says it has {count} ports and lists none"));
        }
        // SAFETY: the list has `count` entries.
        unsafe { super::slice(ports, count as usize).iter().map(|p| PortSpec::from_raw(p)).collect() }
    };
    Ok(Opened {
        inputs: list(kernel.input_ports, kernel.inputs)?,
        outputs: list(kernel.output_ports, kernel.outputs)?,
        code: Code::Native { init: kernel.init, fire, finish: kernel.finish },
        keep,
        rescue: None,
        may_block: false,
    })
}

fn loader_error() -> String {
    // SAFETY: dlerror gives NULL or a NUL terminated text that lives until the next call on this thread.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "no reason given".into()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

/// Data symbols that an ELF file exports; empty when it is not one that this reads (64 bit, this byte order).
fn exported(file: &[u8]) -> Vec<String> {
    fn number<const N: usize>(file: &[u8], at: u64) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = file.get(at..at.checked_add(N)?)?;
        Some(bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
    }
    fn read(file: &[u8]) -> Option<Vec<String>> {
        if !file.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let (table, size, count) =
            (number::<8>(file, 0x28)?, number::<2>(file, 0x3a)?, number::<2>(file, 0x3c)?);
        let section = |i: u64| table.checked_add(i.checked_mul(size)?);
        const DYNSYM: u64 = 11;
        let dynsym = (0..count).filter_map(section).find(|&s| number::<4>(file, s + 4) == Some(DYNSYM))?;
        let (at, bytes, strings) = (
            number::<8>(file, dynsym + 0x18)?,
            number::<8>(file, dynsym + 0x20)?,
            number::<4>(file, dynsym + 0x28)?,
        );
        let strings = number::<8>(file, section(strings)? + 0x18)?;
        let mut names = Vec::new();
        for i in 0..(bytes / 24).min(100_000) {
            let symbol = at.checked_add(i * 24)?;
            const OBJECT: u64 = 1;
            let (info, defined) = (number::<1>(file, symbol + 4)?, number::<2>(file, symbol + 6)? != 0);
            if info & 0xf == OBJECT && defined {
                let start = usize::try_from(strings.checked_add(number::<4>(file, symbol)?)?).ok()?;
                let text = file.get(start..)?.split(|&b| b == 0).next()?;
                names.push(String::from_utf8_lossy(text).into_owned());
            }
        }
        Some(names)
    }
    read(file).unwrap_or_default()
}
