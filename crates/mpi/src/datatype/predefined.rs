//! One `Datatype` for each predefined handle.

use super::Datatype;
use super::basic::{self, Basic, PAIRS, VALUES, place};
use super::compose::{BlockPart, compose};
use super::contents::Contents;
use super::layout::Placed;
use super::signature::Signature;
use crate::abi;
use crate::comm::attributes::Attributes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

static TABLE: LazyLock<[Option<Arc<Datatype>>; VALUES]> = LazyLock::new(|| {
    let mut table = [const { None }; VALUES];
    let at = |handle: usize| place(abi::Datatype(handle)).unwrap_or_else(|| unreachable!());
    for basic in Basic::all() {
        table[at(basic.handle().0)] = Some(Arc::new(single(basic)));
    }
    for &(handle, name, value, index) in PAIRS {
        let member = |value: usize| table[at(value)].clone().unwrap_or_else(|| unreachable!());
        let mut made = pair(&member(value), &member(index));
        made.predefined = Some(abi::Datatype(handle));
        made.name = Mutex::new(name.into());
        table[at(handle)] = Some(Arc::new(made));
    }
    table
});

/// The datatype of a predefined handle; nothing for all others.
#[inline]
pub(super) fn get(handle: abi::Datatype) -> Option<&'static Arc<Datatype>> {
    TABLE[basic::place(handle)?].as_ref()
}

fn single(basic: Basic) -> Datatype {
    let size = basic.size();
    Datatype {
        size,
        lb: 0,
        extent: size as isize,
        true_lb: 0,
        true_extent: size as isize,
        contiguous: true,
        committed: AtomicBool::new(true),
        predefined: Some(basic.handle()),
        bounded: false,
        alignment: basic.scalar().alignment(),
        signature: Signature::run(basic, 1),
        layout: Placed::block(size),
        contents: Arc::new(Contents::named()),
        name: Mutex::new(basic.name().into()),
        attributes: Attributes::default(),
    }
}

/// A value and an index as C lays them out in a struct.
fn pair(value: &Arc<Datatype>, index: &Arc<Datatype>) -> Datatype {
    let alignment = index.alignment;
    let at = value.size.next_multiple_of(alignment) as isize;
    let parts = [BlockPart::once(0, 1, value), BlockPart::once(at, 1, index)];
    let made = compose(parts, Contents::named()).unwrap_or_else(|_| unreachable!());
    made.committed.store(true, Ordering::Relaxed);
    made
}
