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
    /// Folder that recordings are kept in
    #[arg(long, value_name = "DIR", default_value = slowpath_recording::folder::NAME)]
    pub dir: PathBuf,
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
}

/// `record`.
#[derive(ClapArgs)]
pub struct Record {
    #[command(flatten)]
    pub how: How,
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
    #[arg(required_unless_present = "all")]
    pub recordings: Vec<String>,
    /// All recordings of the folder
    #[arg(long)]
    pub all: bool,
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
