//! The trace of a run as a file for Perfetto or Chrome.

use crate::layout::RunLayout;
use crate::recorder::EventKind;
use crate::shared::Report;
use std::io::Write;
use std::path::Path;
use work::Graph;

/// Writes the trace of a run for Perfetto or Chrome, whole or not at all; gives back the file's name. A trace that
/// cannot be written is a warning: a full disk is no reason to lose the result of the run.
pub(crate) fn write(
    path: &Path,
    graph: &Graph,
    layout: &RunLayout,
    reports: &[Report],
    warnings: &mut Vec<String>,
) -> Option<String> {
    let name = path.display().to_string();
    if let Err(why) = ground::write_whole(path, |out| events(out, graph, layout, reports)) {
        warnings.push(format!("the trace {name} could not be written: {why}"));
        return None;
    }
    let left_out: u64 = reports.iter().map(|r| r.recorder.left_out).sum();
    if left_out > 0 {
        warnings.push(format!("the trace was full: its last {left_out} events are left out"));
    }
    Some(name)
}

fn events(
    out: &mut impl Write,
    graph: &Graph,
    layout: &RunLayout,
    reports: &[Report],
) -> std::io::Result<()> {
    let text = |t: &str| serde_json::Value::from(t).to_string();
    let names: Vec<String> = graph.tasks.iter().map(|t| text(&t.name)).collect();
    let rings: Vec<String> = layout
        .rings
        .iter()
        .map(|r| {
            r.consumers[0].edge.map_or("\"held back\"".into(), |e| {
                text(&format!("{} (instances)", crate::kernel::ports::edge_name(graph, e)))
            })
        })
        .collect();
    let origin_ns = reports.iter().map(|r| r.start_ns).min().unwrap_or(0);
    let us = |ns: u64| ns.saturating_sub(origin_ns) as f64 / 1e3;
    writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    write!(
        out,
        "{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{}}}}}",
        text(&graph.name)
    )?;
    for report in reports {
        let tid = report.index;
        let element = text(&layout.elements[tid].name);
        write!(
            out,
            ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"name\":\"thread_name\",\"args\":{{\"name\":{element}}}}}"
        )?;
        for e in &report.recorder.events {
            let (ts, dur) = (us(e.start_ns), (e.end_ns - e.start_ns) as f64 / 1e3);
            match e.kind {
                EventKind::Call => write!(
                    out,
                    ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{ts:.3},\"dur\":{dur:.3},\"name\":{},\
                     \"args\":{{\"first\":{},\"firings\":{}}}}}",
                    names[e.of as usize], e.first, e.firings
                )?,
                EventKind::Wait => write!(
                    out,
                    ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{ts:.3},\"dur\":{dur:.3},\"name\":\"wait\",\
                     \"cat\":\"wait\"}}"
                )?,
                EventKind::Fill => write!(
                    out,
                    ",\n{{\"ph\":\"C\",\"pid\":1,\"ts\":{ts:.3},\"name\":{},\"args\":{{\"fill\":{}}}}}",
                    rings[e.of as usize], e.first
                )?,
            }
        }
    }
    writeln!(out, "\n]}}")
}
