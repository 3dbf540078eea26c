//! Start and end, versions, clock (MPI 5.0, chapters 9 and 11).

use crate::abi::{self, prototypes, values::*};
use crate::call::Out;
use crate::check::{self, CHECKING, Failure};
use crate::coll::giving;
use crate::comm::COMMS;
use crate::comm::FREE_CONTEXT;
use crate::comm::mpi;
use crate::p2p::buffered;
use crate::profile;
use crate::progress;
use crate::request::REQUESTS;
use crate::request::{self, Request};
use crate::runtime::{self, ROOM, State, phase};
use crate::settings;
use crate::stuck;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use transport::carried::{CarriedAnswer, CarriedCall};
use transport::segment::{hook, stage};

/// The thread level that Init gave.
static LEVEL: AtomicI32 = AtomicI32::new(MPI_THREAD_SINGLE);
/// The thread that called Init, by the kernel's number.
static MAIN_THREAD: AtomicI32 = AtomicI32::new(0);

fn this_thread() -> i32 {
    // SAFETY: takes nothing.
    unsafe { libc::gettid() }
}

fn start(required: c_int) -> Result<c_int, Failure> {
    match runtime::phase() {
        phase::BEFORE => {}
        phase::RUNNING => return Err(Failure::new(MPI_ERR_OTHER, "called a second time")),
        phase::FORKED => return check::running().map(|_| required),
        _ => {
            return Err(Failure::new(
                MPI_ERR_OTHER,
                "called after MPI_Finalize; MPI starts once per process",
            ));
        }
    }
    let checking = |value: &str| ["0", "1"].contains(&value).then(|| value == "1");
    if let Some(checking) = settings::of("CELLWEAVE_MPI_CHECK", "0 and 1", checking)? {
        CHECKING.store(checking, Ordering::Relaxed);
    }
    let mut progress = progress::wanted()?;
    let mut required = required;
    let copying = |value: &str| if value == "ring" { Some(usize::MAX) } else { value.parse().ok() };
    if let Some(from) = settings::of("CELLWEAVE_MPI_COPY", "ring and a number of bytes", copying)? {
        settings::COPY_FROM.store(from, Ordering::Relaxed);
    }
    let job = launch::join().map_err(|text| Failure::new(MPI_ERR_OTHER, text))?;
    if job.segment.is_carried() {
        // Nothing moves beside a program whose messages a simulator carries.
        progress = false;
        required = required.min(MPI_THREAD_SERIALIZED);
        giving::choose(job.segment.header().data_room.load(Ordering::Relaxed) != 0)?;
    }
    // SAFETY: the handler sets one atomic word.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    let header = job.segment.header();
    // The first rank that comes sets it; the launcher knows nothing of contexts.
    let _ = header.next_context.compare_exchange(0, FREE_CONTEXT, Ordering::AcqRel, Ordering::Acquire);
    {
        let mut state = runtime::enter();
        state.engine.attach(job.segment, job.rank);
        if job.segment.is_carried() {
            state.engine.limit_data(static_data());
        }
        state.engine.set_copy_from(settings::COPY_FROM.load(Ordering::Relaxed));
        COMMS.of_mut(&mut state).start(job.rank, job.segment.ranks());
    }
    runtime::set_locking(required == MPI_THREAD_MULTIPLE || progress);
    LEVEL.store(required, Ordering::Relaxed);
    MAIN_THREAD.store(this_thread(), Ordering::Relaxed);
    let page = job.segment.rank(job.rank);
    page.one_thread.store(u32::from(!runtime::locks()), Ordering::Relaxed);
    page.stage.store(stage::INITIALISED, Ordering::Release);
    profile::attach(job.segment, job.rank, &ROOM);
    count_at(profile::FIRST_LEVEL);
    if profile::sees(hook::STUCK) {
        runtime::set_telling(stuck::TELLING);
    }
    if progress {
        let told = |error| {
            Failure::new(MPI_ERR_OTHER, format_args!("no thread for CELLWEAVE_MPI_PROGRESS: {error}"))
        };
        progress::start().map_err(told)?;
    }
    runtime::set_phase(phase::RUNNING);
    Ok(required)
}

/// Counts calls and messages from now on in the phase of a level, when the job is profiled.
fn count_at(level: c_int) {
    if let Some(phase) = profile::begin_phase(level) {
        runtime::enter().engine.count_in(phase);
    }
}

