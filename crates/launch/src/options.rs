//! The command line of `cellrun`.

use crate::processes::host_name;
use ranks::DataMemory;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use transport::segment::MOST_RANKS;

/// The variable that names the error handler that ranks start with.
pub const INITIAL_ERRHANDLER: &str = "CELLWEAVE_MPI_INITIAL_ERRHANDLER";
/// The names that it can have (MPI 5.0, section 11.8.2).
pub const ERRHANDLERS: [&str; 3] = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

/// The text of `cellrun --help`.
pub const HELP: &str = "\
cellrun: starts the ranks of an MPI program on this machine

    cellrun [options] [-n N] program [arguments] [: [-n N] program [arguments]] ...

Options of the job, before its first program:
    --tag-output          put [RANK] before every line
    --place auto          a core for each rank, near one another, or the same number of ranks on
                          each core (this is the default); where neither goes, as with none
    --place none          leave it to the kernel
    --place FILE          rank by rank from a file: cpus (0 3 1 2), or what `cellweave place` wrote
    --traffic FILE        with --place auto: ranks that send much to each other get the near ones of
                          these cores; FILE is a profile, or another pattern of `cellweave place`
    --on MACHINE          on a simulated Cell, each rank on an SPE: cell, ps3, qs20 or qs22; MPI_Wtime
                          is simulated time, and what a rank computes takes what it declares
    --place WHERE         with --on: the SPE of each rank: Identity (rank r on SPE r; this is the
                          default), Ring, EvenOdd, Overlap, Leap2, Default, a list (0,3,1,2), or a
                          file as above
    --memory WHERE        with --on: in whose main memory the ranks' data is: nearest (that of the
                          rank's Cell; this is the default), one (the first Cell's) or both (by turns)
    --rules NAME          with --on: the rule set of the simulated bus
    --data WHERE          with --on, where the program's data lies: main (main memory; this is the
                          default) or local (the local store: 256 kB with code, stack and queues)
    --buffered BYTES      with --on: the sender of a message of more bytes waits for the receiver;
                          2048 when not said
    --compute WHAT        with --on, the time that a rank is charged between its calls: declared (by
                          cell_compute; this is the default), measured:FILE (also the cpu time that it
                          takes on this computer; FILE records it), or replayed:FILE (as recorded)
    --factor F            with --compute measured: charge F times that; 1 when not said
    --trace FILE          with --on: what ranks, DMA, rings and queues do, for ui.perfetto.dev
    --profile FILE        write who sent how much to whom; a later run may take it as --traffic
    --stuck-after S       say who waits for whom when nothing has moved for S seconds
    --timeout S           end the job after S seconds (also by MPIEXEC_TIMEOUT)
    --stdin RANK          who reads the standard input: rank 0 (this is the default), another, or none
    --display-map         say on which cpu each rank starts
    -configfile FILE      the rest of the command line, a program a line; # begins a comment
    --initial-errhandler NAME
                          what an error does before a program says so: mpi_errors_are_fatal (this
                          is the default), mpi_errors_abort or mpi_errors_return
    -genv NAME VALUE      set a variable for all ranks
    -h, --help            this
    -V, --version         the version

Options of a program:
    -n N, -np N           ranks that run it: 1 to 256 in all; 1 when not said
    -env NAME VALUE       set a variable for its ranks
    -x NAME=VALUE         the same
    -wdir DIR             start in DIR

Other launchers' names for these: -c (-n), -wd (-wdir), -l, --prepend-rank (--tag-output), --app (-configfile),
--bind-to none (--place none), --bind-to with anything else (--place auto). -H, -host, -hosts may name this machine.
Taken, and without a meaning on one machine: --oversubscribe, --allow-run-as-root, --use-hwthread-cpus,
--report-bindings, --quiet, --verbose, -v, -genvall, -envall, -genvlist LIST, -envlist LIST, --map-by WHAT,
--rank-by WHAT, -ppn N, --npernode N, and --mca, --pmixmca, --prtemca with NAME and VALUE.

