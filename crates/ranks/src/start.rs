//! How ranks start (`buffered-mpi` 3.1): the PPE stores what each rank has to know into main memory, and sends the
//! place of that to the rank's mailbox. From then on the PPE is idle.

use crate::copying::bring;
use sim::{Address, SimError, Simulation, Spe};

/// Bytes of what a rank has to know: its number, how many there are, where the buffers of all and the arguments are. A
/// line of DMA has room for it.
const START_BYTES: u32 = 128;

/// Gives the first PPE its program: a structure and a mailbox word for each rank.
///
/// # Errors
/// There is no memory left.
pub(crate) fn begin(cell: &mut Simulation, spes: &[usize]) -> Result<(), SimError> {
    let bytes = u64::from(START_BYTES);
    let all = cell.allocate(0, bytes * spes.len() as u64, bytes)?;
    let spes = spes.to_vec();
    cell.ppe(0, "cellrun", move |ppe| {
        for (rank, &spe) in spes.iter().enumerate() {
            let place = all + rank as u64 * bytes;
            ppe.store(place, &[0; START_BYTES as usize]);
            ppe.write_mailbox(spe, u32::try_from(place.0).expect("main memory has less than 4 GB"));
        }
    })
}

/// A rank begins: it waits for the word, and gets what the word points to.
pub(crate) fn receive(spe: &mut Spe<'_>, stage: u32) {
    let place = Address(u64::from(spe.read_mailbox()));
    bring(spe, stage, place, START_BYTES);
}
