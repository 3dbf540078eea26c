//! Attributes: values that a program attaches to an object, by keyvals (MPI 5.0, section 7.7). Communicators and
//! datatypes share this.
//!
//! Callbacks are the program's functions: call everything here only while not holding the state.

use crate::abi::prototypes;
use crate::abi::values::*;
use crate::call::{InOut, Out};
use crate::check::Failure;
use crate::comm::mpi;
use crate::runtime::Guarded;
use crate::runtime::{self, State};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, Weak};

/// Copies an attribute when its object is duplicated: object, keyval, extra state, value, place for the copy, place for
/// the flag.
type Copy = prototypes::MPI_Comm_copy_attr_function;
/// Called before an attribute goes: object, keyval, value, extra state.
type Delete = prototypes::MPI_Comm_delete_attr_function;

/// The kind of object that a keyval is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    Comm,
    Datatype,
    Window,
}

impl Of {
    fn objects(self) -> &'static str {
        match self {
            Self::Comm => "communicators",
            Self::Datatype => "datatypes",
            Self::Window => "windows",
        }
    }
}

/// What a keyval stands for.
#[derive(Debug)]
pub(crate) struct Keyval {
    of: Of,
    /// `MPI_NULL_COPY_FN`, `MPI_DUP_FN` or a function's address.
    copy: usize,
    /// `MPI_NULL_DELETE_FN` or a function's address.
    delete: usize,
    extra: *mut c_void,
}
// SAFETY: `extra` is never followed here, only handed back to the program.
unsafe impl Send for Keyval {}
// SAFETY: as above.
unsafe impl Sync for Keyval {}

/// The keyvals that a program made, by number; numbers are never used again.
pub(crate) struct Keyvals {
    live: BTreeMap<c_int, Arc<Keyval>>,
    /// Freed ones: they are in use as long as attributes have them.
    freed: BTreeMap<c_int, Weak<Keyval>>,
    next: c_int,
}

/// Above the predefined keyvals.
const FIRST_KEYVAL: c_int = 0x1000;

/// Keyvals that programs made.
static KEYVALS: Guarded<Keyvals> =
    Guarded::new(Keyvals { live: BTreeMap::new(), freed: BTreeMap::new(), next: FIRST_KEYVAL });

#[derive(Clone)]
struct Attribute {
    number: c_int,
    keyval: Arc<Keyval>,
    value: usize,
}

/// The attributes of one object, in the order in which they were set.
#[derive(Default)]
pub(crate) struct Attributes(Mutex<Vec<Attribute>>);

/// Makes a keyval for a kind of object.
///
/// # Errors
/// A null pointer for the result.
pub(crate) fn create_keyval(
    of: Of,
    copy: usize,
    delete: usize,
    keyval: Out<'_, c_int>,
    extra: *mut c_void,
) -> Result<(), Failure> {
    keyval.present()?;
    let mut state = runtime::enter();
    let keyvals = KEYVALS.of_mut(&mut state);
    keyval.write(keyvals.next)?;
    keyvals.live.insert(keyvals.next, Arc::new(Keyval { of, copy, delete, extra }));
    keyvals.next += 1;
    Ok(())
}

/// Frees a keyval; attributes that were set by it stay, with their callbacks. As long as there are any, it may be freed
/// again: it is extant until then (MPI 5.0, section 7.7.2).
///
/// # Errors
/// A number that is no keyval of this kind.
pub(crate) fn free_keyval(of: Of, keyval: InOut<'_, c_int>) -> Result<(), Failure> {
    let number = keyval.read()?;
    let mut state = runtime::enter();
    let keyvals = KEYVALS.of_mut(&mut state);
    keyvals.freed.retain(|_, freed| freed.strong_count() > 0);
    let is_in_use = keyvals.freed.get(&number).and_then(Weak::upgrade).is_some_and(|freed| freed.of == of);
    if !is_in_use {
        let freed = find(&state, of, number)?;
        let keyvals = KEYVALS.of_mut(&mut state);
        keyvals.live.remove(&number);
        keyvals.freed.insert(number, Arc::downgrade(&freed));
    }
    keyval.write(MPI_KEYVAL_INVALID)
}

