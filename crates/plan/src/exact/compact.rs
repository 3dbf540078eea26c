//! The compact formulation: what leaves and enters an element, and what moves between groups.

use super::rows::{Aux, Columns, Rows};
use crate::PlanError;

/// Compute, limits and DMA rows over cut variables.
pub(super) fn rows(rows: &mut Rows) -> Result<(), PlanError> {
    let problem = rows.problem;
    let n = problem.elements();
    let mut cut = Cut { made: Columns::new(), n };
    let all = 0..problem.broadcasts.len();
    let mut talk: Vec<Vec<(u32, usize)>> = vec![Vec::new(); n];
    if rows.spends() {
        for b in all.clone() {
            for (e, talk) in talk.iter_mut().enumerate() {
                talk.push((cut.enter(rows, b, e)?, b));
                talk.push((cut.leave(rows, b, e)?, b));
            }
        }
    }
    rows.compute(&talk);

    for (id, limit) in problem.machine.limits.iter().enumerate() {
        let ns = problem.limits.ns_per_byte(id as u32);
        let holds: Vec<Vec<usize>> =
            (0..n).map(|j| (0..n).filter(|&i| limit.holds(i, j)).collect()).collect();
        let mut row = Vec::new();
        for b in all.clone() {
            let weight = problem.broadcasts[b].bytes as f64 * ns;
            for column in cut.pairs(rows, b, &holds)? {
                row.push((column, weight));
            }
        }
        rows.period_row(row);
    }
    for (e, element) in problem.machine.elements.iter().enumerate() {
        if let Some(most) = element.incoming_max {
            let mut row = Vec::new();
            for b in all.clone() {
                row.push((cut.enter(rows, b, e)?, 1.0));
            }
            rows.row(row, f64::NEG_INFINITY, f64::from(most)); // (17)
        }
        for (kind, &most) in &element.outgoing_max {
            let readers: Vec<usize> =
                (0..n).filter(|&j| j != e && problem.machine.elements[j].kind == *kind).collect();
            let holds: Vec<Vec<usize>> =
                (0..n).map(|j| if readers.contains(&j) { vec![e] } else { Vec::new() }).collect();
            let mut row = Vec::new();
            for b in all.clone() {
                row.extend(cut.pairs(rows, b, &holds)?.into_iter().map(|c| (c, 1.0)));
            }
            rows.row(row, f64::NEG_INFINITY, f64::from(most)); // (18)
        }
    }
    Ok(())
}

/// Cut variables, each made once.
struct Cut {
    made: Columns,
    n: usize,
}

impl Cut {
    /// Columns whose sum is the number of transfers of broadcast `b` over the pairs (i in `holds[j]`, j).
    fn pairs(&mut self, rows: &mut Rows, b: usize, holds: &[Vec<usize>]) -> Result<Vec<u32>, PlanError> {
        let n = self.n;
        // Every pair of some sources: what leaves them.
        let leaving: Vec<usize> = (0..n).filter(|i| holds.iter().any(|from| from.contains(i))).collect();
        if leaving.iter().all(|&i| (0..n).all(|j| j == i || holds[j].contains(&i))) && leaving.len() * 2 <= n
        {
            return leaving.iter().map(|&i| self.leave(rows, b, i)).collect();
        }
        let mut columns = Vec::new();
        let mut done = vec![false; n];
        for j in 0..n {
            if done[j] || holds[j].is_empty() {
                continue;
            }
            if holds[j].len() == n - 1 {
                columns.push(self.enter(rows, b, j)?);
                continue;
            }
            // Destinations with the same sources, none of them a source: one variable for all, if one transfer is all
            // that there can be.
            let mut to = vec![j];
            if rows.problem.broadcasts[b].to.len() == 1 && !holds[j].contains(&j) {
                to = (j..n).filter(|&k| holds[k] == holds[j] && !holds[j].contains(&k)).collect();
            }
            to.iter().for_each(|&k| done[k] = true);
            columns.push(self.block(rows, b, holds[j].clone(), to)?);
        }
        Ok(columns)
    }

    /// Whether `b` enters `e`: `>= alpha(consumer, e) - alpha(producer, e)`.
    fn enter(&mut self, rows: &mut Rows, b: usize, e: usize) -> Result<u32, PlanError> {
        let key = (b, Vec::new(), vec![e]);
        if let Some(&column) = self.made.get(&key) {
            return Ok(column);
        }
        let column = rows.column(Aux::Enter(b, e), 1.0)?;
        let broadcast = &rows.problem.broadcasts[b];
        let from = rows.alpha(broadcast.from, e);
        for &consumer in broadcast.to.iter().filter(|&&t| t != broadcast.from) {
            let to = rows.alpha(consumer, e);
            rows.row([(column, 1.0), (to, -1.0), (from, 1.0)], 0.0, f64::INFINITY);
        }
        self.made.insert(key, column);
        Ok(column)
    }

    /// Transfers of `b` that leave `e`: with one consumer `>= alpha(producer, e) - alpha(consumer, e)`, with several
    /// at least all that enter anywhere, if the producer is here.
    fn leave(&mut self, rows: &mut Rows, b: usize, e: usize) -> Result<u32, PlanError> {
        let key = (b, vec![e], Vec::new());
        if let Some(&column) = self.made.get(&key) {
            return Ok(column);
        }
        let broadcast = &rows.problem.broadcasts[b];
        let most = broadcast.to.len().min(self.n - 1) as f64;
        let column = rows.column(Aux::Leave(b, e), most)?;
        let from = rows.alpha(broadcast.from, e);
        if let [consumer] = broadcast.to[..] {
            if consumer != broadcast.from {
                let to = rows.alpha(consumer, e);
                rows.row([(column, 1.0), (from, -1.0), (to, 1.0)], 0.0, f64::INFINITY);
            }
        } else {
            let mut row = vec![(column, 1.0), (from, -most)];
            for j in (0..self.n).filter(|&j| j != e) {
                row.push((self.enter(rows, b, j)?, -1.0));
            }
            rows.row(row, -most, f64::INFINITY);
        }
        self.made.insert(key, column);
        Ok(column)
    }

    /// Transfers of `b` from the elements `from` to the elements `to`, which are apart, or `to` is a single one:
    /// `>= alpha(producer, from) + alpha(consumer, to) - 1`.
    fn block(
        &mut self,
        rows: &mut Rows,
        b: usize,
        from: Vec<usize>,
        to: Vec<usize>,
    ) -> Result<u32, PlanError> {
        let key = (b, from, to);
        if let Some(&column) = self.made.get(&key) {
            return Ok(column);
        }
        let column = rows.column(Aux::Block(b, key.1.clone(), key.2.clone()), 1.0)?;
        let broadcast = &rows.problem.broadcasts[b];
        for &consumer in broadcast.to.iter().filter(|&&t| t != broadcast.from) {
            let mut row = vec![(column, 1.0)];
            row.extend(key.1.iter().map(|&i| (rows.alpha(broadcast.from, i), -1.0)));
            row.extend(key.2.iter().map(|&j| (rows.alpha(consumer, j), -1.0)));
            rows.row(row, -1.0, f64::INFINITY);
        }
        self.made.insert(key, column);
        Ok(column)
    }
}