Who does not read the standard input reads nothing. Ranks know their number as CELLWEAVE_MPI_RANK of
CELLWEAVE_MPI_SIZE. The exit code is that of the first rank that failed, or 128 and the signal that killed it.
";

/// One of the programs of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramOptions {
    /// How many ranks run it.
    pub ranks: usize,
    /// Its name as typed, and its arguments.
    pub words: Vec<OsString>,
    /// Variables that its ranks get, in order; the last of a name counts.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its ranks start; nothing: where `cellrun` was started.
    pub directory: Option<PathBuf>,
}

/// Where ranks run.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Placement {
    /// A core each, compact by distance, when there are enough.
    #[default]
    Auto,
    /// Wherever the kernel puts them.
    None,
    /// As a file says; on a simulated machine also an affinity by its name, or a list of SPEs.
    File(PathBuf),
}

/// What ranks on a simulated machine are charged for computing between their calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ComputeOptions {
    /// What they declare.
    #[default]
    Declared,
    /// Also the cpu time that it takes on this computer.
    Measured {
        /// Times so much.
        factor: f64,
        /// Where to record it.
        file: PathBuf,
    },
    /// As a file recorded it.
    Replayed(PathBuf),
}

/// Who reads the standard input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StdinReader {
    /// A rank.
    Rank(usize),
    /// Nobody.
    Nobody,
}

impl StdinReader {
    /// The rank that reads, if one does.
    pub(crate) fn rank(self) -> Option<usize> {
        match self {
            Self::Rank(rank) => Some(rank),
            Self::Nobody => None,
        }
    }
}

impl Default for StdinReader {
    fn default() -> Self {
        Self::Rank(0)
    }
}

/// The command line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LaunchOptions {
    /// What runs, in order of ranks.
    pub programs: Vec<ProgramOptions>,
    /// Put the rank before every line of output.
    pub tags: bool,
    /// Where ranks run.
    pub placement: Placement,
    /// A file that says who sends how much to whom, for placing.
    pub traffic: Option<PathBuf>,
    /// The simulated machine on which ranks run; nothing: this computer.
    pub on: Option<Box<sim::Parameters>>,
    /// On a simulated machine: in whose main memory the ranks' data is.
    pub memory: Option<DataMemory>,
    /// On a simulated machine: the sender of a message of more bytes waits for the receiver.
    pub buffered_bytes: Option<u64>,
    /// On a simulated machine: the program's data lies in local stores.
    pub local_data: bool,
    /// On a simulated machine: what ranks are charged for computing.
    pub compute: ComputeOptions,
    /// On a simulated machine: where to write the trace.
    pub trace: Option<PathBuf>,
    /// Where to write the profile.
    pub profile: Option<PathBuf>,
    /// Say which rank waits for which after so many seconds in which nothing moved.
    pub stuck_after_s: Option<f64>,
    /// End the job after so many seconds.
    pub timeout_s: Option<f64>,
    /// Who reads the standard input.
    pub reader: StdinReader,
    /// Say on which cpu each rank starts.
    pub map: bool,
}

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Asked {
    /// To run a job.
    Run(Box<LaunchOptions>),
    /// For the help.
    Help,
    /// For the version.
    Version,
}

impl LaunchOptions {
    /// Ranks in all.
    pub fn ranks(&self) -> usize {
        self.programs.iter().map(|program| program.ranks).sum()
    }
}

