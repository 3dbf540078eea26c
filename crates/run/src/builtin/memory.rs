//! Memory of the caller as a source and as a sink: NumPy arrays, buffers of a test.

use crate::kernel::{Batch, Failed, Fired, Kernel, Opened, PortSpec};
use std::sync::{Arc, Mutex};

/// A source that gives `data`, instance by instance, and ends; a last partial instance is filled up with zeros.
pub fn source(data: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Opened {
    Opened::from_rust(vec![], vec![PortSpec::any("out")], move |info| {
        info.only(&[])?;
        Ok(Box::new(SourceKernel { data, at: 0 }))
    })
}

struct SourceKernel {
    data: Arc<dyn AsRef<[u8]> + Send + Sync>,
    at: usize,
}

impl Kernel for SourceKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let mut output = batch.output::<u8>(0)?;
        let (each, out) = (output.each(), output.together());
        let rest = &(*self.data).as_ref()[self.at..];
        let n = out.len().min(rest.len());
        out[..n].copy_from_slice(&rest[..n]);
        out[n..].fill(0);
        self.at += n;
        // Ends with the last instance, not one call later: nothing then waits for a firing that never comes.
        Ok(if n == rest.len() { Fired::End(n.div_ceil(each) as u64) } else { Fired::All })
    }
}

/// A sink that keeps every byte.
#[derive(Debug, Default, Clone)]
pub struct MemorySink {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl MemorySink {
    /// Empty, with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> MemorySink {
        MemorySink { bytes: Arc::new(Mutex::new(Vec::with_capacity(bytes))) }
    }

    /// The kernel that fills it.
    pub fn opened(&self) -> Opened {
        let bytes = self.bytes.clone();
        Opened::from_rust(vec![PortSpec::any("in")], vec![], move |info| {
            info.only(&[])?;
            Ok(Box::new(SinkKernel { bytes }))
        })
    }

    /// What arrived; leaves it empty.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

struct SinkKernel {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Kernel for SinkKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let arrived = batch.input::<u8>(0)?.together();
        let mut bytes = self.bytes.lock().unwrap_or_else(|e| e.into_inner());
        bytes.try_reserve(arrived.len()).map_err(|_| "there is no memory left to keep what arrived")?;
        bytes.extend_from_slice(arrived);
        Ok(Fired::All)
    }
}
