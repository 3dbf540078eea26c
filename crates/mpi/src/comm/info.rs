//! Infos: ordered pairs of strings that hint (MPI 5.0, chapter 10). Before Init too.

use crate::abi;
use crate::abi::values::*;
use crate::check::{self, Failure, mpi};
use crate::runtime::{self, State};
use std::ffi::{CStr, c_char, c_int};

/// Keys with their values, in the order in which keys were first set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(Vec<(Vec<u8>, Vec<u8>)>);

impl Info {
    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|pair| pair.0 == key).map(|pair| pair.1.as_slice())
    }

    /// Sets a key's value, whatever it was before.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        match self.0.iter_mut().find(|pair| pair.0 == key) {
            Some(pair) => pair.1 = value.to_vec(),
            None => self.0.push((key.to_vec(), value.to_vec())),
        }
    }

    /// Sets all that another info has.
    pub fn add(&mut self, other: &Self) {
        for (key, value) in &other.0 {
            self.set(key, value);
        }
    }

    fn remove(&mut self, key: &[u8]) -> bool {
        let before = self.0.len();
        self.0.retain(|pair| pair.0 != key);
        self.0.len() < before
    }
}

/// What `MPI_INFO_ENV` says: how this program was started.
fn environment(arguments: &[Vec<u8>]) -> Info {
    let mut info = Info::default();
    if let Some(command) = arguments.first() {
        info.set(b"command", command);
        let rest: Vec<&[u8]> = arguments[1..].iter().map(Vec::as_slice).collect();
        if !rest.is_empty() {
            info.set(b"argv", &rest.join(&b' '));
        }
    }
    let ranks = runtime::enter().world.as_ref().map_or(1, |world| world.size());
    info.set(b"maxprocs", ranks.to_string().as_bytes());
    if let Ok(folder) = std::env::current_dir() {
        info.set(b"wdir", folder.as_os_str().as_encoded_bytes());
    }
    info.set(b"arch", std::env::consts::ARCH.as_bytes());
    if let Ok(host) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        info.set(b"host", host.trim().as_bytes());
    }
    for pair in &mut info.0 {
        pair.1.truncate(MPI_MAX_INFO_VAL as usize - 1);
    }
    info
}

fn own_arguments() -> Vec<Vec<u8>> {
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let mut arguments: Vec<Vec<u8>> = line.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
    arguments.pop(); // what follows the last 0
    arguments
}

/// The info of a handle; an empty one of `MPI_INFO_NULL`.
///
/// # Errors
/// Freed, or something else.
pub fn hints(state: &State, handle: abi::Info) -> Result<Info, Failure> {
    match handle.0 {
        MPI_INFO_NULL => Ok(Info::default()),
        MPI_INFO_ENV => Ok(state.environment.clone().unwrap_or_default()),
        other => Ok(state.infos.get(other).ok_or_else(|| refused(other))?.clone()),
    }
}