/// Options of other launchers that mean nothing on one machine, with the number of their values.
const WITHOUT_MEANING: &[(&str, usize)] = &[
    ("oversubscribe", 0),
    ("allow-run-as-root", 0),
    ("use-hwthread-cpus", 0),
    ("report-bindings", 0),
    ("quiet", 0),
    ("verbose", 0),
    ("v", 0),
    ("genvall", 0),
    ("envall", 0),
    // Ranks have all variables anyway.
    ("genvlist", 1),
    ("envlist", 1),
    ("map-by", 1),
    ("rank-by", 1),
    ("ppn", 1),
    ("npernode", 1),
    ("mca", 2),
    ("pmixmca", 2),
    ("prtemca", 2),
];

/// Reads the command line, without the name of the launcher itself.
///
/// # Errors
/// What is wrong with it, and what is allowed.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, String> {
    let mut words: VecDeque<OsString> = words.into_iter().collect();
    let mut options = LaunchOptions::default();
    let mut common: Vec<(OsString, OsString)> = Vec::new();
    let mut rules: Option<sim::Rules> = None;
    let mut factor = None;
    loop {
        let mut program =
            ProgramOptions { ranks: 1, words: Vec::new(), environment: Vec::new(), directory: None };
        let mut counted = false;
        let mut started = false;
        while let Some(word) = words.pop_front() {
            if word == ":" {
                return Err("there is no program before :".into());
            }
            if word == "--" {
                program.words.extend(words.pop_front());
                started = !program.words.is_empty();
                break;
            }
            let Some(name) = option_name(&word) else {
                program.words.push(word);
                started = true;
                break;
            };
            // `--timeout=5` is `--timeout 5`.
            let (name, mut attached) = match name.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (name, None),
            };
            let mut value = |what: &str| {
                let value = attached.take().or_else(|| words.pop_front());
                value.ok_or_else(|| format!("{} needs {what}", word.to_string_lossy()))
            };
            match name {
                "n" | "np" | "c" => {
                    program.ranks = ranks(&value("a number of ranks")?)?;
                    counted = true;
                }
                "env" => program.environment.push((value("a name and a value")?, value("a value")?)),
                "genv" => common.push((value("a name and a value")?, value("a value")?)),
                "x" => program.environment.extend(variable(&value("a name, or NAME=VALUE")?)),
                "wdir" | "wd" => program.directory = Some(value("a directory")?.into()),
                "tag-output" | "prepend-rank" | "l" => options.tags = true,
                "place" => {
                    options.placement = match value("auto, none or a file")? {
                        word if word == "auto" => Placement::Auto,
                        word if word == "none" => Placement::None,
                        file => Placement::File(file.into()),
                    }
                }
                // The names of other launchers: bound to something, or not at all.
                "bind-to" => {
                    options.placement = match value("none or core")? {
                        word if word == "none" => Placement::None,
                        _ => Placement::Auto,
                    }
                }
                "traffic" => options.traffic = Some(value("a file")?.into()),
                "on" => options.on = Some(Box::new(machine(&value("a machine")?)?)),
                "memory" => options.memory = Some(memory(&value("nearest, one or both")?)?),
                "rules" => rules = Some(rule_set(&value("the name of a rule set")?)?),
                "buffered" => options.buffered_bytes = Some(buffered(&value("a number of bytes")?)?),
                "compute" => options.compute = compute(&value("declared, measured:FILE or replayed:FILE")?)?,
                "factor" => factor = Some(charge_factor(&value("a factor")?)?),
                "data" => options.local_data = local_data(&value("main or local")?)?,
                "trace" => options.trace = Some(value("a file")?.into()),
                "profile" => options.profile = Some(value("a file")?.into()),
                "stuck-after" => options.stuck_after_s = Some(seconds("--stuck-after", &value("seconds")?)?),
                "initial-errhandler" => {
                    let handler = value("the name of an error handler")?;
                    if !ERRHANDLERS.iter().any(|name| handler == *name) {
                        let (handler, allowed) = (handler.to_string_lossy(), ERRHANDLERS.join(", "));
                        return Err(format!("--initial-errhandler {handler}: allowed are {allowed}"));
                    }
                    common.push((INITIAL_ERRHANDLER.into(), handler));
                }
                "timeout" => options.timeout_s = Some(seconds("--timeout", &value("seconds")?)?),
                "stdin" => options.reader = reader(&value("a rank, or none")?)?,
                "display-map" => options.map = true,
                "configfile" | "app" => {
                    let file = PathBuf::from(value("a file")?);
                    if !words.is_empty() || !options.programs.is_empty() {
                        return Err(format!(
                            "{} {}: the file is the rest of the command line; put what follows into it",
                            word.to_string_lossy(),
                            file.display()
                        ));
                    }
                    words = from_file(&file)?;
                }
                "H" | "host" | "hosts" => only_here(&value("a host")?)?,
                "help" | "h" => return Ok(Asked::Help),
                "version" | "V" => return Ok(Asked::Version),
                "hostfile" | "machinefile" | "f" => {
                    return Err(format!(
                        "{} is for several machines; cellrun starts ranks on this one only",
                        word.to_string_lossy()
                    ));
                }
                other => match WITHOUT_MEANING.iter().find(|(known, _)| *known == other) {
                    Some((_, values)) => {
                        for _ in 0..*values {
                            value("a value")?;
                        }
                    }
                    None => {
                        return Err(format!(
                            "no option {} is known (a program whose name begins with - is started as ./-name)",
                            word.to_string_lossy()
                        ));
                    }
                },
            }
            if attached.is_some() {
                return Err(format!("{}: this option takes no value", word.to_string_lossy()));
            }
        }
        let mut more = false;
        while let Some(word) = words.pop_front() {
            if word == ":" {
                more = true;
                break;
            }
            program.words.push(word);
        }
        if !started {
            let where_ = if options.programs.is_empty() { "" } else { " after :" };
            let counted = if counted { " to start" } else { "" };
            return Err(format!("there is no program{counted}{where_}"));
        }
        options.programs.push(program);
        if !more {
            break;
        }
    }
    if let (Some(file), Placement::None | Placement::File(_)) = (&options.traffic, &options.placement) {
        return Err(format!("--traffic {}: it is used with --place auto", file.display()));
    }
    match (factor, &mut options.compute) {
        (Some(said), ComputeOptions::Measured { factor, .. }) => *factor = said,
        (Some(said), _) => return Err(format!("--factor {said}: it is used with --compute measured:FILE")),
        (None, _) => {}
    }
    if options.on.is_none() {
        if let Some(bytes) = options.buffered_bytes {
            return Err(format!("--buffered {bytes}: it is used with --on"));
        }
        if options.compute != ComputeOptions::Declared {
            return Err("--compute: it is used with --on".into());
        }
        if options.local_data {
            return Err("--data local: it is used with --on".into());
        }
        if let Some(file) = &options.trace {
            return Err(format!("--trace {}: it is used with --on", file.display()));
        }
        if options.memory.is_some() || rules.is_some() {
            return Err("--memory and --rules are used with --on".into());
        }
    }
    let ranks = options.ranks();
    if let Some(machine) = &mut options.on {
        let name = &machine.name;
        if options.traffic.is_some() {
            return Err(format!(
                "--on {name}: --traffic is for this computer; `cellweave place FILE --on {name} -o PLACE` writes what \
                 --place PLACE reads"
            ));
        }
        ranks::fits(machine, ranks).map_err(|error| format!("--on {name}: {error}"))?;
        if options.placement == Placement::None {
            return Err(format!("--on {name}: --place none is for this computer"));
        }
        if options.memory == Some(DataMemory::Both) && machine.chips < 2 {
            return Err(format!("--memory both: {name} has one memory"));
        }
        if let Some(rules) = rules {
            machine.rules = rules;
        }
    }
    for program in &mut options.programs {
        program.environment.splice(0..0, common.iter().cloned());
    }
    if let StdinReader::Rank(rank) = options.reader
        && rank >= options.ranks()
    {
        return Err(format!("--stdin {rank}: there are ranks 0 to {}", options.ranks() - 1));
    }
    match options.ranks() {
        ..=MOST_RANKS => Ok(Asked::Run(Box::new(options))),
        all => Err(format!("the programs have {all} ranks together; at most {MOST_RANKS} are allowed")),
    }
}

