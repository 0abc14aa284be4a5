//! The command line of `slowpath` and its help texts.

use crate::rights::Needs;
use clap::{Args as ClapArgs, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The command line.
#[derive(Parser)]
#[command(
    name = "slowpath",
    version,
    about = "Runs a native Linux program, finds out WHY it is slow, and shows the evidence",
    after_help = "slowpath -- PROGRAM ARGUMENTS   is short for   slowpath record -- PROGRAM ARGUMENTS\n\n\
        The report goes to stderr. The program's own output is left alone. slowpath exits with the program's exit code, \
        or with 125 if slowpath itself failed, 126 if the program cannot be executed, 127 if it is not found.",
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    record: Record,
}

impl Args {
    /// The command that was asked for: `record` if none is named.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Record(self.record))
    }
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a program and report why it is slow (the default)
    Record(Record),
    /// Record a program that is already running
    Attach(Attach),
    /// Time two commands until it is clear which is faster, and explain why
    Compare(Box<Compare>),
    /// Run a command with several input sizes: how its time grows, and which functions cause it
    Scale(Scale),
    /// Count the calls of a few functions over a whole run (used by `compare`)
    #[command(hide = true)]
    Tally(Tally),
    /// Measure what this machine can do: AES, memory, system calls, processes, disk
    Limits(LimitsArgs),
    /// Show a recording, or compare two, in the browser or as an HTML file
    View(View),
    /// Show the report of a recording
    Explain(Explain),
    /// List the recordings
    List(List),
    /// Remove recordings
    Rm(Rm),
    /// List the causes that slowpath looks for; with NAME, what a cause means and how it is detected
    Causes {
        /// For example superlinear-work
        name: Option<String>,
    },
    /// Show what this machine allows, and how to allow more
    Doctor,
    /// Let users record without sudo (run this once, with sudo)
    Setup(Setup),
    /// Build and run the gallery of slow programs and their fixed versions
    Cases {
        #[command(subcommand)]
        command: Cases,
    },
}

impl Command {
    /// The rights that it needs.
    pub fn needs(&self) -> Needs {
        match self {
            Command::Record(record) if record.exact => Needs::Nothing,
            // It reads recordings, which may be somebody else's.
            Command::Compare(compare) if !compare.recordings.is_empty() => Needs::Nothing,
            Command::Record(_)
            | Command::Attach(_)
            | Command::Compare(_)
            | Command::Scale(_)
            | Command::Tally(_)
            | Command::Doctor => Needs::Recording,
            // The cases are recorded by commands of their own.
            Command::Cases { .. }
            | Command::Limits(_)
            | Command::View(_)
            | Command::Explain(_)
            | Command::List(_)
            | Command::Rm(_)
            | Command::Causes { .. }
            | Command::Setup(_) => Needs::Nothing,
        }
    }
}

/// Whom to let record without sudo.
#[derive(ClapArgs, Clone)]
pub struct Setup {
    /// Users to add to the group `slowpath` [default: the one who called sudo]
    #[arg(long = "user", value_name = "NAME", conflicts_with = "remove")]
    pub users: Vec<String>,
    /// Undo it: remove the installed copy and the group
    #[arg(long)]
    pub remove: bool,
}