fn find(state: &State, of: Of, number: c_int) -> Result<Arc<Keyval>, Failure> {
    let refuse = |found: String| {
        let text = format_args!("keyval is {found}; allowed are those made for {}", of.objects());
        Err(Failure::new(MPI_ERR_KEYVAL, text))
    };
    match KEYVALS.of(state).live.get(&number) {
        Some(found) if found.of == of => Ok(found.clone()),
        Some(found) => refuse(format!("made for {}", found.of.objects())),
        None if number == MPI_KEYVAL_INVALID => refuse("MPI_KEYVAL_INVALID".into()),
        None if (FIRST_KEYVAL..KEYVALS.of(state).next).contains(&number) => {
            refuse(format!("{number}, which was freed"))
        }
        None if (MPI_TAG_UB..=MPI_UNIVERSE_SIZE).contains(&number) => {
            refuse(format!("{number}, a predefined one, which cannot be changed"))
        }
        None => refuse(format!("{number}, which is no keyval")),
    }
}

fn callback_failed(which: &str, number: c_int, code: c_int) -> Failure {
    Failure::new(code, format_args!("the {which} callback of keyval {number} returned error code {code}"))
}

impl Attribute {
    /// Calls the delete callback.
    fn delete(&self, object: usize) -> Result<(), Failure> {
        if self.keyval.delete == MPI_NULL_DELETE_FN {
            return Ok(());
        }
        // SAFETY: the program gave this address as that of a delete function; null was distinguished.
        let delete: Delete = unsafe { std::mem::transmute(self.keyval.delete) };
        // SAFETY: the arguments that MPI promises to a delete function; the state is not held.
        let code = unsafe { delete(object, self.number, self.value as *mut c_void, self.keyval.extra) };
        if code == MPI_SUCCESS { Ok(()) } else { Err(callback_failed("delete", self.number, code)) }
    }

    /// The value that a duplicate of the object gets, if any.
    fn copied(&self, object: usize) -> Result<Option<usize>, Failure> {
        match self.keyval.copy {
            MPI_NULL_COPY_FN => return Ok(None),
            MPI_DUP_FN => return Ok(Some(self.value)),
            _ => {}
        }
        // SAFETY: the program gave this address as that of a copy function; the two constants were distinguished.
        let copy: Copy = unsafe { std::mem::transmute(self.keyval.copy) };
        let (mut value, mut flag) = (0usize, 0);
        let place = (&raw mut value).cast();
        // SAFETY: the arguments that MPI promises to a copy function, with places that live during the call; the state
        // is not held.
        let code = unsafe {
            copy(object, self.number, self.keyval.extra, self.value as *mut c_void, place, &mut flag)
        };
        match code {
            MPI_SUCCESS => Ok((flag != 0).then_some(value)),
            code => Err(callback_failed("copy", self.number, code)),
        }
    }
}

/// Call this only while not holding the state.
impl Attributes {
    fn find(&self, number: c_int) -> Option<Attribute> {
        self.0.lock().unwrap().iter().find(|attribute| attribute.number == number).cloned()
    }

    /// Sets an attribute of `object` (a handle of the kind `of`); what was there is deleted first.
    ///
    /// # Errors
    /// A number that is no keyval of this kind; what the delete callback returned.
    pub(crate) fn set(
        &self,
        of: Of,
        object: usize,
        number: c_int,
        value: *mut c_void,
    ) -> Result<(), Failure> {
        let keyval = find(&runtime::enter(), of, number)?;
        if let Some(before) = self.find(number) {
            before.delete(object)?;
        }
        let mut attributes = self.0.lock().unwrap();
        // The attribute that is set last is deleted first, also when it replaces one.
        attributes.retain(|attribute| attribute.number != number);
        attributes.push(Attribute { number, keyval, value: value as usize });
        Ok(())
    }