/// The name of an option without its one or two dashes; nothing when the word is no option.
fn option_name(word: &OsStr) -> Option<&str> {
    let word = word.to_str()?;
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    (!name.is_empty()).then_some(name)
}

fn ranks(word: &OsStr) -> Result<usize, String> {
    let allowed = format!("allowed are 1 to {MOST_RANKS}");
    match word.to_str().and_then(|word| word.parse::<i64>().ok()) {
        Some(ranks) if (1..=MOST_RANKS as i64).contains(&ranks) => Ok(ranks as usize),
        Some(ranks) => Err(format!("-n {ranks}: {allowed}")),
        None => Err(format!("-n {}: not a number; {allowed}", word.to_string_lossy())),
    }
}

/// Bytes of a message, from 0 to 4 MB.
fn buffered(word: &OsStr) -> Result<u64, String> {
    const MOST: u64 = 4 << 20;
    match word.to_str().and_then(|word| word.parse().ok()) {
        Some(bytes) if bytes <= MOST => Ok(bytes),
        _ => Err(format!("--buffered {}: allowed are 0 to {MOST} bytes", word.to_string_lossy())),
    }
}

/// In whose main memory data is.
fn memory(word: &OsStr) -> Result<DataMemory, String> {
    match word.to_str() {
        Some("nearest") => Ok(DataMemory::Nearest),
        Some("one") => Ok(DataMemory::One),
        Some("both") => Ok(DataMemory::Both),
        _ => Err(format!("--memory {}: allowed are nearest, one and both", word.to_string_lossy())),
    }
}

