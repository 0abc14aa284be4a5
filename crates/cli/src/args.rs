//! What can be asked of `slowpath`, and the help that says so.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The command line.
#[derive(Parser)]
#[command(
    name = "slowpath",
    version,
    about = "Runs a native Linux program, finds WHY it is slow, and shows the evidence.",
    after_help = "slowpath -- PROGRAM ARGUMENTS   is short for   slowpath record -- PROGRAM ARGUMENTS\n\n\
        The report goes to stderr, so that the program's own output stays its own. slowpath exits as the program did;\n\
        125 if slowpath itself failed, 126 if the program cannot be run, 127 if it is not there.",
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
    /// Run a program and tell why it is slow (the default)
    Record(Record),
    /// Look at a program that is running already
    Attach(Attach),
    /// Time two commands until it is known which is faster, and say why
    Compare(Box<Compare>),
    /// Run a command at several sizes of its input: how its time rises, and which function's does
    Scale(Scale),
    /// Count the calls of a few functions over a whole run (what `compare` does for its why)
    #[command(hide = true)]
    Tally(Tally),
    /// What this machine can do: AES, memory, system calls, processes, the disk
    Limits(LimitsArgs),
    /// Look at a recording, or compare two, as a page in the browser or in a file
    View(View),
    /// Tell again what a recording says
    Explain(Explain),
    /// List the recordings
    List(List),
    /// Remove recordings
    Rm(Rm),
    /// The causes that are looked for; with NAME, what one means and how it is told
    Causes {
        /// Such as superlinear-work
        name: Option<String>,
    },
    /// What this machine allows, and what would allow more
    Doctor,
    /// The gallery of slow programs and their mended twins
    Cases {
        #[command(subcommand)]
        command: Cases,
    },
}