/// MPI 5.0, section 15.2.4: 0 counts nothing from now on, any other level begins a phase or goes on with it.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
extern "C" fn PMPI_Pcontrol(level: c_int) -> c_int {
    if runtime::phase() != phase::FORKED {
        count_at(level);
    }
    MPI_SUCCESS
}
const _: prototypes::PMPI_Pcontrol = PMPI_Pcontrol;

/// A forked child has no part in the job: the rank is its parent.
extern "C" fn forked() {
    if runtime::phase() == phase::RUNNING {
        runtime::set_phase(phase::FORKED);
    }
}

/// What to say of requests that were neither completed nor freed; nothing when there are none.
fn leaked(state: &State) -> Option<String> {
    let of =
        |kind: fn(&Request) -> bool| REQUESTS.of(state).iter().filter(|(_, request)| kind(request)).count();
    // The parts of requests of several parts are not counted again.
    let parts = |request: &Request| match request {
        Request::Both(_) => 2,
        Request::Persistent(persistent) => {
            usize::from(persistent.active.is_some_and(|part| request::transfer(part).is_some()))
        }
        _ => 0,
    };
    let parts: usize = REQUESTS.of(state).iter().map(|(_, request)| parts(request)).sum();
    let kinds = [
        (state.engine.unclaimed().saturating_sub(parts), "send or receive", "sends or receives"),
        (of(|request| matches!(request, Request::Both(_))), "sendrecv", "sendrecvs"),
        (
            of(|request| matches!(request, Request::Persistent(_))),
            "persistent request",
            "persistent requests",
        ),
        (of(|request| matches!(request, Request::Activity(_))), "collective", "collectives"),
        (
            of(|request| matches!(request, Request::Generalized(_))),
            "generalized request",
            "generalized requests",
        ),
    ];
    let told: Vec<String> = kinds
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, several)| format!("{count} {}", if *count == 1 { one } else { several }))
        .collect();
    (!told.is_empty()).then(|| format!("MPI_Finalize: never completed nor freed: {}", told.join(", ")))
}

mpi! {
    /// MPI 5.0, section 11.2.1. The arguments may be null and are left as they are.
    fn PMPI_Init(argc: Out<c_int>, argv: Out<*mut *mut c_char>) {
        let _ = (argc, argv);
        start(MPI_THREAD_SINGLE).map(|_| ())
    }

    /// MPI 5.0, section 11.2.1. Gives the level that is asked for; on a simulated Cell, where a rank asks for one thing
    /// at a time, at most `MPI_THREAD_SERIALIZED`.
    fn PMPI_Init_thread(argc: Out<c_int>, argv: Out<*mut *mut c_char>, required: c_int, provided: Out<c_int>) {
        let _ = (argc, argv);
        provided.present()?;
        let levels =
            [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
        // What lies between two levels, or beyond, is given the next one, so that more is never promised than kept.
        let level = levels.into_iter().find(|&level| level >= required).unwrap_or(MPI_THREAD_MULTIPLE);
        provided.write(start(level)?)
    }

    /// MPI 5.0, section 11.2.2. Waits for what other ranks still count on (buffered messages, sends whose requests were
    /// freed), and for nothing else: no rank waits here for another that goes on.
    fn PMPI_Finalize() {
        let own = COMMS.of(&*check::running()?).own.clone();
        if let Some(own) = own {
            own.attributes.clear(MPI_COMM_SELF)?;
        }
        buffered::flush_all();
        runtime::wait_until(|state| (!state.engine.owes()).then_some(()));
        progress::end();
        if let Some(text) = leaked(&runtime::enter()) {
            launch::say(&text);
        }
        runtime::set_phase(phase::FINALISED);
        if let Some(job) = launch::job() {
            job.segment.rank(job.rank).stage.store(stage::FINALISED, Ordering::Release);
        }
        ROOM.ask(&CarriedCall::End);
        Ok(())
    }

    /// MPI 5.0, section 11.2.1. May be called at any time.
    fn PMPI_Initialized(flag: Out<c_int>) {
        flag.write((runtime::phase() != phase::BEFORE) as c_int)
    }

    /// MPI 5.0, section 11.2.2. May be called at any time. True in a forked child too, where nothing of MPI works any
    /// more.
    fn PMPI_Finalized(flag: Out<c_int>) {
        flag.write((runtime::phase() >= phase::FINALISED) as c_int)
    }

    /// MPI 5.0, section 11.6.2.
    fn PMPI_Query_thread(provided: Out<c_int>) {
        check::is_running()?;
        provided.write(LEVEL.load(Ordering::Relaxed))
    }

    /// MPI 5.0, section 11.6.2.
    fn PMPI_Is_thread_main(flag: Out<c_int>) {
        check::is_running()?;
        flag.write((MAIN_THREAD.load(Ordering::Relaxed) == this_thread()) as c_int)
    }

    /// MPI 5.0, section 9.5. Ends every rank of the job, whatever the communicator.
    fn PMPI_Abort(comm: abi::Comm, errorcode: c_int) {
        let _ = comm;
        launch::abort(errorcode, &format!("called MPI_Abort with code {errorcode}"))
    }

    /// MPI 5.0, section 9.1.1. May be called at any time.
    fn PMPI_Get_version(version: Out<c_int>, subversion: Out<c_int>) {
        version.write(MPI_VERSION)?;
        subversion.write(MPI_SUBVERSION)
    }

    /// MPI 5.0, section 20.2. May be called at any time.
    fn PMPI_Abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) {
        abi_major.write(MPI_ABI_VERSION)?;
        abi_minor.write(MPI_ABI_SUBVERSION)
    }

    /// MPI 5.0, section 9.1.1. May be called at any time.
    fn PMPI_Get_library_version(version[MPI_MAX_LIBRARY_VERSION_STRING]: Out<c_char>, resultlen: Out<c_int>) {
        let text = concat!("cellweave ", env!("CARGO_PKG_VERSION"), ", MPI 5.0 ABI, one machine");
        resultlen.write(version.write_text(text.as_bytes())? as c_int)
    }

    /// MPI 5.0, section 9.1.2: the name of this computer.
    fn PMPI_Get_processor_name(name[MPI_MAX_PROCESSOR_NAME]: Out<c_char>, resultlen: Out<c_int>) {
        let _state = check::running()?;
        resultlen.write(name.write_text(launch::host_name().as_bytes())? as c_int)
    }
}

