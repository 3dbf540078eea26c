//! Generated graphs: the same for ever, what the settings say, and such that they plan on a QS22.

use work::daggen::{DaggenOptions, ELEMENT_BYTES, OPERATIONS_PER_NS, PAPER_CCRS, generate, paper_set};
use work::{Buffering, Graph, schedule::schedule, write};

/// FNV-1a, 64 bits, of the TOML.
fn hash(graph: &Graph) -> u64 {
    write::toml(graph)
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Hashes of the 25 graphs with each of their ten CCRs folded together, in order. Frozen before anything was tuned on
/// them: a change here is a change of every published experiment. One graph was exchanged since, the one of 102 tasks:
/// the paper's densest has 204 edges, and none here had.
const PAPER_SET: [u64; 25] = [
    0xbb20_e9ec_f36c_ec97,
    0x1a2a_272b_0253_9da1,
    0x2b6f_bda8_a42d_49b6,
    0xca13_fcb7_da44_45ec,
    0xa33c_9877_95eb_6608,
    0x6345_531a_edec_a114,
    0xa70c_65e8_4534_a250,
    0xdd29_a4b1_acab_e9fb,
    0x21dc_7a4a_82a3_f956,
    0x14a9_06b2_72bc_364c,
    0xffde_d5d5_50f4_e8df,
    0xec99_65ff_40d9_5c27,
    0xffd9_ad62_e0b4_dfe6,
    0x652e_5eb0_4537_496c,
    0xab88_3de4_a621_2cf4,
    0xdb82_6893_ff4e_f33b,
    0x9d75_1dd7_a6aa_3793,
    0x6cc6_5de0_87f1_2464,
    0x75b6_5187_c584_91df,
    0xc425_647f_ee1a_d4ad,
    0x912f_59d2_3eb9_dfc9,
    0xd080_e1a3_e6a2_cda3,
    0x0467_5e97_8816_7d8a,
    0x1f6a_086a_c990_2add,
    0x863c_5b22_d048_415d,
];

#[test]
fn the_paper_set_is_frozen() {
    let set = paper_set();
    let hashes: Vec<u64> =
        set.chunks(10).map(|ten| ten.iter().fold(0, |h: u64, g| h.rotate_left(5) ^ hash(g))).collect();
    assert_eq!(hashes, PAPER_SET, "{hashes:#018x?}");
}

#[test]
fn the_same_settings_give_the_same_text_for_ever() {
    let base = DaggenOptions { regular: 0.9, seed: 0, ..DaggenOptions::default() };
    let cases = [
        (base.clone(), 0x4a8e_b881_e397_756e),
        (DaggenOptions { tasks: 135, regular: 0.5, jump: 2, seed: 7, ..base.clone() }, 0x2c34_4c3d_3b9c_75ef),
        (DaggenOptions { tasks: 1, ..base.clone() }, 0x522a_d986_c7c4_1b99),
        (
            DaggenOptions {
                tasks: 1000,
                fat: 0.9,
                regular: 0.0,
                density: 0.01,
                jump: 5,
                peek: 0,
                seed: u64::MAX,
                ..base
            },
            0xa110_6707_4ac1_2e5a,
        ),
    ];
    let hashes = cases.clone().map(|(settings, _)| hash(&generate(&settings).unwrap()));
    assert_eq!(hashes, cases.map(|(_, hash)| hash), "{hashes:#018x?}");
}

#[test]
fn the_paper_set_is_like_the_papers() {
    // streaming-schedule 5.2: 20 to 135 tasks, the smallest a chain; 19 to 204 edges; up to 59 or from 87 on
    let set = paper_set();
    assert_eq!(set.len(), 250);
    assert_eq!((set[0].tasks.len(), set[0].edges.len()), (20, 19));
    assert!(set[0].edges.iter().all(|e| e.to.task == e.from.task + 1));
    assert_eq!(set.iter().map(|g| g.tasks.len()).max(), Some(135));
    assert!(set.iter().all(|g| g.tasks.len() <= 59 || g.tasks.len() >= 87));
    let edges = || set.iter().map(|g| g.edges.len());
    assert_eq!((edges().min(), edges().max()), (Some(19), Some(204)));
    for ten in set.chunks(10) {
        assert!(ten.iter().all(|g| g.edges == ten[0].edges), "one graph, ten CCRs");
        assert_eq!(ten[0].validate(), Ok(()));
    }
}

#[test]
fn ccr_is_elements_by_operations() {
    for (graph, ccr) in paper_set().iter().zip(PAPER_CCRS.iter().cycle()) {
        let elements: f64 = graph.edges.iter().map(|e| e.bytes as f64 / ELEMENT_BYTES).sum();
        let operations: f64 = graph.tasks.iter().map(|t| t.cost_ns["spe"] * OPERATIONS_PER_NS).sum();
        assert!((elements / operations / ccr - 1.0).abs() < 1e-3, "{}", graph.name);
    }
}

#[test]
fn two_thirds_of_the_tasks_are_faster_on_an_spe() {
    let graph = generate(&DaggenOptions { tasks: 10_000, density: 0.0, ..DaggenOptions::default() }).unwrap();
    let ratios: Vec<f64> = graph.tasks.iter().map(|t| t.cost_ns["ppe"] / t.cost_ns["spe"]).collect();
    assert!(ratios.iter().all(|r| (0.49..4.01).contains(r)));
    let faster = ratios.iter().filter(|r| **r > 1.0).count();
    assert!((6_400..6_900).contains(&faster), "{faster}");
}

#[test]
fn the_paper_sets_buffers_fit_sixteen_local_stores() {
    let store = 256 * 1024 - 64 * 1024;
    for graph in paper_set().iter().step_by(10) {
        let mapping = vec![0; graph.tasks.len()];
        let s = schedule(graph, &mapping, 1, Buffering::Duplicated, 1).unwrap();
        assert!(s.buffers_bytes[0] < 8 * store, "{} {}", graph.name, s.buffers_bytes[0]);
        for task in 0..graph.tasks.len() {
            let of = |(e, s): (&work::Edge, &work::Slots)| {
                e.bytes * (u64::from(e.from.task == task) * s.out + u64::from(e.to.task == task) * s.r#in)
            };
            let bytes: u64 = graph.edges.iter().zip(&s.slots).map(of).sum();
            assert!(bytes < store / 2, "{}: {bytes} bytes for one task", graph.name);
        }
    }
}

#[test]
fn shapes_follow_the_settings() {
    let shape = |fat, density, jump| {
        generate(&DaggenOptions {
            tasks: 200,
            fat,
            density,
            jump,
            regular: 1.0,
            seed: 3,
            ..DaggenOptions::default()
        })
        .unwrap()
    };
    assert_eq!(shape(1.0, 0.0, 1).edges.len(), 1, "all but one side by side");
    assert!(shape(1.0, 0.0, 1).tasks.iter().all(|t| t.cost_ns.values().all(|&ns| ns > 0.0)));
    assert_eq!(shape(0.0, 1.0, 1).edges.len(), 199, "a chain");
    assert!(shape(0.5, 0.9, 1).edges.len() > 2 * shape(0.5, 0.1, 1).edges.len());
    let span = |g: &Graph| g.edges.iter().map(|e| e.to.task / 14 - e.from.task / 14).max();
    assert_eq!(span(&shape(0.5, 0.3, 1)), Some(1));
    assert_eq!(span(&shape(0.5, 0.3, 4)), Some(4));
}

#[test]
fn settings_out_of_range_are_named() {
    let base = DaggenOptions::default();
    let message = |settings: DaggenOptions| generate(&settings).unwrap_err().to_string();
    assert_eq!(
        message(DaggenOptions { tasks: 0, ..base.clone() }),
        "tasks: 0 is not allowed; at least 1 and at most 100000"
    );
    assert_eq!(
        message(DaggenOptions { fat: 1.5, ..base.clone() }),
        "fat: 1.5 is not allowed; at least 0 and at most 1"
    );
    assert_eq!(
        message(DaggenOptions { ccr: f64::NAN, ..base.clone() }),
        "ccr: nan is not allowed; at least 0.000001 and at most 1000"
    );
    assert_eq!(
        message(DaggenOptions { jump: 0, ..base.clone() }),
        "jump: 0 is not allowed; at least 1 and at most 100000"
    );
    let dense = DaggenOptions { tasks: 100_000, fat: 0.6, density: 1.0, ..base };
    assert!(message(dense).starts_with("density: these options make more than 4194304 edges"));
}

#[test]
fn a_hundred_thousand_tasks_are_generated_written_and_read_back() {
    let graph =
        generate(&DaggenOptions { tasks: 100_000, density: 0.005, ..DaggenOptions::default() }).unwrap();
    let text = write::toml(&graph);
    assert_eq!(work::read::text(work::read::Format::Toml, &text, "g.toml"), Ok(graph));
}
