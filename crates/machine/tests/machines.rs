//! Machines that nothing in the code was written for: what is known of them is in their files.

use machine::{Machine, Role, file};
use std::path::Path;

fn read(name: &str) -> Machine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    file::read(&folder.join(name)).unwrap()
}

#[test]
fn they_come_back_from_their_own_text() {
    for name in ["mesh.toml", "many-core.toml"] {
        let machine = read(name);
        assert_eq!(file::parse(&file::to_text(&machine).unwrap(), name).unwrap(), machine);
    }
}

#[test]
fn a_mesh_of_nodes_has_small_local_stores_few_channels_and_a_limit_per_link() {
    let mesh = read("mesh.toml");
    assert_eq!((mesh.elements.len(), mesh.role("node")), (16, Role::Accelerator));
    let node = &mesh.elements[6];
    let memory = node.memory.as_ref().unwrap();
    assert_eq!(
        (node.place.tile, memory.bytes, memory.hard, memory.holds_code),
        (Some([2, 1]), 65_536, true, true)
    );
    assert_eq!((node.incoming_max, node.outgoing_max["node"]), (Some(4), 4));
    // From row 0, column 0 to row 2, column 3: along the row, then along the column.
    let on_the_way = |name: &str| mesh.limits.iter().any(|l| l.name == name && l.holds(0, 11));
    for link in [
        "out of tile 0,0",
        "east from 0,0",
        "east from 2,0",
        "south from 3,0",
        "south from 3,1",
        "into tile 3,2",
    ] {
        assert!(on_the_way(link), "{link}");
    }
    assert_eq!(mesh.limits.iter().filter(|l| l.holds(0, 11)).count(), 7);
}

#[test]
fn a_many_core_chip_has_two_cores_per_tile_and_message_buffers_without_code() {
    let chip = read("many-core.toml");
    assert_eq!((chip.elements.len(), chip.role("core")), (48, Role::Peer));
    let tiles: std::collections::BTreeSet<_> = chip.elements.iter().map(|e| e.place.tile.unwrap()).collect();
    assert_eq!((tiles.len(), tiles.last()), (24, Some(&[5, 3])));
    let memory = chip.elements[47].memory.as_ref().unwrap();
    assert_eq!((memory.bytes, memory.hard, memory.holds_code), (8_192, true, false));
}
