//! Arguments of calls, each kind with its range: what does not fit is a message and no `OverflowError`.

use crate::error::request;
use cellweave::ground::did_you_mean;
use cellweave::sim::dma::{DmaKind, ListElement, ListElements};
use cellweave::sim::numbers::{
    Bytes, Cycles, DataWord, LocalAddress, Ns, Payload, SignalRegister, SpeId, Tag, TagMask,
};
use cellweave::sim::{Address, LOCAL_STORE_BYTES};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::fmt::Display;

/// An argument of a call, read from what Python gives.
pub(crate) trait Argument {
    /// What it is read as; defaults are written so, too.
    type Given;

    /// The argument; a message when it is out of its range.
    fn given(value: &Bound<'_, PyAny>) -> PyResult<Self::Given>;
}

macro_rules! numbers {
    ($($name:ident($of:ty), $what:literal, $least:expr, $most:expr;)*) => {$(
        impl Argument for $name {
            type Given = $of;

            fn given(value: &Bound<'_, PyAny>) -> PyResult<$of> {
                value.extract().map_err(|e| out_of_range(value, e, $what, $least, $most))
            }
        }
    )*};
}

numbers! {
    LocalAddress(u32), "an offset in a local store", 0, LOCAL_STORE_BYTES - 1;
    Bytes(u32), "a number of bytes", 0, u32::MAX;
    Tag(u32), "a tag group", 0, 31;
    TagMask(u32), "a mask of tag groups", 0, u32::MAX;
    DataWord(u32), "a word of 32 bits", 0, u32::MAX;
    SignalRegister(u32), "a signal register", 1, 2;
    SpeId(usize), "an SPE's number", 0, usize::MAX;
    Ns(u64), "a time", 0, u64::MAX;
    Cycles(u64), "a time", 0, u64::MAX;
}

fn out_of_range<N: Display>(value: &Bound<'_, PyAny>, e: PyErr, what: &str, least: N, most: N) -> PyErr {
    if !e.is_instance_of::<PyOverflowError>(value.py()) {
        return e;
    }
    request(format!("{value} is not {what}; allowed: {least} to {most}"))
}

impl Argument for Address {
    type Given = Self;

    fn given(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ea = value.extract().map_err(|e| out_of_range(value, e, "an effective address", 0, u64::MAX))?;
        Ok(Self(ea))
    }
}

impl Argument for bool {
    type Given = Self;

    fn given(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract()
    }
}

impl Argument for Payload {
    type Given = Self;

    fn given(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::from(&*value.extract::<PyBackedBytes>()?))
    }
}

impl Argument for ListElements {
    type Given = Self;

    fn given(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let element = |pair: PyResult<Bound<'_, PyAny>>| {
            let (ea, bytes): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            Ok(ListElement::new(Address::given(&ea)?, Bytes::given(&bytes)?))
        };
        value.try_iter()?.map(element).collect::<PyResult<Vec<_>>>().map(Self)
    }
}

impl Argument for DmaKind {
    type Given = Self;

    fn given(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name: String = value.extract()?;
        let names = Self::ALL.map(|(name, _)| name);
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, kind)| kind).ok_or_else(|| {
            let near = did_you_mean(&name, names);
            request(format!("no DMA command `{name}`: {}{near}", names.join(", ")))
        })
    }
}
