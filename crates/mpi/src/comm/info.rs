//! Infos: ordered pairs of strings that hint (MPI 5.0, chapter 10). Before Init too.

use crate::abi;
use crate::abi::values::*;
use crate::call::{Declared, In, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::COMMS;
use crate::comm::mpi;
use crate::handles::{Handles, Kind};
use crate::runtime::Guarded;
use crate::runtime::{self, State};
use std::ffi::{CStr, c_char, c_int};

/// Keys with their values, in the order in which keys were first set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Info(Vec<(Vec<u8>, Vec<u8>)>);

/// Infos by handle; the predefined one apart.
pub(crate) static INFOS: Guarded<Handles<Info>> = Guarded::new(Handles::new(Kind::Info));
/// `MPI_INFO_ENV`, from its first use.
static ENVIRONMENT: Guarded<Option<Info>> = Guarded::new(None);

impl Info {
    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|pair| pair.0 == key).map(|pair| pair.1.as_slice())
    }

    /// Sets a key's value, whatever it was before.
    pub(crate) fn set(&mut self, key: &[u8], value: &[u8]) {
        match self.0.iter_mut().find(|pair| pair.0 == key) {
            Some(pair) => pair.1 = value.to_vec(),
            None => self.0.push((key.to_vec(), value.to_vec())),
        }
    }

    /// Sets all that another info has.
    pub(crate) fn add(&mut self, other: &Self) {
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
    let ranks = COMMS.of(&runtime::enter()).world.as_ref().map_or(1, |world| world.size());
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
pub(crate) fn hints(state: &State, handle: abi::Info) -> Result<Info, Failure> {
    match handle.0 {
        MPI_INFO_NULL => Ok(Info::default()),
        MPI_INFO_ENV => Ok(ENVIRONMENT.of(state).clone().unwrap_or_default()),
        other => Ok(INFOS.of(state).get(other).ok_or_else(|| refused(other))?.clone()),
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
        return Ok(read(INFOS.of(&state).get(handle.0).ok_or_else(|| refused(handle.0))?));
    }
    if ENVIRONMENT.of(&runtime::enter()).is_none() {
        let made = environment(&own_arguments());
        *ENVIRONMENT.of_mut(&mut runtime::enter()) = Some(made);
    }
    Ok(read(ENVIRONMENT.of(&runtime::enter()).as_ref().expect("made just now")))
}

fn checked_key(key: In<'_, c_char>) -> Result<Vec<u8>, Failure> {
    let key = key.text()?;
    if key.is_empty() || key.len() >= MPI_MAX_INFO_KEY as usize {
        let most = MPI_MAX_INFO_KEY - 1;
        let text = format_args!("key has {} bytes; allowed are 1 to {most}", key.len());
        return Err(Failure::new(MPI_ERR_INFO_KEY, text));
    }
    Ok(key)
}

fn checked_value(value: In<'_, c_char>) -> Result<Vec<u8>, Failure> {
    let value = value.text()?;
    if value.len() >= MPI_MAX_INFO_VAL as usize {
        let most = MPI_MAX_INFO_VAL - 1;
        let text = format_args!("value has {} bytes; allowed are 0 to {most}", value.len());
        return Err(Failure::new(MPI_ERR_INFO_VALUE, text));
    }
    Ok(value)
}

/// The room that a program says it has for a value.
fn room(bytes: c_int, name: &str) -> Result<usize, Failure> {
    check::count(bytes, name).map_err(|failure| Failure::new(MPI_ERR_ARG, failure.text()))
}

mpi! {
    /// An info without keys.
    fn PMPI_Info_create(info: Out<abi::Info>) {
        info.write(abi::Info(INFOS.of_mut(&mut runtime::enter()).insert(Info::default())))
    }

    /// How this program was started; `argc` and `argv` as main got them, or 0 and null.
    fn PMPI_Info_create_env(
        argc: c_int, argv[argc]: Declared<*mut *mut c_char, In<*const c_char>>, info: Out<abi::Info>,
    ) {
        info.present()?;
        let arguments = match argv.to_vec() {
            Ok(argv) if !argv.is_empty() => {
                // SAFETY: main's arguments are texts that end with a 0.
                let text = |text| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
                argv.into_iter().map(text).collect()
            }
            _ => own_arguments(),
        };
        let made = environment(&arguments);
        info.write(abi::Info(INFOS.of_mut(&mut runtime::enter()).insert(made)))
    }

    /// Frees an info.
    fn PMPI_Info_free(info: InOut<abi::Info>) {
        let handle = info.read()?.0;
        INFOS.of_mut(&mut runtime::enter()).remove(handle).ok_or_else(|| refused(handle))?;
        info.write(abi::Info(MPI_INFO_NULL))
    }

    /// Sets a key's value.
    fn PMPI_Info_set(info: abi::Info, key: In<c_char>, value: In<c_char>) {
        let (key, value) = (checked_key(key)?, checked_value(value)?);
        INFOS.of_mut(&mut runtime::enter()).get_mut(info.0).ok_or_else(|| refused(info.0))?.set(&key, &value);
        Ok(())
    }

    /// Removes a key.
    fn PMPI_Info_delete(info: abi::Info, key: In<c_char>) {
        let key = checked_key(key)?;
        if INFOS.of_mut(&mut runtime::enter()).get_mut(info.0).ok_or_else(|| refused(info.0))?.remove(&key) {
            return Ok(());
        }
        let name = String::from_utf8_lossy(&key);
        Err(Failure::new(MPI_ERR_INFO_NOKEY, format_args!("key is \"{name}\", which this info does not have")))
    }

    /// A key's value, and its final 0.
    fn PMPI_Info_get(
        info: abi::Info, key: In<c_char>, valuelen: c_int, value[valuelen.saturating_add(1)]: Out<c_char>,
        flag: Out<c_int>,
    ) {
        let key = checked_key(key)?;
        flag.present()?;
        room(valuelen, "valuelen")?;
        let found = reading(info, |info| info.get(&key).map(<[u8]>::to_vec))?;
        flag.write(found.is_some() as c_int)?;
        found.map_or(Ok(()), |found| value.write_text(&found).map(|_| ()))
    }

    /// A key's value in at most `buflen` bytes with the final 0; `buflen` becomes what the whole needs.
    fn PMPI_Info_get_string(
        info: abi::Info, key: In<c_char>, buflen: InOut<c_int>, value[buflen]: Out<c_char>, flag: Out<c_int>,
    ) {
        let key = checked_key(key)?;
        flag.present()?;
        room(buflen.read()?, "buflen")?;
        let found = reading(info, |info| info.get(&key).map(<[u8]>::to_vec))?;
        flag.write(found.is_some() as c_int)?;
        let Some(found) = found else { return Ok(()) };
        buflen.write(found.len() as c_int + 1)?;
        value.write_text(&found).map(|_| ())
    }

    /// Bytes of a key's value, without the final 0.
    fn PMPI_Info_get_valuelen(info: abi::Info, key: In<c_char>, valuelen: Out<c_int>, flag: Out<c_int>) {
        let key = checked_key(key)?;
        flag.present()?;
        let found = reading(info, |info| info.get(&key).map(<[u8]>::len))?;
        flag.write(found.is_some() as c_int)?;
        found.map_or(Ok(()), |bytes| valuelen.write(bytes as c_int))
    }

    /// How many keys there are.
    fn PMPI_Info_get_nkeys(info: abi::Info, nkeys: Out<c_int>) {
        nkeys.write(reading(info, |info| info.0.len())? as c_int)
    }

    /// The key number `n`, from 0.
    fn PMPI_Info_get_nthkey(info: abi::Info, n: c_int, key[MPI_MAX_INFO_KEY]: Out<c_char>) {
        let keys = reading(info, |info| info.0.len())?;
        let found = reading(info, |info| info.0.get(n as usize).map(|pair| pair.0.clone()))?;
        let Some(found) = found.filter(|_| n >= 0) else {
            let text = format_args!("n is {n}, and the info has {keys} keys; allowed are numbers of keys, from 0");
            return Err(Failure::new(MPI_ERR_ARG, text));
        };
        key.write_text(&found).map(|_| ())
    }

    /// An info with the same keys and values, in the same order.
    fn PMPI_Info_dup(info: abi::Info, newinfo: Out<abi::Info>) {
        newinfo.present()?;
        let copy = reading(info, Info::clone)?;
        newinfo.write(abi::Info(INFOS.of_mut(&mut runtime::enter()).insert(copy)))
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
        assert_eq!(Out::of(&mut place[..3]).write_text(b"abc").unwrap(), 2);
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