/// A rule set of the simulated bus.
fn rule_set(word: &OsStr) -> Result<sim::Rules, String> {
    word.to_str().and_then(sim::Rules::named).ok_or_else(|| {
        let allowed: Vec<String> = sim::Rules::all().into_iter().map(|rules| rules.name).collect();
        format!("--rules {}: allowed are {}", word.to_string_lossy(), allowed.join(", "))
    })
}

/// Where a program's data lies.
fn local_data(word: &OsStr) -> Result<bool, String> {
    match word.to_str() {
        Some("main") => Ok(false),
        Some("local") => Ok(true),
        _ => Err(format!("--data {}: allowed are main and local", word.to_string_lossy())),
    }
}

/// What is charged.
fn compute(word: &OsStr) -> Result<ComputeOptions, String> {
    let word = word.to_string_lossy();
    match word.split_once(':') {
        None if word == "declared" => Ok(ComputeOptions::Declared),
        Some(("measured", file)) if !file.is_empty() => {
            Ok(ComputeOptions::Measured { factor: 1.0, file: file.into() })
        }
        Some(("replayed", file)) if !file.is_empty() => Ok(ComputeOptions::Replayed(file.into())),
        _ => Err(format!("--compute {word}: allowed are declared, measured:FILE and replayed:FILE")),
    }
}

/// How many times its measured time a rank is charged.
fn charge_factor(word: &OsStr) -> Result<f64, String> {
    match word.to_str().and_then(|word| word.parse::<f64>().ok()) {
        Some(factor) if factor > 0.0 && factor <= 1e6 => Ok(factor),
        _ => Err(format!("--factor {}: allowed are numbers above 0, up to 1e6", word.to_string_lossy())),
    }
}

/// A machine that can be simulated.
fn machine(name: &OsStr) -> Result<sim::Parameters, String> {
    name.to_str().and_then(sim::Parameters::named).ok_or_else(|| {
        let allowed = sim::target::NAMES.join(", ");
        format!("--on {}: allowed are {allowed}", name.to_string_lossy())
    })
}

