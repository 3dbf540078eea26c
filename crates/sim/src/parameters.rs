//! The parameters of a simulated machine: sizes, times, and the arbiter's rules. Times are bus cycles of 625 ps.

use crate::{Rules, SimError};

/// A machine to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// `ps3`, `cell`, `qs20`, `qs22`, or any.
    pub name: String,
    /// Cells, 1 or 2.
    pub chips: usize,
    /// SPEs (as the hardware numbers them, 0 to 7, on every chip) that programs cannot have; two on a Playstation 3.
    pub hidden: Vec<usize>,
    /// Ticks of the decrementer per second.
    pub timebase_hz: u64,
    /// Main memory of each chip.
    pub memory_bytes: u64,
    /// How the data arbiter decides.
    pub rules: Rules,
    /// What calls cost a program on an SPE.
    pub spu: SpuTimes,
    /// The memory flow controllers.
    pub mfc: MfcParameters,
    /// The element interconnect bus.
    pub bus: BusParameters,
    /// Main memory and its controller.
    pub memory: MemoryParameters,
    /// What joins two Cells.
    pub link: LinkParameters,
    /// What calls cost a program on a PPE.
    pub ppe: PpeTimes,
}

/// What calls cost a program on an SPE, in bus cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct SpuTimes {
    /// Handing a command to the MFC: six channel writes (10 SPU cycles, `kistler2006-001`).
    pub dma: u64,
    /// Asking for tag status and taking the answer, once it is there.
    pub tag_status: u64,
    /// Reading or writing any other channel.
    pub channel: u64,
    /// Reading or writing the decrementer.
    pub decrementer: u64,
    /// SPU cycles that a line of DMA takes from a program that computes: the local store has one port, DMA goes first.
    pub stolen_per_line: u64,
}

/// The memory flow controllers.
#[derive(Debug, Clone, PartialEq)]
pub struct MfcParameters {
    /// Commands in an SPE's own queue.
    pub queue: usize,
    /// Commands in the queue for the PPE's commands.
    pub proxy_queue: usize,
    /// From the queue to the bus (30 SPU cycles, `kistler2006-002`).
    pub to_bus: u64,
    /// Fetching an element of a list (10 SPU cycles, `kistler2006-003`).
    pub list_element: u64,
    /// Lines under way at a time.
    pub lines: u32,
    /// Of these, lines to or from the other chip, for MFCs of chip 0 and of chip 1.
    pub remote_lines: [u32; 2],
    /// Bus cycles between the first beats of two lines that one MFC sends out as commands.
    pub line_interval: u64,
    /// Entries of the translation buffer; 0: every page is known.
    pub tlb_entries: usize,
    /// Bytes that an entry covers.
    pub page_bytes: u64,
    /// The time that an unknown page costs.
    pub tlb_miss: u64,
    /// Bus cycles between an MFC's tokens for lines of main memory; 0: no tokens are asked for.
    pub memory_token: u64,
}

/// The element interconnect bus.
#[derive(Debug, Clone, PartialEq)]
pub struct BusParameters {
    /// Bus cycles between two commands of a chip.
    pub command_interval: u64,
    /// From a command to its combined answer (100 SPU cycles, `kistler2006-004`).
    pub coherence: u64,
    /// From the answer to data at the source's ramp.
    pub source: u64,
    /// From the last beat at the destination's ramp to data in its store.
    pub sink: u64,
    /// Which of the two ramps between SPE7 and SPE6 (in ring order) leads to the other chip.
    pub link_ramp: usize,
}

/// Main memory and its controller.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryParameters {
    /// From the start of a read to data at the controller's ramp.
    pub latency: u64,
    /// Bus cycles that the memory's own bus takes for a line, reads and writes together (25.6 GB/s: 8).
    pub line: u64,
    /// Bus cycles that a bank is busy with a line (3.2 GB/s: 64).
    pub bank: u64,
    /// Between reads and writes.
    pub turnaround: u64,
    /// Lines in one direction before the other gets its turn.
    pub burst: u32,
    /// Writes that wait before no more are taken from the bus.
    pub writes_waiting: u32,
    /// Bytes of the PPE's second cache, from which lines it has touched are served instead.
    pub ppe_cache_line: u64,
}

