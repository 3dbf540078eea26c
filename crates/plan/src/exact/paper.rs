//! The paper's formulation: equations (10) to (19).

use super::rows::{Aux, Rows};
use crate::PlanError;

/// (12) to (15), (17) to (19) with (1) to (9), `beta` continuous. A broadcast has one `beta` per pair of elements.
pub(super) fn rows(rows: &mut Rows) -> Result<(), PlanError> {
    let problem = rows.problem;
    let n = problem.elements();
    let mut beta = vec![0u32; problem.broadcasts.len() * n * n];
    let at = |b: usize, i: usize, j: usize| (b * n + i) * n + j;
    for (b, broadcast) in problem.broadcasts.iter().enumerate() {
        for i in 0..n {
            for j in 0..n {
                beta[at(b, i, j)] = rows.column(Aux::Beta(b, i, j), 1.0)?;
            }
        }
        for &consumer in &broadcast.to {
            for j in 0..n {
                let alpha = rows.alpha(consumer, j);
                let sum: Vec<(u32, f64)> = (0..n).map(|i| (beta[at(b, i, j)], 1.0)).collect();
                rows.row(sum.into_iter().chain([(alpha, -1.0)]), 0.0, f64::INFINITY); // (12)
            }
        }
        for i in 0..n {
            let alpha = rows.alpha(broadcast.from, i);
            if broadcast.to.len() == 1 {
                let sum: Vec<(u32, f64)> = (0..n).map(|j| (beta[at(b, i, j)], 1.0)).collect();
                rows.row(sum.into_iter().chain([(alpha, -1.0)]), f64::NEG_INFINITY, 0.0); // (13)
            } else {
                for j in 0..n {
                    rows.row([(beta[at(b, i, j)], 1.0), (alpha, -1.0)], f64::NEG_INFINITY, 0.0);
                }
            }
        }
    }

    let all = 0..problem.broadcasts.len();
    let mut talk: Vec<Vec<(u32, usize)>> = vec![Vec::new(); n];
    if rows.spends() {
        for b in all.clone() {
            for i in 0..n {
                for j in (0..n).filter(|&j| j != i) {
                    talk[i].push((beta[at(b, i, j)], b));
                    talk[j].push((beta[at(b, i, j)], b));
                }
            }
        }
    }
    rows.compute(&talk); // (14), (15)

    for (id, limit) in problem.machine.limits.iter().enumerate() {
        let ns = problem.limits.ns_per_byte(id as u32);
        let mut row = Vec::new();
        for i in 0..n {
            for j in (0..n).filter(|&j| limit.holds(i, j)) {
                row.extend(all.clone().map(|b| (beta[at(b, i, j)], problem.broadcasts[b].bytes as f64 * ns)));
            }
        }
        rows.period_row(row); // (19) in (1) to (9)
    }
    for (e, element) in problem.machine.elements.iter().enumerate() {
        if let Some(most) = element.incoming_max {
            let row: Vec<(u32, f64)> = all
                .clone()
                .flat_map(|b| (0..n).filter(|&i| i != e).map(move |i| (b, i)))
                .map(|(b, i)| (beta[at(b, i, e)], 1.0))
                .collect();
            rows.row(row, f64::NEG_INFINITY, f64::from(most)); // (17)
        }
        for (kind, &most) in &element.outgoing_max {
            let readers = (0..n).filter(|&j| j != e && problem.machine.elements[j].kind == *kind);
            let row: Vec<(u32, f64)> = readers
                .flat_map(|j| all.clone().map(move |b| (b, j)))
                .map(|(b, j)| (beta[at(b, e, j)], 1.0))
                .collect();
            rows.row(row, f64::NEG_INFINITY, f64::from(most)); // (18)
        }
    }
    Ok(())
}