/// A number of seconds greater than 0.
///
/// # Errors
/// When it isn't.
pub fn seconds(option: &str, word: &OsStr) -> Result<f64, String> {
    match word.to_str().and_then(|word| word.parse::<f64>().ok()) {
        Some(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err(format!(
            "{option} {}: allowed are seconds, more than 0 (2.5 is two and a half)",
            word.to_string_lossy()
        )),
    }
}

fn reader(word: &OsStr) -> Result<StdinReader, String> {
    match word.to_str() {
        Some("none") => Ok(StdinReader::Nobody),
        Some(number) if number.parse::<u16>().is_ok() => Ok(StdinReader::Rank(number.parse().unwrap_or(0))),
        _ => Err(format!("--stdin {}: allowed are a rank and none", word.to_string_lossy())),
    }
}

/// The words of a file: its lines as programs of one job. Words are split at blanks, except between quotes.
fn from_file(file: &Path) -> Result<VecDeque<OsString>, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("-configfile {}: {}", file.display(), error))?;
    let mut words = VecDeque::new();
    for (number, line) in text.lines().enumerate() {
        let found =
            split(line).ok_or_else(|| format!("{}:{}: a quote is not closed", file.display(), number + 1))?;
        if !found.is_empty() && !words.is_empty() {
            words.push_back(":".into());
        }
        words.extend(found);
    }
    Ok(words)
}

/// A line's words up to a comment; nothing when a quote is open at its end.
fn split(line: &str) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '#' && word.is_none() => break,
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take().map(OsString::from)),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.map(OsString::from));
    quote.is_none().then_some(words)
}

/// `NAME=VALUE`; a name alone is passed on anyway.
fn variable(word: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = word.as_bytes();
    let split = bytes.iter().position(|&byte| byte == b'=')?;
    Some((OsStr::from_bytes(&bytes[..split]).into(), OsStr::from_bytes(&bytes[split + 1..]).into()))
}

