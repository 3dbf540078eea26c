//! Memory of the caller as a source and as a sink: NumPy arrays, buffers of a test.

use crate::kernel::{Batch, Fired, Kernel, Opened, PortSpec};
use std::sync::{Arc, Mutex};

/// A source that gives `data`, instance by instance, and ends; a last partial instance is filled up with zeros.
pub fn source(data: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Opened {
    Opened::from_rust(vec![], vec![PortSpec::any("out")], move |info| {
        info.only(&[])?;
        Ok(Box::new(Source { data, at: 0 }))
    })
}

struct Source {
    data: Arc<dyn AsRef<[u8]> + Send + Sync>,
    at: usize,
}

impl Kernel for Source {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        let data = (*self.data).as_ref();
        for j in 0..batch.firings() {
            let rest = &data[self.at..];
            if rest.is_empty() {
                return Fired::End(j);
            }
            let out = batch.output::<u8>(0, j);
            let n = out.len().min(rest.len());
            out[..n].copy_from_slice(&rest[..n]);
            out[n..].fill(0);
            self.at += n;
        }
        // Ends with the last instance, not one call later: nothing then waits for a firing that never comes.
        if self.at == data.len() { Fired::End(batch.firings()) } else { batch.done() }
    }
}

/// A sink that keeps every byte.
#[derive(Debug, Default, Clone)]
pub struct Sink {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Sink {
    /// Empty, with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Sink {
        Sink { bytes: Arc::new(Mutex::new(Vec::with_capacity(bytes))) }
    }

    /// The kernel that fills it.
    pub fn opened(&self) -> Opened {
        let bytes = self.bytes.clone();
        Opened::from_rust(vec![PortSpec::any("in")], vec![], move |info| {
            info.only(&[])?;
            Ok(Box::new(Keep { bytes, chunk: Vec::new() }))
        })
    }

    /// What arrived; leaves it empty.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

struct Keep {
    bytes: Arc<Mutex<Vec<u8>>>,
    chunk: Vec<u8>,
}

impl Kernel for Keep {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        self.chunk.clear();
        for j in 0..batch.firings() {
            self.chunk.extend_from_slice(batch.input::<u8>(0, j));
        }
        let mut bytes = self.bytes.lock().unwrap_or_else(|e| e.into_inner());
        if bytes.try_reserve(self.chunk.len()).is_err() {
            return Fired::failed("there is no memory left to keep what arrived");
        }
        bytes.extend_from_slice(&self.chunk);
        drop(bytes);
        batch.done()
    }
}
