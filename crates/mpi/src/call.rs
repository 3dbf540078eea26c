//! The C functions and the pointers that they are called with.
//!
//! `comm::mpi!` makes a function of the C interface. Each pointer argument reaches the body as an `In`, an `Out` or an
//! `InOut`, which knows the argument's name, and which borrows from the function's frame: whatever is made of it cannot
//! outlive the call. The C caller's promise is taken at that one place; a body reads and writes the caller's memory
//! without `unsafe`.
//!
//! A caller may pass one place twice, so no reference to the caller's memory is ever made: values are copied in and
//! out.

use crate::abi;
use crate::abi::values::MPI_ERR_ARG;
use crate::check::Failure;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

/// One call of a C function, in whose frame it stands.
///
/// ```compile_fail,E0597
/// use mpi::call::{Argument, Call, In};
///
/// let number = 7;
/// let kept: In<i32> = {
///     let call = Call::begin();
///     // SAFETY: `number` is valid.
///     unsafe { In::<i32>::given(&number, &"number", &call) }
/// };
/// kept.read(); // The call is over.
/// ```
#[derive(Debug)]
pub struct Call(());

impl Call {
    /// A call that lasts as long as the result.
    #[inline]
    pub fn begin() -> Self {
        Self(())
    }
}

/// The type of a C function's argument, as its body sees it.
pub trait Argument {
    /// What C passes.
    type Passed;
    /// The argument during one call.
    type Given<'call>;

    /// The argument that C passed under a name.
    ///
    /// # Safety
    /// A pointer is null or valid during the call for what the type does with it: `In` reads a value, `Out` writes one,
    /// `InOut` does both. It need not be aligned.
    unsafe fn given<'call>(passed: Self::Passed, name: Name, call: &'call Call) -> Self::Given<'call>;
}

/// An argument's name, as one pointer: so an argument fits in two registers.
pub type Name = &'static &'static str;

/// A value, or an array of `[T]`, that the function reads.
pub struct In<'call, T: ?Sized> {
    place: *const T,
    name: Name,
    call: PhantomData<&'call Call>,
}

/// The place for a result, or for an array of `[T]`.
pub struct Out<'call, T: ?Sized> {
    place: *mut T,
    name: Name,
    call: PhantomData<&'call Call>,
}

/// A value, or an array of `[T]`, that the function reads and replaces.
pub struct InOut<'call, T: ?Sized>(Out<'call, T>);

macro_rules! pointers {
    ($($pointer:ident $passed:ty, $place:ident => $made:expr, $name:ident;)*) => {$(
        impl<T: ?Sized> Clone for $pointer<'_, T> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T: ?Sized> Copy for $pointer<'_, T> {}

        impl<T> Argument for $pointer<'_, T> {
            type Passed = $passed;
            type Given<'call> = $pointer<'call, T>;

            #[inline]
            unsafe fn given<'call>($place: $passed, $name: Name, _: &'call Call) -> $pointer<'call, T> {
                $made
            }
        }
    )*};
}

pointers! {
    In *const T, place => In { place, name, call: PhantomData }, name;
    Out *mut T, place => Out { place, name, call: PhantomData }, name;
    InOut *mut T, place => InOut(Out { place, name, call: PhantomData }), name;
}

/// An argument that C declares as the pointer `C`, and that the body sees as a `P`: `void *` says nothing of what is
/// there, and a pointer of old is not `const` though the function only reads.
pub struct Declared<C, P>(PhantomData<(C, P)>);

macro_rules! declared {
    ($($passed:ty, $pointer:ident;)*) => {$(
        impl<C, T> Argument for Declared<$passed, $pointer<'_, T>> {
            type Passed = $passed;
            type Given<'call> = $pointer<'call, T>;

            #[inline]
            unsafe fn given<'call>(passed: $passed, name: Name, call: &'call Call) -> $pointer<'call, T> {
                // SAFETY: as the caller promises.
                unsafe { $pointer::given(passed.cast(), name, call) }
            }
        }
    )*};
}

declared! {
    *const C, In;
    *mut C, In;
    *mut C, Out;
}

/// Arguments that the body sees as C passes them.
macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        impl Argument for $type {
            type Passed = Self;
            type Given<'call> = Self;

            #[inline]
            unsafe fn given(passed: Self, _: Name, _: &Call) -> Self {
                passed
            }
        }
    )*};
}

// A `void *` is a buffer, which its count and datatype describe, or an address that is handed back to the program.
plain! {
    c_int, abi::Aint, abi::Count, usize, *const c_void, *mut c_void,
    abi::Comm, abi::Group, abi::Datatype, abi::Op, abi::Request, abi::Message, abi::Errhandler, abi::Info, abi::File,
}

