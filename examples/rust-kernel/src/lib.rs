//! Two kernels: `sine` makes a tone, `clip` overdrives it. `app.toml` beside this crate uses them.

use run::kernel::abi::IN_PLACE;
use run::{Batch, Failed, Fired, Kernel, TaskInfo, export_kernel};
use std::f64::consts::TAU;

/// A source of `seconds` seconds of a sine.
struct Sine {
    step: f64,
    left: u64,
}

impl Sine {
    fn new(task: &TaskInfo) -> Result<Sine, String> {
        task.only(&["frequency", "rate", "seconds"])?;
        let rate = task.number("rate")?.unwrap_or(48_000.0);
        let frequency = task.number("frequency")?.unwrap_or(440.0);
        if !(frequency >= 0.0 && frequency <= rate / 2.0) {
            return Err(format!("a frequency of {frequency} Hz does not fit a rate of {rate} Hz"));
        }
        let seconds = task.number("seconds")?.unwrap_or(1.0);
        Ok(Sine { step: TAU * frequency / rate, left: (seconds * rate) as u64 })
    }
}

impl Kernel for Sine {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let mut output = batch.output::<f32>(0)?;
        let frames = output.each() as u64;
        for j in 0..batch.firings() {
            let first = (batch.first() + j) * frames;
            for (i, x) in output[j].iter_mut().enumerate() {
                *x = (self.step * (first + i as u64) as f64).sin() as f32;
            }
            self.left = self.left.saturating_sub(frames);
            if self.left == 0 {
                return Ok(Fired::End(j + 1));
            }
        }
        Ok(Fired::All)
    }
}

export_kernel! { sine: Sine, make = Sine::new, inputs = [], outputs = ["out": "f32"] }

/// A smooth limit at -1 and 1; `drive` amplifies before it.
struct Clip {
    drive: f32,
}

impl Kernel for Clip {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        for x in batch.in_place::<f32>(0)?.together() {
            *x = (self.drive * *x).tanh();
        }
        Ok(Fired::All)
    }
}

fn clip_of(task: &TaskInfo) -> Result<Clip, String> {
    task.only(&["drive"])?;
    Ok(Clip { drive: task.number("drive")?.unwrap_or(1.0) as f32 })
}

export_kernel! {
    clip: Clip, make = clip_of, inputs = ["in": "f32", flags = IN_PLACE], outputs = ["out": "f32"]
}