/// What joins two Cells.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkParameters {
    /// From a command on chip 0 (or 1) to its answer on the other chip, beyond a command that stays on its chip.
    pub command: [u64; 2],
    /// From the ramp on the source's chip to the ramp on the other.
    pub data: u64,
    /// Picoseconds that a line takes when it comes to chip 0 (or 1).
    pub line_ps: [u64; 2],
    /// Picoseconds that a line takes of what both directions share.
    pub shared_line_ps: u64,
}

/// What calls cost a program on a PPE, in bus cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct PpeTimes {
    /// Reading or writing a register of an SPE.
    pub register: u64,
    /// From handing a command to an SPE's proxy queue until its status may be seen. The PPE is busy only while it
    /// writes the registers.
    pub proxy: u64,
    /// Loading or storing bytes that are in the cache.
    pub cached: u64,
    /// Loading a line that is not.
    pub uncached: u64,
    /// Lines that one load fetches at a time: the second-level cache has six machines for them.
    pub misses: u64,
}

impl Parameters {
    /// `ps3`, `cell`, `qs20` or `qs22`.
    ///
    /// ```
    /// let ps3 = sim::Parameters::named("ps3").unwrap();
    /// assert_eq!((ps3.spes(), ps3.timebase_hz), (6, 79_800_000));
    /// assert_eq!(sim::Parameters::named("qs22").unwrap().spes(), 16);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let (chips, hidden, timebase_hz) = match name {
            "ps3" => (1, vec![6, 7], 79_800_000),
            "cell" => (1, vec![], 26_664_000),
            "qs20" => (2, vec![], 14_318_000),
            "qs22" => (2, vec![], 26_664_000),
            _ => return None,
        };
        Some(Self { name: name.into(), chips, hidden, timebase_hz, ..Self::default() })
    }

    /// SPEs that programs can have.
    pub fn spes(&self) -> usize {
        self.chips * (8 - self.hidden.len())
    }

    /// PPEs, one a chip.
    pub fn ppes(&self) -> usize {
        self.chips
    }

    /// Chip and hardware number (0 to 7) of the SPE that programs call `spe`.
    ///
    /// # Panics
    /// When there is no such SPE.
    pub fn physical(&self, spe: usize) -> (usize, usize) {
        let each = 8 - self.hidden.len();
        let visible = (0..8).filter(|p| !self.hidden.contains(p)).nth(spe % each);
        assert!(spe < self.spes(), "SPE{spe} of {}", self.spes());
        (spe / each, visible.expect("each is the number of visible ones"))
    }

    /// Refuses what cannot be simulated, naming the parameter.
    ///
    /// # Errors
    /// [`SimError::Parameter`].
    pub fn check(&self) -> Result<(), SimError> {
        let refuse = |name: &str, value: String, allowed: &str| {
            Err(SimError::Parameter { name: name.into(), value, allowed: allowed.into() })
        };
        let in_range = |name: &str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                refuse(name, value.to_string(), &format!("{low} to {high}"))
            }
        };
        in_range("chips", self.chips as u64, 1, 2)?;
        let mut hidden = self.hidden.clone();
        hidden.sort_unstable();
        hidden.dedup();
        if hidden.len() != self.hidden.len() || hidden.iter().any(|&h| h > 7) || hidden.len() > 7 {
            return refuse(
                "hidden",
                format!("{:?}", self.hidden),
                "different numbers from 0 to 7, at most seven",
            );
        }
        in_range("timebase_hz", self.timebase_hz, 1, 1_600_000_000)?;
        in_range("memory_bytes", self.memory_bytes, 4096, 1 << 36)?;
        if !self.memory_bytes.is_multiple_of(128) {
            return refuse("memory_bytes", self.memory_bytes.to_string(), "a multiple of 128");
        }
        in_range("rules.per_ring", self.rules.per_ring.into(), 1, 3)?;
        in_range("rules.start_interval", self.rules.start_interval, 1, 1000)?;
        in_range("rules.gap", self.rules.gap, 0, 1000)?;
        in_range("rules.margin", self.rules.margin.into(), 0, 2)?;
        in_range("rules.alone_from_hops", self.rules.alone_from_hops.into(), 1, 7)?;
        in_range("mfc.queue", self.mfc.queue as u64, 1, 16)?;
        in_range("mfc.proxy_queue", self.mfc.proxy_queue as u64, 1, 8)?;
        in_range("mfc.lines", self.mfc.lines.into(), 1, 1024)?;
        in_range("mfc.remote_lines[0]", self.mfc.remote_lines[0].into(), 1, 1024)?;
        in_range("mfc.remote_lines[1]", self.mfc.remote_lines[1].into(), 1, 1024)?;
        in_range("mfc.tlb_entries", self.mfc.tlb_entries as u64, 0, 1 << 16)?;
        if self.mfc.page_bytes < 4096 || !self.mfc.page_bytes.is_power_of_two() {
            return refuse("mfc.page_bytes", self.mfc.page_bytes.to_string(), "a power of two from 4096");
        }
        in_range("bus.command_interval", self.bus.command_interval, 1, 1000)?;
        in_range("bus.link_ramp", self.bus.link_ramp as u64, 0, 1)?;
        in_range("memory.line", self.memory.line, 1, 1_000_000)?;
        in_range("memory.bank", self.memory.bank, 1, 1_000_000)?;
        in_range("memory.burst", self.memory.burst.into(), 1, 1 << 20)?;
        // A line may come every 8 SPU cycles in and out: at 8 a program that computes under endless traffic never ends.
        in_range("spu.stolen_per_line", self.spu.stolen_per_line, 0, 7)?;
        in_range("ppe.misses", self.ppe.misses, 1, 1 << 20)?;
        in_range("memory.writes_waiting", self.memory.writes_waiting.into(), 1, 1 << 20)?;
        let times = [
            ("spu.dma", self.spu.dma),
            ("spu.tag_status", self.spu.tag_status),
            ("spu.channel", self.spu.channel),
            ("spu.decrementer", self.spu.decrementer),
            ("mfc.to_bus", self.mfc.to_bus),
            ("mfc.list_element", self.mfc.list_element),
            ("mfc.line_interval", self.mfc.line_interval),
            ("mfc.tlb_miss", self.mfc.tlb_miss),
            ("mfc.memory_token", self.mfc.memory_token),
            ("bus.coherence", self.bus.coherence),
            ("bus.source", self.bus.source),
            ("bus.sink", self.bus.sink),
            ("memory.latency", self.memory.latency),
            ("memory.turnaround", self.memory.turnaround),
            ("memory.ppe_cache_line", self.memory.ppe_cache_line),
            ("link.command[0]", self.link.command[0]),
            ("link.command[1]", self.link.command[1]),
            ("link.data", self.link.data),
            ("link.line_ps[0]", self.link.line_ps[0]),
            ("link.line_ps[1]", self.link.line_ps[1]),
            ("link.shared_line_ps", self.link.shared_line_ps),
            ("ppe.register", self.ppe.register),
            ("ppe.proxy", self.ppe.proxy),
            ("ppe.cached", self.ppe.cached),
            ("ppe.uncached", self.ppe.uncached),
        ];
        for (name, value) in times {
            in_range(name, value, 0, 1_000_000_000)?;
        }
        Ok(())
    }
}