impl<Function> Argument for Option<Function> {
    type Passed = Self;
    type Given<'call> = Self;

    #[inline]
    unsafe fn given(passed: Self, _: Name, _: &Call) -> Self {
        passed
    }
}

/// What an argument says of an array's length.
pub trait Length {
    /// Elements; 0 for a negative number, which the function refuses by itself.
    fn length(self) -> usize;
}

macro_rules! lengths {
    ($($type:ty)*) => {$(
        impl Length for $type {
            #[inline]
            fn length(self) -> usize {
                self.try_into().unwrap_or(0)
            }
        }
    )*};
}

lengths! { c_int abi::Aint abi::Count usize }

impl Length for InOut<'_, c_int> {
    fn length(self) -> usize {
        self.read().map_or(0, Length::length)
    }
}

#[cold]
fn null(name: &str) -> Failure {
    Failure::new(MPI_ERR_ARG, format_args!("{name} is a null pointer"))
}

#[cold]
fn null_array(name: &str, length: usize) -> Failure {
    Failure::new(MPI_ERR_ARG, format_args!("{name} is a null pointer; allowed is an array of {length}"))
}

/// The element of an array at an index; null in an array that is null.
///
/// # Panics
/// Beyond the array.
#[inline]
fn element<T>(array: *mut [T], index: usize) -> *mut T {
    assert!(index < array.len(), "an element beyond the array's end");
    let first = array.cast::<T>();
    if first.is_null() { first } else { first.wrapping_add(index) }
}

impl<'call, T> In<'call, T> {
    /// The array whose first element this is.
    ///
    /// # Safety
    /// The pointer is null, or the array has that many elements.
    #[inline]
    pub unsafe fn array(self, length: impl Length) -> In<'call, [T]> {
        In { place: ptr::slice_from_raw_parts(self.place, length.length()), name: self.name, call: self.call }
    }

    /// The value as one of another type.
    ///
    /// # Safety
    /// The memory of a `T` starts with a `U`.
    #[inline]
    pub unsafe fn cast<U>(self) -> In<'call, U> {
        In { place: self.place.cast(), name: self.name, call: self.call }
    }

    /// That there is a value.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn present(self) -> Result<(), Failure> {
        if self.place.is_null() { Err(null(self.name)) } else { Ok(()) }
    }

    /// The address, which may stand for something else than a value.
    #[inline]
    pub fn address(self) -> usize {
        self.place.addr()
    }

    /// Whether the caller passed a null pointer.
    #[inline]
    pub fn is_null(self) -> bool {
        self.place.is_null()
    }
}

impl<T: Copy> In<'_, T> {
    /// The value.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn read(self) -> Result<T, Failure> {
        self.present()?;
        // SAFETY: not null, so valid for reads during the call, as `given` was promised.
        Ok(unsafe { self.place.read_unaligned() })
    }
}

impl In<'_, c_char> {
    /// The text, without the 0 at its end.
    ///
    /// # Errors
    /// A null pointer.
    pub fn text(self) -> Result<Vec<u8>, Failure> {
        self.present()?;
        // SAFETY: not null, so text that ends with a 0, as `given` was promised.
        Ok(unsafe { CStr::from_ptr(self.place) }.to_bytes().to_vec())
    }
}

impl<'call, T: Copy> In<'call, [T]> {
    /// That there is an array, unless it is empty.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn present(self) -> Result<(), Failure> {
        if self.place.is_null() && !self.place.is_empty() {
            return Err(null_array(self.name, self.place.len()));
        }
        Ok(())
    }

    /// The element at an index. Ask `present` first.
    ///
    /// # Panics
    /// Beyond the array, and in one that is null.
    #[inline]
    pub fn get(self, index: usize) -> T {
        assert!(index < self.len() && !self.place.is_null(), "an element that is not there");
        // SAFETY: not null and within the length, so valid for reads during the call, as `given` was promised.
        unsafe { self.place.cast::<T>().add(index).read_unaligned() }
    }

    /// Elements.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.place.len()
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The argument's name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// A copy of the elements.
    ///
    /// # Errors
    /// A null pointer, unless the array is empty.
    pub fn to_vec(self) -> Result<Vec<T>, Failure> {
        self.present()?;
        Ok((0..self.len()).map(|index| self.get(index)).collect())
    }
}

