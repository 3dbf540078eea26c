//! Two kernels: `sine` makes a tone, `clip` overdrives it. `app.toml` beside this crate uses them.

use run::{Batch, Fired, Kernel, TaskInfo, export_kernel};
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
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        for j in 0..batch.firings() {
            let out = batch.output::<f32>(0, j);
            let frames = out.len() as u64;
            let first = (batch.first() + j) * frames;
            for (i, x) in out.iter_mut().enumerate() {
                *x = (self.step * (first + i as u64) as f64).sin() as f32;
            }
            self.left = self.left.saturating_sub(frames);
            if self.left == 0 {
                return Fired::End(j + 1);
            }
        }
        batch.done()
    }
}

export_kernel! { sine: Sine, make = Sine::new, inputs = [], outputs = ["out": "f32"] }

/// A smooth limit at -1 and 1; `drive` amplifies before it.
struct Clip {
    drive: f32,
}

impl Kernel for Clip {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        for j in 0..batch.firings() {
            let (input, output) = (batch.input::<f32>(0, j), batch.output::<f32>(0, j));
            for (y, x) in output.iter_mut().zip(input) {
                *y = (self.drive * x).tanh();
            }
        }
        batch.done()
    }
}

fn clip_of(task: &TaskInfo) -> Result<Clip, String> {
    task.only(&["drive"])?;
    Ok(Clip { drive: task.number("drive")?.unwrap_or(1.0) as f32 })
}

export_kernel! { clip: Clip, make = clip_of, inputs = ["in": "f32"], outputs = ["out": "f32"] }