/// Where recordings are stored.
#[derive(ClapArgs, Clone)]
pub struct At {
    /// Folder for recordings [default: $XDG_STATE_HOME/slowpath, else ~/.local/state/slowpath]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// How to show what was found.
#[derive(ClapArgs, Clone)]
pub struct Show {
    /// Print JSON to stdout (documented in docs/findings-json.md)
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print Markdown to stdout
    #[arg(long)]
    pub markdown: bool,
    /// Write the JSON or Markdown (or plain text) to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also write the report as one self-contained HTML file (see `slowpath view`)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How to record.
#[derive(ClapArgs, Clone)]
pub struct How {
    /// CPU samples per second
    #[arg(long, value_name = "HZ", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub rate: u32,
    /// KiB of user stack copied with each sample
    #[arg(long, value_name = "KIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub stack: u32,
    /// Do not trace system calls
    #[arg(long)]
    pub no_trace: bool,
    /// Do not store the arguments of programs, only their names
    #[arg(long)]
    pub redact_args: bool,
    /// Do not count calls, nor stop running threads for some ms to follow what they will do next
    #[arg(long)]
    pub no_count: bool,
    /// Disk space for all recordings (K, M, G). The oldest are removed before a new one is made. With --dir none are removed
    #[arg(long, value_name = "SIZE", env = "SLOWPATH_KEEP", default_value = crate::kept::ROOM, value_parser = crate::kept::size)]
    pub keep: u64,
}

/// `record`.
#[derive(ClapArgs)]
pub struct Record {
    #[command(flatten)]
    pub how: How,
    /// Count instructions and calls under valgrind's callgrind instead of sampling. Needs no privileges, is deterministic,
    /// and takes about 50 times as long. Times are not reported
    #[arg(long, conflicts_with_all = ["repeat", "user", "rate", "stack", "no_trace", "no_count"])]
    pub exact: bool,
    /// Run the program N times and merge the samples, for programs that are too short for one run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Run the program as this user (when slowpath runs as root)
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    #[command(flatten)]
    pub at: At,
    #[command(flatten)]
    pub show: Show,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", num_args = 1.., required = true)]
    pub command: Vec<OsString>,
}

/// `tally`.
#[derive(ClapArgs)]
pub struct Tally {
    /// A function to count: where it begins, in hex as its file counts addresses, and the file
    #[arg(long, value_name = "ADDRESS:FILE", required = true)]
    pub entry: Vec<String>,
    /// Where the counts go, as JSON
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", num_args = 1.., required = true)]
    pub command: Vec<OsString>,
}

/// `attach`.
#[derive(ClapArgs)]
pub struct Attach {
    /// The process; its threads and descendants are recorded too
    #[arg(short, long, value_name = "PID")]
    pub pid: u32,
    /// Stop after this many seconds (default: when the program ends, or at Ctrl-C)
    #[arg(short, long, value_name = "S")]
    pub duration: Option<f64>,
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub at: At,
    #[command(flatten)]
    pub show: Show,
}

/// `view`.
#[derive(ClapArgs)]
pub struct View {
    /// A recording's id or folder (default: the newest); or two, to compare the second with the first
    #[arg(num_args = 0..=2)]
    pub recordings: Vec<String>,
    /// Compare with this recording
    #[arg(long, value_name = "RECORDING")]
    pub compare: Option<String>,
    /// Write one self-contained HTML file. Without this option the page is served on 127.0.0.1
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Include the text of the program's source files; whoever gets the file can read them. They are read from the
    /// working directory of the recording and the program's directory. A served page always includes them
    #[arg(long)]
    pub with_source: bool,
    /// Also include source files from this folder; can be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "all_sources")]
    pub source_root: Vec<PathBuf>,
    /// Include every source file that the recording names and you can read, wherever it is. Use only for programs you trust
    #[arg(long)]
    pub all_sources: bool,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub at: At,
}

/// `explain`.
#[derive(ClapArgs)]
pub struct Explain {
    /// A recording's id or folder (default: the newest)
    pub recording: Option<String>,
    /// Print its system calls instead: by name and by call site, most time first
    #[arg(long, conflicts_with_all = ["json", "markdown", "output"])]
    pub syscalls: bool,
    #[command(flatten)]
    pub at: At,
    #[command(flatten)]
    pub show: Show,
}

/// `compare`.
#[derive(ClapArgs)]
#[command(
    override_usage = "slowpath compare [OPTIONS] -- 'COMMAND A' 'COMMAND B'\n       slowpath compare [OPTIONS] RECORDING_A RECORDING_B",
    after_help = "Both commands run without recording, in pairs of random order, until it is clear which is faster. \
        Then each is recorded once to explain the difference.\n\n\
        Exit codes: 0 done, and as expected if an expectation was given; 1 slowpath or a command failed; 2 not as expected; \
        3 no verdict (only with --strict, else 0); 64 usage error."
)]
pub struct Compare {
    /// Two recordings (ids or folders), to show what changed between them
    #[arg(num_args = 2, value_names = ["RECORDING_A", "RECORDING_B"], conflicts_with = "commands")]
    pub recordings: Vec<String>,
    /// Two commands, each quoted as one argument. A shell is used where a command needs it
    #[arg(last = true, num_args = 1..=2, required_unless_present = "recordings", value_names = ["COMMAND A", "COMMAND B"])]
    pub commands: Vec<String>,
    /// Name of a command in the report; give it twice
    #[arg(long, short = 'n', value_name = "NAME")]
    pub name: Vec<String>,
    /// Run this once before all runs
    #[arg(long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Run this before each run; if given twice, the second is for the second command
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Run this once after all runs
    #[arg(long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Warm-up runs of each command, not counted
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1)]
    pub warmup: u32,
    /// Minimum number of pairs
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub min_pairs: usize,
    /// Maximum number of pairs
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub max_pairs: usize,
    /// Start no new pair after this many seconds; no single run may take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 180.0)]
    pub time_limit: f64,
    /// File that both commands read from stdin
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Use this shell for both commands
    #[arg(long, short = 'S', value_name = "SHELL", conflicts_with = "no_shell")]
    pub shell: Option<String>,
    /// Never use a shell
    #[arg(long, short = 'N')]
    pub no_shell: bool,
    /// Fail unless both write the same output to stdout
    #[arg(long)]
    pub same_output: bool,
    /// Accept a failing command if it always exits with the same code
    #[arg(long, short = 'i')]
    pub ignore_failure: bool,
    /// Show what the commands write to stderr
    #[arg(long)]
    pub show_stderr: bool,
    /// Compare CPU time instead of elapsed time
    #[arg(long)]
    pub cpu: bool,
    /// Treat a difference of this many percent or less as no difference
    #[arg(long, value_name = "PCT", default_value_t = 2.0)]
    pub indifferent: f64,
    /// Exit with 2 if the second command is slower than the first by more than this many percent (95 % confidence)
    #[arg(long, value_name = "PCT", conflicts_with = "expect_faster_than")]
    pub fail_if_slower_than: Option<f64>,
    /// … and by more than this many milliseconds
    #[arg(long, value_name = "MS", requires = "fail_if_slower_than")]
    pub and_by_ms: Option<f64>,
    /// Exit with 2 if the second command is not at least this many times as fast as the first (95 % confidence)
    #[arg(long, value_name = "TIMES")]
    pub expect_faster_than: Option<f64>,
    /// Exit with 3 if there is no clear result
    #[arg(long)]
    pub strict: bool,
    /// Do not record the commands to explain the difference
    #[arg(long)]
    pub no_why: bool,
    /// Write the comparison as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write the comparison as Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Write both recordings and the verdict as one HTML file (see `slowpath view`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_why", "self_check"])]
    pub html: Option<PathBuf>,
    /// Compare one command with itself: shows what difference can be detected on this machine in the given time
    #[arg(long, conflicts_with_all = ["recordings", "fail_if_slower_than", "expect_faster_than"])]
    pub self_check: bool,
    #[command(flatten)]
    pub at: At,
}