    /// The value of an attribute, if it is set.
    ///
    /// # Errors
    /// A number that is no keyval of this kind.
    pub(crate) fn get(&self, of: Of, number: c_int) -> Result<Option<*mut c_void>, Failure> {
        match self.find(number) {
            Some(attribute) => Ok(Some(attribute.value as *mut c_void)),
            None => find(&runtime::enter(), of, number).map(|_| None),
        }
    }

    /// Deletes an attribute; nothing happens when it isn't set.
    ///
    /// # Errors
    /// A number that is no keyval of this kind; what the delete callback returned, and the attribute stays.
    pub(crate) fn delete(&self, of: Of, object: usize, number: c_int) -> Result<(), Failure> {
        let Some(attribute) = self.find(number) else {
            return find(&runtime::enter(), of, number).map(|_| ());
        };
        attribute.delete(object)?;
        self.0.lock().unwrap().retain(|other| other.number != number);
        Ok(())
    }

    /// Copies the attributes of `object`, as their callbacks say, to its duplicate, whose attributes these are.
    ///
    /// # Errors
    /// What a copy callback returned; the attributes before it are copied.
    pub(crate) fn copy_from(&self, from: &Self, object: usize) -> Result<(), Failure> {
        let attributes = from.0.lock().unwrap().clone();
        for attribute in attributes {
            if let Some(value) = attribute.copied(object)? {
                self.0.lock().unwrap().push(Attribute { value, ..attribute });
            }
        }
        Ok(())
    }

    /// Moves all attributes of another object here, without callbacks.
    pub(crate) fn take_from(&self, from: &Self) {
        *self.0.lock().unwrap() = std::mem::take(&mut *from.0.lock().unwrap());
    }

    /// Deletes all attributes of `object`, the last first.
    ///
    /// # Errors
    /// What a delete callback returned; its attribute and those before it stay.
    pub(crate) fn clear(&self, object: usize) -> Result<(), Failure> {
        loop {
            let Some(last) = self.0.lock().unwrap().last().cloned() else { return Ok(()) };
            last.delete(object)?;
            self.0.lock().unwrap().retain(|other| other.number != last.number);
        }
    }
}

/// Gives a program the value that `get` found, and whether there is one.
///
/// # Errors
/// Null pointers.
pub(crate) fn store(
    found: Option<*mut c_void>,
    attribute_val: Out<'_, *mut c_void>,
    flag: Out<'_, c_int>,
) -> Result<(), Failure> {
    flag.write(found.is_some() as c_int)?;
    found.map_or(Ok(()), |found| attribute_val.write(found))
}