fn refused(handle: usize) -> Failure {
    if handle == MPI_INFO_ENV {
        return Failure::new(MPI_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed or freed");
    }
    check::not_an("info", "info", handle, MPI_ERR_INFO)
}

/// Calls `read` with the info of a handle.
fn reading<T>(handle: abi::Info, read: impl FnOnce(&Info) -> T) -> Result<T, Failure> {
    if handle.0 != MPI_INFO_ENV {
        let state = runtime::enter();
        return Ok(read(state.infos.get(handle.0).ok_or_else(|| refused(handle.0))?));
    }
    if runtime::enter().environment.is_none() {
        let made = environment(&own_arguments());
        runtime::enter().environment = Some(made);
    }
    Ok(read(runtime::enter().environment.as_ref().expect("made just now")))
}

fn key<'a>(key: *const c_char) -> Result<&'a [u8], Failure> {
    let key = check::string(key, "key")?.to_bytes();
    if key.is_empty() || key.len() >= MPI_MAX_INFO_KEY as usize {
        let most = MPI_MAX_INFO_KEY - 1;
        let text = format_args!("key has {} bytes; allowed are 1 to {most}", key.len());
        return Err(Failure::new(MPI_ERR_INFO_KEY, text));
    }
    Ok(key)
}

fn value<'a>(value: *const c_char) -> Result<&'a [u8], Failure> {
    let value = check::string(value, "value")?.to_bytes();
    if value.len() >= MPI_MAX_INFO_VAL as usize {
        let most = MPI_MAX_INFO_VAL - 1;
        let text = format_args!("value has {} bytes; allowed are 0 to {most}", value.len());
        return Err(Failure::new(MPI_ERR_INFO_VALUE, text));
    }
    Ok(value)
}

/// Copies a string and its final 0 to a place of `room` bytes, cut to fit.
///
/// # Safety
/// `place` is writable for `room` bytes, or `room` is 0.
unsafe fn store(text: &[u8], place: *mut c_char, room: usize) {
    let Some(most) = room.checked_sub(1) else { return };
    let bytes = text.len().min(most);
    // SAFETY: `bytes` and the final 0 fit.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), place, bytes);
        *place.add(bytes) = 0;
    }
}