fn only_here(hosts: &OsStr) -> Result<(), String> {
    let hosts = hosts.to_string_lossy();
    let own = host_name();
    for host in hosts.split(',') {
        let name = host.split(':').next().unwrap_or(host);
        if !["localhost", "127.0.0.1", "::1", own.as_str()].contains(&name) {
            return Err(format!("{name} is another machine; cellrun starts ranks on this one ({own}) only"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn run(line: &str) -> LaunchOptions {
        match told(line) {
            Ok(Asked::Run(options)) => *options,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_initial_error_handler_is_passed_on_and_others_are_refused() {
        let words = |name: &str| ["--initial-errhandler", name, "prog"].map(OsString::from);
        let Ok(Asked::Run(options)) = parse(words("mpi_errors_return")) else { panic!("it is refused") };
        assert_eq!(options.programs[0].environment[0].1, "mpi_errors_return");
        assert!(parse(words("none")).unwrap_err().contains("mpi_errors_abort"));
    }

    #[test]
    fn a_programs_own_options_stay_its_own() {
        let options = run("-n 3 prog -n 7 --help");
        assert_eq!(options.ranks(), 3);
        assert_eq!(options.programs[0].words, ["prog", "-n", "7", "--help"]);
    }

    #[test]
    fn several_programs_have_their_own_ranks_and_variables() {
        let options = run("-genv A 1 -n 2 -env B 2 one x : -np 3 -wdir /tmp -x A=3 two");
        assert_eq!(options.ranks(), 5);
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        assert_eq!(options.programs[0].environment, [pair("A", "1"), pair("B", "2")]);
        assert_eq!(options.programs[1].environment, [pair("A", "1"), pair("A", "3")]);
        assert_eq!(options.programs[1].directory, Some("/tmp".into()));
        assert_eq!(options.programs[1].words, ["two"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        for (line, text) in [
            ("-n 0 x", "-n 0: allowed are 1 to 256"),
            ("-n 257 x", "-n 257: allowed are 1 to 256"),
            ("-n abc x", "-n abc: not a number; allowed are 1 to 256"),
            ("-n", "-n needs a number of ranks"),
            ("", "there is no program"),
            ("-n 2", "there is no program to start"),
            ("-n 2 a :", "there is no program after :"),
            ("-n 2 : a", "there is no program before :"),
            ("--tag-output=no a", "--tag-output=no: this option takes no value"),
            ("-n 200 a : -n 57 b", "the programs have 257 ranks together; at most 256 are allowed"),
            (
                "--stuck-after soon x",
                "--stuck-after soon: allowed are seconds, more than 0 (2.5 is two and a half)",
            ),
            ("-host elsewhere x", "elsewhere is another machine"),
            ("--traffic t.csv --place none x", "--traffic t.csv: it is used with --place auto"),
            ("--buffered 1 x", "--buffered 1: it is used with --on"),
            ("--buffered 4194305 --on cell x", "--buffered 4194305: allowed are 0 to 4194304 bytes"),
            ("--memory one x", "--memory and --rules are used with --on"),
            ("--memory two --on cell x", "--memory two: allowed are nearest, one and both"),
            ("--memory both --on cell x", "--memory both: cell has one memory"),
            ("--rules best --on cell x", "--rules best: allowed are "),
            ("--place none --on cell x", "--on cell: --place none is for this computer"),
            ("--place f --traffic t.csv x", "--traffic t.csv: it is used with --place auto"),
            ("--stdin 2 -n 2 x", "--stdin 2: there are ranks 0 to 1"),
            ("--stdin all x", "--stdin all: allowed are a rank and none"),
            ("-configfile f x", "-configfile f: the file is the rest of the command line"),
            ("--app /none/such", "-configfile /none/such: "),
        ] {
            let error = told(line).unwrap_err();
            assert!(error.starts_with(text), "{line}: {error}");
        }
        assert!(told("--frobnicate x").unwrap_err().contains("no option --frobnicate"));
    }

    #[test]
    fn values_may_be_attached_and_two_dashes_end_the_options() {
        let options = run("--np=3 --timeout=2.5 -- -prog -n 2");
        assert_eq!((options.ranks(), options.timeout_s), (3, Some(2.5)));
        assert_eq!(options.programs[0].words, ["-prog", "-n", "2"]);
    }

    #[test]
    fn options_of_other_launchers_that_mean_nothing_here_are_accepted() {
        let options = run("--oversubscribe --mca btl self,vader -bind-to none -host localhost:4 -n 2 x");
        assert_eq!((options.ranks(), options.placement), (2, Placement::None));
    }

    #[test]
    fn what_is_accepted_is_in_the_help() {
        for (name, _) in WITHOUT_MEANING {
            assert!(HELP.contains(&format!("-{name}")), "{name}");
        }
        assert!(HELP.lines().all(|line| line.len() <= 120));
        assert_eq!(run("-H localhost -genvlist PATH,HOME -n 2 x").ranks(), 2);
    }

    #[test]
    fn a_file_may_hold_the_programs() {
        let folder = std::env::temp_dir().join(format!("cellweave-configfile-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("job");
        std::fs::write(&file, "# a job\n-n 2 one 'a b' \"\" # two words\n\n-n 3 -env A 1 two#2\n").unwrap();
        let options = run(&format!("--tag-output -configfile {}", file.display()));
        assert_eq!((options.tags, options.ranks()), (true, 5));
        assert_eq!(options.programs[0].words, ["one", "a b", ""]);
        assert_eq!(options.programs[1].words, ["two#2"]);
        std::fs::write(&file, "one 'a\n").unwrap();
        assert!(
            told(&format!("--app {}", file.display())).unwrap_err().ends_with("job:1: a quote is not closed")
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