/// MPI 5.0, section 9.6: seconds since a moment that is the same for all ranks; never goes backwards.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn PMPI_Wtime() -> f64 {
    match simulated_time() {
        Some((ticks, hz)) => ticks as f64 / hz as f64,
        None => host::clock::kernel_ns() as f64 * 1e-9,
    }
}
const _: prototypes::PMPI_Wtime = PMPI_Wtime;

/// MPI 5.0, section 9.6: seconds between two ticks of `MPI_Wtime`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn PMPI_Wtick() -> f64 {
    simulated_time().map_or(1e-9, |(_, hz)| 1.0 / hz as f64)
}
const _: prototypes::PMPI_Wtick = PMPI_Wtick;

/// What a rank computes between calls, for a simulated Cell (`cell.h`): operations of double precision, and bytes of
/// main memory that they touch. Elsewhere it does nothing.
#[unsafe(no_mangle)]
extern "C" fn cellweave_compute(flops: f64, bytes: f64) {
    if runtime::phase() == phase::RUNNING {
        if launch::job().is_some_and(|job| job.segment.is_carried()) {
            runtime::enter().engine.check_room(bytes as u64);
        }
        profile::beside(|| ROOM.ask(&CarriedCall::Compute { flops, bytes }));
    }
}

/// Where the program's static data lies: from its first writable byte to behind its last.
fn static_data() -> (u64, u64) {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader's description of the program, and the place that is passed below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<(u64, u64)>()) };
        // SAFETY: the loader says how many headers there are.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let writable =
            |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0;
        for header in headers.iter().filter(writable) {
            let start = info.dlpi_addr + header.p_vaddr;
            let end = start + header.p_memsz;
            *found = if found.1 == 0 { (start, end) } else { (found.0.min(start), found.1.max(end)) };
        }
        // The first one is the program itself.
        1
    }
    let mut found = (0, 0);
    // SAFETY: the function is called before this returns, with the place that it expects.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut found).cast()) };
    found
}

/// Of a rank on a simulated Cell: ticks of its SPE's decrementer, and how many make a second.
fn simulated_time() -> Option<(u64, u64)> {
    static LAST: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(1)];
    if !launch::job().is_some_and(|job| job.segment.is_carried()) {
        return None;
    }
    if let Some(CarriedAnswer::Time { ticks, hz }) = profile::beside(|| ROOM.ask(&CarriedCall::Time)) {
        LAST[0].store(ticks, Ordering::Relaxed);
        LAST[1].store(hz, Ordering::Relaxed);
    }
    // After MPI_Finalize no time passes.
    Some((LAST[0].load(Ordering::Relaxed), LAST[1].load(Ordering::Relaxed)))
}