mpi! {
    /// An info without keys.
    fn PMPI_Info_create(info: *mut abi::Info) {
        *check::output(info, "info")? = abi::Info(runtime::enter().infos.insert(Info::default()));
        Ok(())
    }

    /// How this program was started; `argc` and `argv` as main got them, or 0 and null.
    fn PMPI_Info_create_env(argc: c_int, argv: *const *const c_char, info: *mut abi::Info) {
        let place = check::output(info, "info")?;
        let arguments = if argc > 0 && !argv.is_null() {
            // SAFETY: main's arguments: `argc` strings.
            (0..argc as usize).map(|i| unsafe { CStr::from_ptr(*argv.add(i)) }.to_bytes().to_vec()).collect()
        } else {
            own_arguments()
        };
        let made = environment(&arguments);
        *place = abi::Info(runtime::enter().infos.insert(made));
        Ok(())
    }

    /// Frees an info.
    fn PMPI_Info_free(info: *mut abi::Info) {
        let place = check::output(info, "info")?;
        runtime::enter().infos.remove(place.0).ok_or_else(|| refused(place.0))?;
        *place = abi::Info(MPI_INFO_NULL);
        Ok(())
    }

    /// Sets a key's value.
    fn PMPI_Info_set(info: abi::Info, key_: *const c_char, value_: *const c_char) {
        let (key, value) = (key(key_)?, value(value_)?);
        runtime::enter().infos.get_mut(info.0).ok_or_else(|| refused(info.0))?.set(key, value);
        Ok(())
    }

    /// Removes a key.
    fn PMPI_Info_delete(info: abi::Info, key_: *const c_char) {
        let key = key(key_)?;
        if runtime::enter().infos.get_mut(info.0).ok_or_else(|| refused(info.0))?.remove(key) {
            return Ok(());
        }
        let name = String::from_utf8_lossy(key);
        Err(Failure::new(MPI_ERR_INFO_NOKEY, format_args!("key is \"{name}\", which this info does not have")))
    }

    /// A key's value; the place holds `valuelen + 1` bytes.
    fn PMPI_Info_get(info: abi::Info, key_: *const c_char, valuelen: c_int, value: *mut c_char, flag: *mut c_int) {
        let (key, flag) = (key(key_)?, check::output(flag, "flag")?);
        let room = check::count(valuelen, "valuelen").map_err(|failure| Failure::new(MPI_ERR_ARG, failure.text()))?;
        let found = reading(info, |info| info.get(key).map(<[u8]>::to_vec))?;
        *flag = found.is_some() as c_int;
        if let Some(found) = found {
            check::output(value, "value")?;
            // SAFETY: the program's place of `valuelen + 1` bytes.
            unsafe { store(&found, value, room + 1) };
        }
        Ok(())
    }

    /// A key's value in at most `buflen` bytes with the final 0; `buflen` becomes what the whole needs.
    fn PMPI_Info_get_string(info: abi::Info, key_: *const c_char, buflen: *mut c_int, value: *mut c_char, flag: *mut c_int) {
        let (key, flag, buflen) = (key(key_)?, check::output(flag, "flag")?, check::output(buflen, "buflen")?);
        let room = check::count(*buflen, "buflen").map_err(|failure| Failure::new(MPI_ERR_ARG, failure.text()))?;
        let found = reading(info, |info| info.get(key).map(<[u8]>::to_vec))?;
        *flag = found.is_some() as c_int;
        if let Some(found) = found {
            *buflen = found.len() as c_int + 1;
            if room > 0 {
                check::output(value, "value")?;
            }
            // SAFETY: the program's place of `buflen` bytes.
            unsafe { store(&found, value, room) };
        }
        Ok(())
    }

    /// Bytes of a key's value, without the final 0.
    fn PMPI_Info_get_valuelen(info: abi::Info, key_: *const c_char, valuelen: *mut c_int, flag: *mut c_int) {
        let (key, flag) = (key(key_)?, check::output(flag, "flag")?);
        let found = reading(info, |info| info.get(key).map(<[u8]>::len))?;
        *flag = found.is_some() as c_int;
        if let Some(bytes) = found {
            *check::output(valuelen, "valuelen")? = bytes as c_int;
        }
        Ok(())
    }

    /// How many keys there are.
    fn PMPI_Info_get_nkeys(info: abi::Info, nkeys: *mut c_int) {
        *check::output(nkeys, "nkeys")? = reading(info, |info| info.0.len())? as c_int;
        Ok(())
    }

    /// The key number `n`, from 0, in a place of `MPI_MAX_INFO_KEY` bytes.
    fn PMPI_Info_get_nthkey(info: abi::Info, n: c_int, key: *mut c_char) {
        let keys = reading(info, |info| info.0.len())?;
        let found = reading(info, |info| info.0.get(n as usize).map(|pair| pair.0.clone()))?;
        let Some(found) = found.filter(|_| n >= 0) else {
            let text = format_args!("n is {n}, and the info has {keys} keys; allowed are numbers of keys, from 0");
            return Err(Failure::new(MPI_ERR_ARG, text));
        };
        check::output(key, "key")?;
        // SAFETY: the program's place of MPI_MAX_INFO_KEY bytes; a key is shorter.
        unsafe { store(&found, key, MPI_MAX_INFO_KEY as usize) };
        Ok(())
    }

    /// An info with the same keys and values, in the same order.
    fn PMPI_Info_dup(info: abi::Info, newinfo: *mut abi::Info) {
        let place = check::output(newinfo, "newinfo")?;
        let copy = reading(info, Info::clone)?;
        *place = abi::Info(runtime::enter().infos.insert(copy));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_when_a_value_is_replaced() {
        let mut info = Info::default();
        info.set(b"a", b"1");
        info.set(b"b", b"2");
        info.set(b"a", b"3");
        assert_eq!(info.0, [(b"a".to_vec(), b"3".to_vec()), (b"b".to_vec(), b"2".to_vec())]);
        assert!(info.remove(b"a") && !info.remove(b"a"));
    }

    #[test]
    fn a_value_is_cut_to_the_room_and_ends_with_0() {
        let mut place = [1 as c_char; 4];
        // SAFETY: three of four bytes.
        unsafe { store(b"abc", place.as_mut_ptr(), 3) };
        assert_eq!(place, [b'a', b'b', 0, 1].map(|byte| byte as c_char));
    }

    #[test]
    fn the_environment_says_how_the_program_was_started() {
        let info = environment(&[b"prog".to_vec(), b"-x".to_vec(), b"1".to_vec()]);
        assert_eq!(info.get(b"command"), Some(&b"prog"[..]));
        assert_eq!(info.get(b"argv"), Some(&b"-x 1"[..]));
        assert!(info.get(b"wdir").is_some());
    }
}