/// Where recordings live.
#[derive(ClapArgs, Clone)]
pub struct At {
    /// Folder that recordings are kept in [default: $XDG_STATE_HOME/slowpath, else ~/.local/state/slowpath]
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
    /// Write the JSON or Markdown (or plain text) to this file and not to stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the page to this file too: one HTML file that needs nothing else (see `slowpath view`)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How to record.
#[derive(ClapArgs, Clone)]
pub struct How {
    /// CPU samples a second
    #[arg(long, value_name = "HZ", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub rate: u32,
    /// User stack copied with each sample, KiB
    #[arg(long, value_name = "KIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub stack: u32,
    /// Do not trace system calls
    #[arg(long)]
    pub no_trace: bool,
    /// Store no arguments of programs, only their names
    #[arg(long)]
    pub redact_args: bool,
    /// Do not count calls
    #[arg(long)]
    pub no_count: bool,
    /// Let the recordings take so much of the disk (K, M, G): before a new one the oldest are removed. With --dir none are
    #[arg(long, value_name = "SIZE", env = "SLOWPATH_KEEP", default_value = crate::kept::ROOM, value_parser = crate::kept::size)]
    pub keep: u64,
}

/// `record`.
#[derive(ClapArgs)]
pub struct Record {
    #[command(flatten)]
    pub how: How,
    /// Count instructions and calls under valgrind's callgrind, in place of sampling: needs no rights, leaves nothing to chance,
    /// and takes some 50 times as long. Times are not told
    #[arg(long, conflicts_with_all = ["repeat", "user", "rate", "stack", "no_trace", "no_count"])]
    pub exact: bool,
    /// Run the program so often and join the evidence, for programs that end too soon to be understood
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
    /// The process; its threads and descendants are looked at too
    #[arg(short, long, value_name = "PID")]
    pub pid: u32,
    /// Stop after so many seconds (else when the program ends, or at Ctrl-C)
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
    /// A recording's id or folder, the newest if none is named; or two, to compare the second with the first
    #[arg(num_args = 0..=2)]
    pub recordings: Vec<String>,
    /// Compare with this one
    #[arg(long, value_name = "RECORDING")]
    pub compare: Option<String>,
    /// Write the page to this file: one HTML file that needs nothing else. Without, it is served on 127.0.0.1
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Put the text of the program's source files into the file; whoever gets the file can read them. They are taken from the
    /// folder in which it was recorded and that of the program. A page that is served has them anyway
    #[arg(long)]
    pub with_source: bool,
    /// With source files from this folder, too; can be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "all_sources")]
    pub source_root: Vec<PathBuf>,
    /// With every source file that the recording names and you may read, wherever it is: only for a program that you trust
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
    /// A recording's id or folder; the newest if none is named
    pub recording: Option<String>,
    /// Print its system calls instead: by name and by the place that makes them, the most time first
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
    after_help = "Both commands run bare, in pairs of random order, until it is known which is faster; then each is recorded once to say why.\n\n\
        Exit codes: 0 done, and as expected if an expectation was given; 1 slowpath or a command failed; 2 not as expected;\n\
        3 it cannot be told (only with --strict, else 0); 64 usage."
)]
pub struct Compare {
    /// Two recordings (ids or folders), to tell what changed between them
    #[arg(num_args = 2, value_names = ["RECORDING_A", "RECORDING_B"], conflicts_with = "commands")]
    pub recordings: Vec<String>,
    /// Two commands, each in one word: a shell is used where one needs it
    #[arg(last = true, num_args = 1..=2, required_unless_present = "recordings", value_names = ["COMMAND A", "COMMAND B"])]
    pub commands: Vec<String>,
    /// What a side is called; give it twice
    #[arg(long, short = 'n', value_name = "NAME")]
    pub name: Vec<String>,
    /// Run this once before everything
    #[arg(long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Run this before each run; given twice, the second is for the second side
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Run this once after everything
    #[arg(long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Runs of each side that do not count
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1)]
    pub warmup: u32,
    /// Pairs before the first look
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub min_pairs: usize,
    /// Pairs at most
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub max_pairs: usize,
    /// Seconds after which no pair is begun; no run may take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 180.0)]
    pub time_limit: f64,
    /// What both commands read from stdin
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Use this shell for both commands
    #[arg(long, short = 'S', value_name = "SHELL", conflicts_with = "no_shell")]
    pub shell: Option<String>,
    /// Use no shell, whatever the commands look like
    #[arg(long, short = 'N')]
    pub no_shell: bool,
    /// Both must write the same to stdout
    #[arg(long)]
    pub same_output: bool,
    /// A command may fail, if it always fails the same way
    #[arg(long, short = 'i')]
    pub ignore_failure: bool,
    /// Show what the commands write to stderr
    #[arg(long)]
    pub show_stderr: bool,
    /// CPU time decides, not elapsed time
    #[arg(long)]
    pub cpu: bool,
    /// A difference of this many per cent and less counts as none
    #[arg(long, value_name = "PCT", default_value_t = 2.0)]
    pub indifferent: f64,
    /// Exit with 2 if the second command is surely slower than the first by more than this many per cent
    #[arg(long, value_name = "PCT", conflicts_with = "expect_faster_than")]
    pub fail_if_slower_than: Option<f64>,
    /// … and by more than this many ms
    #[arg(long, value_name = "MS", requires = "fail_if_slower_than")]
    pub and_by_ms: Option<f64>,
    /// Exit with 2 if the second command is surely not this many times as fast as the first
    #[arg(long, value_name = "TIMES")]
    pub expect_faster_than: Option<f64>,
    /// Exit with 3 if it cannot be told
    #[arg(long)]
    pub strict: bool,
    /// Do not record the sides to say why
    #[arg(long)]
    pub no_why: bool,
    /// Write the comparison as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write the comparison as Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Write both recordings, side by side, and the verdict as a page to this file (see `slowpath view`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_why", "self_check"])]
    pub html: Option<PathBuf>,
    /// Compare the one command given with itself: tells what difference could be seen here in the time given
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
    /// What {NAME} stands for, one after the other: numbers
    #[arg(
        long = "list",
        short = 'L',
        value_name = "NAME=SIZE,…",
        required_unless_present = "files",
        conflicts_with = "files"
    )]
    pub list: Option<String>,
    /// What {file} stands for, one after the other: files, whose sizes in bytes count
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    pub files: Vec<PathBuf>,
    /// Each run makes so many calls of the size: tell what a call costs beside its bytes
    #[arg(long, value_name = "N", requires = "used")]
    pub calls: Option<f64>,
    /// The size, in bytes, that calls have in use
    #[arg(long, value_name = "BYTES", requires = "calls")]
    pub used: Option<f64>,
    /// Hold calls against this limit of the machine (see `slowpath limits`): aes, copy or read
    #[arg(long, value_name = "NAME", requires = "calls")]
    pub limit: Option<String>,
    /// Count instructions and calls, each size once under valgrind's callgrind: no noise, and the guilty function is told
    /// from its victims; some 50 times slower, so take small sizes. Times are not told
    #[arg(long, conflicts_with_all = ["calls", "used", "limit", "no_record", "runs"])]
    pub exact: bool,
    /// Bare runs of each size; up to three times as many where their times differ
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub runs: u32,
    /// Tell what it would take at this size
    #[arg(long, value_name = "SIZE")]
    pub at: Option<f64>,
    /// Seconds that one run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub time_limit: f64,
    /// Write the page of the largest size's recording, with what the sizes show, to this file
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub html: Option<PathBuf>,
    /// Time only, record nothing: no functions are told
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
    /// Measure anew, whatever was kept
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
    /// Ids or folders
    #[arg(required_unless_present_any = ["all", "older_than"])]
    pub recordings: Vec<String>,
    /// All recordings of the folder
    #[arg(long)]
    pub all: bool,
    /// All recordings of the folder that were made so long ago: 7d, 12h, 30m
    #[arg(long, value_name = "AGE", value_parser = crate::kept::age)]
    pub older_than: Option<u64>,
    /// Remove a recording that lies elsewhere than in the folder of recordings, too
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub at: At,
}

/// `cases`.
#[derive(Subcommand)]
pub enum Cases {
    /// Build and run cases, and show what was found in the slow and in the mended program
    Run {
        /// Names of cases, or `all`
        #[arg(required = true)]
        names: Vec<String>,
        /// The gallery
        #[arg(long, value_name = "DIR", default_value = "cases")]
        gallery: PathBuf,
    },
    /// List the cases
    List {
        /// The gallery
        #[arg(long, value_name = "DIR", default_value = "cases")]
        gallery: PathBuf,
    },
}