impl Default for Parameters {
    /// A Cell of a QS22.
    fn default() -> Self {
        Self {
            name: "cell".into(),
            chips: 1,
            hidden: vec![],
            timebase_hz: 26_664_000,
            memory_bytes: 256 << 20,
            rules: Rules::default(),
            spu: SpuTimes { dma: 5, tag_status: 36, channel: 3, decrementer: 5, stolen_per_line: 1 },
            mfc: MfcParameters {
                queue: 16,
                proxy_queue: 8,
                to_bus: 15,
                list_element: 5,
                lines: 16,
                remote_lines: [16, 11],
                line_interval: 1,
                tlb_entries: 0,
                page_bytes: 64 << 10,
                tlb_miss: 400,
                memory_token: 0,
            },
            bus: BusParameters { command_interval: 1, coherence: 50, source: 24, sink: 34, link_ramp: 1 },
            memory: MemoryParameters {
                latency: 140,
                line: 8,
                bank: 64,
                turnaround: 0,
                burst: 8,
                writes_waiting: 32,
                ppe_cache_line: 16,
            },
            link: LinkParameters {
                command: [450, 468],
                data: 60,
                line_ps: [9_846, 11_130],
                shared_line_ps: 6_737,
            },
            ppe: PpeTimes { register: 237, proxy: 17_340, cached: 2, uncached: 300, misses: 6 },
        }
    }
}