/// `scale`.
#[derive(ClapArgs)]
#[command(
    override_usage = "slowpath scale [OPTIONS] -L NAME=SIZE,SIZE,… -- COMMAND with {NAME} in it\n       slowpath scale [OPTIONS] --files FILE,FILE,… -- COMMAND with {file} in it"
)]
pub struct Scale {
    /// The command, with {NAME} or {file} where the size belongs
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
    /// Values for {NAME}, one after the other: numbers
    #[arg(
        long = "list",
        short = 'L',
        value_name = "NAME=SIZE,…",
        required_unless_present = "files",
        conflicts_with = "files"
    )]
    pub list: Option<String>,
    /// Values for {file}, one after the other: files; their size in bytes is the input size
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    pub files: Vec<PathBuf>,
    /// Each run makes N calls of the given size: separate the fixed cost of a call from the cost per byte
    #[arg(long, value_name = "N", requires = "used")]
    pub calls: Option<f64>,
    /// The typical size of a call in production, in bytes
    #[arg(long, value_name = "BYTES", requires = "calls")]
    pub used: Option<f64>,
    /// Compare the calls with this limit of the machine (see `slowpath limits`): aes, copy or read
    #[arg(long, value_name = "NAME", requires = "calls")]
    pub limit: Option<String>,
    /// Count instructions and calls, each size once under valgrind's callgrind. No noise, and it separates the function
    /// that is the cause from those it calls. About 50 times slower, so use small sizes. Times are not reported
    #[arg(long, conflicts_with_all = ["calls", "used", "limit", "no_record", "runs"])]
    pub exact: bool,
    /// Runs of each size without recording; up to three times as many where their times differ
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub runs: u32,
    /// Extrapolate to this size
    #[arg(long, value_name = "SIZE")]
    pub at: Option<f64>,
    /// Time limit of one run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub time_limit: f64,
    /// Write the recording of the largest size and the results of all sizes as one HTML file
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub html: Option<PathBuf>,
    /// Only time the command: no functions are reported
    #[arg(long)]
    pub no_record: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub kept: At,
}

/// `limits`.
#[derive(ClapArgs)]
pub struct LimitsArgs {
    /// Measure again, ignoring stored results
    #[arg(long)]
    pub again: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `list`.
#[derive(ClapArgs)]
pub struct List {
    #[command(flatten)]
    pub at: At,
}

/// `rm`.
#[derive(ClapArgs)]
pub struct Rm {
    /// Ids or folders of recordings
    #[arg(required_unless_present_any = ["all", "older_than"])]
    pub recordings: Vec<String>,
    /// All recordings of the folder
    #[arg(long)]
    pub all: bool,
    /// All recordings of the folder that are older than this: 7d, 12h, 30m
    #[arg(long, value_name = "AGE", value_parser = crate::kept::age)]
    pub older_than: Option<u64>,
    /// Also remove a recording outside the folder of recordings
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub at: At,
}

/// `cases`.
#[derive(Subcommand)]
pub enum Cases {
    /// Build and run cases, and show what was found in the slow and in the fixed version
    Run {
        /// Names of cases, or `all`
        #[arg(required = true)]
        names: Vec<String>,
        /// Folder of the cases
        #[arg(long, value_name = "DIR", default_value = "cases")]
        gallery: PathBuf,
    },
    /// List the cases
    List {
        /// Folder of the cases
        #[arg(long, value_name = "DIR", default_value = "cases")]
        gallery: PathBuf,
    },
}