impl<'call, T> Out<'call, T> {
    /// The array whose first element this is.
    ///
    /// # Safety
    /// The pointer is null, or the array has that many elements.
    #[inline]
    pub unsafe fn array(self, length: impl Length) -> Out<'call, [T]> {
        Out {
            place: ptr::slice_from_raw_parts_mut(self.place, length.length()),
            name: self.name,
            call: self.call,
        }
    }

    /// The place as one for another type.
    ///
    /// # Safety
    /// The memory of a `T` starts with a `U`.
    #[inline]
    pub unsafe fn cast<U>(self) -> Out<'call, U> {
        Out { place: self.place.cast(), name: self.name, call: self.call }
    }

    /// Whether the caller passed a null pointer.
    #[inline]
    pub fn is_null(self) -> bool {
        self.place.is_null()
    }

    /// The argument's name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The place as an array of one element.
    #[inline]
    pub fn alone(self) -> Out<'call, [T]> {
        // SAFETY: one value is an array of one.
        unsafe { self.array(1_usize) }
    }

    /// That there is a place.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn present(self) -> Result<(), Failure> {
        if self.place.is_null() { Err(null(self.name)) } else { Ok(()) }
    }

    /// Writes the result.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn write(self, value: T) -> Result<(), Failure> {
        self.present()?;
        self.offer(value);
        Ok(())
    }

    /// Writes the result, unless the caller wants none and passed a null pointer.
    #[inline]
    pub fn offer(self, value: T) {
        if !self.place.is_null() {
            // SAFETY: not null, so valid for writes during the call, as `given` was promised.
            unsafe { self.place.write_unaligned(value) };
        }
    }
}

impl<'call, T: Copy> Out<'call, [T]> {
    /// Whether the caller passed a null pointer.
    #[inline]
    pub fn is_null(self) -> bool {
        self.place.is_null()
    }

    /// That there is an array, unless it is empty.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn present(self) -> Result<(), Failure> {
        if self.place.is_null() && !self.place.is_empty() {
            return Err(null_array(self.name, self.place.len()));
        }
        Ok(())
    }

    /// The place of the element at an index.
    ///
    /// # Panics
    /// Beyond the array.
    #[inline]
    pub fn at(self, index: usize) -> Out<'call, T> {
        Out { place: element(self.place, index), name: self.name, call: self.call }
    }

    /// Writes values from the array's start on, as many as it has room for.
    ///
    /// # Errors
    /// A null pointer, unless there is nothing to write.
    pub fn write(self, values: impl IntoIterator<Item = T>) -> Result<(), Failure> {
        (0..self.place.len()).zip(values).try_for_each(|(index, value)| self.at(index).write(value))
    }
}

impl Out<'_, [c_char]> {
    /// Writes text with a 0 at its end, as much of it as there is room for. Bytes written, without the 0.
    ///
    /// # Errors
    /// A null pointer.
    pub fn write_text(self, text: &[u8]) -> Result<usize, Failure> {
        let Some(room) = self.place.len().checked_sub(1) else { return Ok(0) };
        let bytes = text.len().min(room);
        self.write(text[..bytes].iter().map(|&byte| byte as c_char).chain([0]))?;
        Ok(bytes)
    }
}

impl<'call, T: Copy> InOut<'call, T> {
    /// The array whose first element this is.
    ///
    /// # Safety
    /// The pointer is null, or the array has that many elements.
    #[inline]
    pub unsafe fn array(self, length: impl Length) -> InOut<'call, [T]> {
        // SAFETY: as the caller promises.
        InOut(unsafe { self.0.array(length) })
    }

    /// The value as an array of one element.
    #[inline]
    pub fn alone(self) -> InOut<'call, [T]> {
        // SAFETY: one value is an array of one.
        unsafe { self.array(1_usize) }
    }

    /// That there is a value.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn present(self) -> Result<(), Failure> {
        self.0.present()
    }

    /// The value.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn read(self) -> Result<T, Failure> {
        self.0.present()?;
        // SAFETY: not null, so valid for reads during the call, as `given` was promised.
        Ok(unsafe { self.0.place.read_unaligned() })
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// A null pointer.
    #[inline]
    pub fn write(self, value: T) -> Result<(), Failure> {
        self.0.write(value)
    }

    /// Replaces the value, if there is one.
    #[inline]
    pub fn offer(self, value: T) {
        self.0.offer(value);
    }
}

impl<'call, T: Copy> InOut<'call, [T]> {
    /// The element at an index.
    ///
    /// # Panics
    /// Beyond the array.
    #[inline]
    pub fn at(self, index: usize) -> InOut<'call, T> {
        InOut(self.0.at(index))
    }

    /// The array to be read only.
    #[inline]
    pub fn reading(self) -> In<'call, [T]> {
        In { place: self.0.place.cast_const(), name: self.0.name, call: self.0.call }
    }
}