mpi! {
    /// Makes a keyval for windows.
    fn PMPI_Win_create_keyval(copy: usize, delete: usize, win_keyval: Out<c_int>, extra_state: *mut c_void) {
        create_keyval(Of::Window, copy, delete, win_keyval, extra_state)
    }

    /// Frees a keyval for windows.
    fn PMPI_Win_free_keyval(win_keyval: InOut<c_int>) {
        free_keyval(Of::Window, win_keyval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn keyval(copy: usize, delete: usize) -> c_int {
        let mut number = 0;
        create_keyval(
            Of::Comm,
            copy,
            delete,
            Out::of(std::slice::from_mut(&mut number)).at(0),
            std::ptr::null_mut(),
        )
        .unwrap();
        number
    }

    static DELETED: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn delete(_: usize, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
        DELETED.store(value as usize, Ordering::Relaxed);
        if value as usize == 13 { MPI_ERR_OTHER } else { MPI_SUCCESS }
    }

    unsafe extern "C" fn add_one(
        _: usize,
        _: c_int,
        _: *mut c_void,
        value: *mut c_void,
        copy: *mut c_void,
        flag: *mut c_int,
    ) -> c_int {
        // SAFETY: the places that a copy function gets.
        unsafe {
            *copy.cast::<usize>() = value as usize + 1;
            *flag = 1;
        }
        MPI_SUCCESS
    }

    fn value(attributes: &Attributes, number: c_int) -> Option<usize> {
        attributes.get(Of::Comm, number).unwrap().map(|value| value as usize)
    }

    #[test]
    fn a_duplicate_gets_what_the_copy_callbacks_say() {
        let (none, same, more) =
            (keyval(MPI_NULL_COPY_FN, 0), keyval(MPI_DUP_FN, 0), keyval(add_one as *const () as usize, 0));
        let (old, new) = (Attributes::default(), Attributes::default());
        for number in [none, same, more] {
            old.set(Of::Comm, 7, number, 40 as *mut c_void).unwrap();
        }
        new.copy_from(&old, 7).unwrap();
        assert_eq!([none, same, more].map(|number| value(&new, number)), [None, Some(40), Some(41)]);
    }

    #[test]
    fn an_attribute_whose_delete_callback_fails_stays() {
        let number = keyval(0, delete as *const () as usize);
        let attributes = Attributes::default();
        attributes.set(Of::Comm, 7, number, 13 as *mut c_void).unwrap();
        assert_eq!(attributes.delete(Of::Comm, 7, number).unwrap_err().class(), MPI_ERR_OTHER);
        assert_eq!(attributes.clear(7).unwrap_err().class(), MPI_ERR_OTHER);
        assert_eq!(
            attributes.set(Of::Comm, 7, number, std::ptr::null_mut()).unwrap_err().class(),
            MPI_ERR_OTHER
        );
        assert_eq!(value(&attributes, number), Some(13));
    }

    #[test]
    fn what_was_set_last_is_deleted_first() {
        static ORDER: Mutex<Vec<usize>> = Mutex::new(Vec::new());
        unsafe extern "C" fn note(_: usize, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
            ORDER.lock().unwrap().push(value as usize);
            MPI_SUCCESS
        }
        let numbers = [1, 2, 3].map(|_| keyval(0, note as *const () as usize));
        let attributes = Attributes::default();
        for (number, value) in numbers.into_iter().zip(1usize..).chain([(numbers[0], 4)]) {
            attributes.set(Of::Comm, 7, number, value as *mut c_void).unwrap();
        }
        attributes.clear(7).unwrap();
        assert_eq!(*ORDER.lock().unwrap(), [1, 4, 3, 2]);
    }

    #[test]
    fn a_freed_keyval_is_refused_and_its_attributes_stay() {
        let mut number = keyval(MPI_DUP_FN, 0);
        let (old, new) = (Attributes::default(), Attributes::default());
        let was = number;
        old.set(Of::Comm, 7, number, 5 as *mut c_void).unwrap();
        free_keyval(Of::Comm, InOut::of(&mut number)).unwrap();
        assert_eq!(number, MPI_KEYVAL_INVALID);
        new.copy_from(&old, 7).unwrap();
        assert_eq!(value(&new, was), Some(5));
        let failure = old.set(Of::Comm, 7, was, std::ptr::null_mut()).unwrap_err();
        assert!(failure.text().contains("freed"), "{}", failure.text());
        // As long as it is in use, it may be freed again, under another handle.
        let again = |of| free_keyval(of, InOut::of(&mut was.clone()));
        assert!(again(Of::Comm).is_ok() && again(Of::Datatype).is_err());
        new.clear(7).unwrap();
        assert!(again(Of::Comm).is_ok());
        old.clear(7).unwrap();
        assert!(again(Of::Comm).unwrap_err().text().contains("freed"));
    }

    #[test]
    fn a_keyval_for_other_objects_is_refused() {
        let mut number = 0;
        create_keyval(
            Of::Datatype,
            0,
            0,
            Out::of(std::slice::from_mut(&mut number)).at(0),
            std::ptr::null_mut(),
        )
        .unwrap();
        let failure = Attributes::default().get(Of::Comm, number).unwrap_err();
        assert_eq!(failure.class(), MPI_ERR_KEYVAL);
        assert!(failure.text().contains("made for datatypes"), "{}", failure.text());
    }
}
