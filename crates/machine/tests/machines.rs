//! Machines that nothing in the code was written for: what is known of them is in their files.

use machine::{Machine, Nearness, Role, file};
use std::path::Path;

fn read(name: &str) -> Machine {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    file::read(&tests.join(name)).unwrap()
}

#[test]
fn they_come_back_from_their_own_text() {
    for name in [
        "machines/mesh.toml",
        "machines/many-core.toml",
        "computers/two-cpus-large-l3.toml",
        "computers/two-siblings.toml",
    ] {
        let machine = read(name);
        assert_eq!(file::parse(&file::to_text(&machine).unwrap(), name).unwrap(), machine);
    }
}

#[test]
fn a_mesh_of_nodes_has_small_local_stores_few_channels_and_a_limit_per_link() {
    let mesh = read("machines/mesh.toml");
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
    let chip = read("machines/many-core.toml");
    assert_eq!((chip.elements.len(), chip.role("core")), (48, Role::Peer));
    let tiles: std::collections::BTreeSet<_> = chip.elements.iter().map(|e| e.place.tile.unwrap()).collect();
    assert_eq!((tiles.len(), tiles.last()), (24, Some(&[5, 3])));
    let memory = chip.elements[47].memory.as_ref().unwrap();
    assert_eq!((memory.bytes, memory.hard, memory.holds_code), (8_192, true, false));
}

#[test]
fn how_deep_a_ring_should_be_differs_from_computer_to_computer() {
    let best = |name: &str, bytes| {
        let machine = read(name);
        assert_eq!(machine.handovers[0].shares, machine.nearness(0, 1));
        machine.handovers[0].best_ring_bytes(bytes, false)
    };
    assert_eq!(best("computers/two-cpus-large-l3.toml", 16384), 2 << 20);
    assert_eq!(best("computers/two-cpus-large-l3.toml", 4096), 4 << 20);
    assert_eq!(best("computers/two-siblings.toml", 16384), 256 << 10);
}

#[test]
fn cpus_that_share_a_core_without_a_word_of_it_in_the_topology_are_found_and_said() {
    let machine = read("computers/two-siblings.toml");
    let pair = &machine.together[0];
    assert_eq!(
        (machine.nearness(0, 1), pair.are_hidden_siblings(&machine), pair.cpus()),
        (Nearness::L3, true, 1.0)
    );
    assert_eq!(
        pair.in_words(&machine),
        "CPU0, CPU1 all busy: computing takes 2.10 times as long, memory 1.20 times: they share one core, though the \
         topology shows two"
    );
    let machine = read("computers/two-cpus-large-l3.toml");
    assert!(!machine.together[0].are_hidden_siblings(&machine));
}