/// Makes the arguments of a C function what its body sees: those that C passed are hidden.
macro_rules! arguments {
    ($($argument:ident $([$length:expr])?: $type:ty),*) => {
        #[allow(unused_variables)]
        let call = $crate::call::Call::begin();
        // SAFETY: the C caller promises that pointers are valid for what MPI 5.0 says of them.
        $(let $argument = unsafe {
            <$type as $crate::call::Argument>::given($argument, &stringify!($argument), &call)
        };)*
        // SAFETY: the C caller promises that arrays have the lengths that MPI 5.0 says; the signature repeats them.
        $($(let $argument = unsafe { $argument.array($length) };)?)*
    };
}
pub(crate) use arguments;

/// The memory of a test.
#[cfg(test)]
mod memory {
    use super::*;

    impl<'call, T> Out<'call, [T]> {
        pub(crate) fn of(array: &'call mut [T]) -> Self {
            Out { place: array, name: &"array", call: PhantomData }
        }
    }

    impl<T> Out<'_, T> {
        pub(crate) fn none() -> Self {
            Out { place: ptr::null_mut(), name: &"none", call: PhantomData }
        }
    }

    impl<'call, T> InOut<'call, T> {
        pub(crate) fn of(value: &'call mut T) -> Self {
            InOut(Out { place: value, name: &"value", call: PhantomData })
        }

        pub(crate) fn none() -> Self {
            InOut(Out::none())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `body` with a pointer as C functions do.
    fn with<A: Argument, R>(passed: A::Passed, body: impl FnOnce(A::Given<'_>) -> R) -> R {
        let call = Call::begin();
        // SAFETY: tests pass what is null or valid.
        body(unsafe { A::given(passed, &"rank", &call) })
    }

    #[test]
    fn a_null_pointer_is_refused_by_the_arguments_name() {
        let told = with::<In<c_int>, _>(ptr::null(), |rank| rank.read()).unwrap_err();
        assert_eq!((told.class(), told.text()), (MPI_ERR_ARG, "rank is a null pointer"));
        let told = with::<Out<c_int>, _>(ptr::null_mut(), |rank| rank.write(3)).unwrap_err();
        assert_eq!(told.text(), "rank is a null pointer");
        // SAFETY: null.
        let array = |ranks: In<'_, c_int>, length: c_int| unsafe { ranks.array(length) }.to_vec();
        let told = with::<In<c_int>, _>(ptr::null(), |ranks| array(ranks, 2)).unwrap_err();
        assert_eq!(told.text(), "rank is a null pointer; allowed is an array of 2");
        assert!(with::<In<c_int>, _>(ptr::null(), |ranks| array(ranks, 0)).unwrap().is_empty());
        assert!(with::<In<c_int>, _>(ptr::null(), |ranks| array(ranks, -5)).unwrap().is_empty());
    }

    #[test]
    fn what_the_caller_does_not_want_is_not_written() {
        with::<Out<c_int>, _>(ptr::null_mut(), |rank| rank.offer(3));
        let mut rank = 0;
        with::<Out<c_int>, _>(&mut rank, |rank| rank.offer(3));
        assert_eq!(rank, 3);
    }

    #[test]
    fn an_array_takes_as_many_values_as_it_has_room_for() {
        let mut ranks = [0; 3];
        Out::of(&mut ranks[..2]).write(1..9).unwrap();
        assert_eq!(ranks, [1, 2, 0]);
        Out::of(&mut ranks).write([7]).unwrap();
        assert_eq!(ranks, [7, 2, 0]);
    }

    #[test]
    fn text_is_cut_to_its_place_and_always_ends() {
        let mut place = [1 as c_char; 8];
        assert_eq!(Out::of(&mut place[..4]).write_text(b"eager").unwrap(), 3);
        assert_eq!(place.map(|c| c as u8), *b"eag\0\x01\x01\x01\x01");
        assert_eq!(Out::of(&mut place[..0]).write_text(b"eager").unwrap(), 0);
        assert_eq!(place[0] as u8, b'e');
    }

    #[test]
    fn one_place_may_be_passed_twice() {
        let mut number = 1;
        let place = &raw mut number;
        with::<InOut<c_int>, _>(place, |one| {
            with::<InOut<c_int>, _>(place, |other| {
                one.write(2).unwrap();
                other.write(other.read().unwrap() + 1).unwrap();
                assert_eq!(one.read().unwrap(), 3);
            });
        });
    }
}
