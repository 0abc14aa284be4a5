//! `record` and `attach`: run a target, report what was found.

use crate::args::{At, Attach, How, Record, Show};
use crate::complain::complain;
use crate::{FAILED, progress};
use slowpath_collect::{Error, Options, Outcome};
use slowpath_diagnose::findings::Findings;
use slowpath_files::Caller;
use slowpath_recording::{Recording, folder};
use slowpath_report::{Shown, Style, shown};
use std::collections::HashMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a command ends with: an exit code, or a message and an exit code.
pub type Done = Result<u8, (String, u8)>;

/// Prints to stdout; who reads may have closed it.
pub fn say(text: &Shown) -> Result<(), (String, u8)> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(failed(error)),
        _ => Ok(()),
    }
}

/// A failure of slowpath itself.
pub fn failed(error: impl std::fmt::Display) -> (String, u8) {
    (error.to_string(), FAILED)
}

fn options(how: &How, at: &At) -> Options {
    Options {
        root: at.root(),
        rate: how.rate,
        stack_bytes: how.stack * 1024,
        count: !how.no_count,
        trace: !how.no_trace,
        redact_arguments: how.redact_args,
        user: None,
        repeat: 1,
        caller: Caller::detect(),
        progress: None,
    }
}

/// Keeps the recordings within what they may take of the disk.
fn make_room(at: &At, most: u64) {
    let (None, Some(root)) = (&at.dir, at.root()) else { return };
    // A folder that cannot be read is reported when something is to be recorded there.
    if let Ok(gone @ 1..) = folder::make_room(&root, &Caller::detect(), most) {
        let s = if gone == 1 { "" } else { "s" };
        complain(&shown!(
            "removed the {} oldest recording{} to keep all recordings below {} MiB (--keep)",
            gone,
            s,
            most >> 20
        ));
    }
}

/// `slowpath record`.
pub fn record(record: Record) -> Done {
    make_room(&record.at, record.how.keep);
    let mut options = options(&record.how, &record.at);
    options.user = record.user;
    options.repeat = record.repeat;
    let outcome = recorded(options, true, |options| match record.exact {
        true => slowpath_collect::record_exact(&record.command, options),
        false => slowpath_collect::record(&record.command, options),
    })?;
    // The program has run, and its exit code is its own: whether its report can be written changes nothing in that.
    let told = catch_unwind(AssertUnwindSafe(|| tell(&outcome, &record.show)));
    let bug = || Err(failed("the report ended early because of a bug in slowpath: please report it"));
    if let Err((message, _)) = told.unwrap_or_else(|_| bug()) {
        complain(&Shown::message(message));
    }
    Ok(outcome.exit.map_or(FAILED, |exit| exit as u8))
}

/// `slowpath attach`.
pub fn attach(attach: Attach) -> Done {
    let duration = match attach.duration.map(Duration::try_from_secs_f64) {
        Some(Err(error)) => return Err(failed(format!("--duration: {error}"))),
        Some(Ok(duration)) => Some(duration),
        None => None,
    };
    make_room(&attach.at, attach.how.keep);
    let options = options(&attach.how, &attach.at);
    let outcome =
        recorded(options, false, |options| slowpath_collect::attach(attach.pid, duration, options))?;
    tell(&outcome, &attach.show)?;
    Ok(0)
}

/// `starts`: the program is started by us, with our terminal.
fn recorded(
    mut options: Options,
    starts: bool,
    run: impl FnOnce(Options) -> Result<Outcome, Error>,
) -> Result<Outcome, (String, u8)> {
    let bar = progress::line(starts).map(|(bar, update)| {
        options.progress = Some(update);
        bar
    });
    let outcome = run(options);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    outcome.map_err(|error| {
        let code = match &error {
            Error::NotFound { .. } => 127,
            Error::NotExecutable { .. } => 126,
            _ => FAILED,
        };
        (error.to_string(), code)
    })
}

fn tell(outcome: &Outcome, show: &Show) -> Result<(), (String, u8)> {
    let Some(folder) = &outcome.folder else {
        complain(&shown!("nothing was recorded: {}", outcome.trouble.as_deref().unwrap_or_default()));
        return Ok(());
    };
    if let Some(trouble) = &outcome.trouble {
        complain(&shown!("the recording is incomplete: {}", trouble));
    }
    let mut recording = Recording::of(folder.clone()).map_err(failed)?;
    let held = outcome.held.iter().map(|(module, file)| (*module, fd_path(file))).collect();
    explain(&mut recording, &held, show, true)
}

fn fd_path(file: &std::fs::File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Names what the recording holds, keeps the names in it, diagnoses it and shows what was found. The text for people goes
/// to stderr when a program has just run (`after_run`), else to stdout.
pub fn explain(
    recording: &mut Recording,
    held: &HashMap<u32, PathBuf>,
    show: &Show,
    after_run: bool,
) -> Result<(), (String, u8)> {
    let findings = named(recording, held);
    let text = if show.json {
        slowpath_report::json(&findings)
    } else if show.markdown {
        slowpath_report::markdown(&findings)
    } else if show.output.is_some() {
        slowpath_report::terminal(&findings, &Style { color: false, width: 100, unicode: true })
    } else if after_run {
        slowpath_report::terminal(&findings, &Style::detect(std::io::stderr()))
    } else {
        slowpath_report::terminal(&findings, &Style::detect(std::io::stdout()))
    };
    let written = match &show.output {
        Some(path) => write_file(path, &text),
        None if after_run && !show.json && !show.markdown => std::io::stderr().write_all(text.as_bytes()),
        None => std::io::stdout().write_all(text.as_bytes()),
    };
    match written {
        // Whoever reads has closed the pipe: they have what they wanted.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        Err(error) => {
            let to = show.output.as_deref().unwrap_or(Path::new("the output")).display().to_string();
            return Err(failed(format!("cannot write {to}: {error}")));
        }
        Ok(()) => {}
    }
    // The report is out: a page that cannot be written takes nothing away.
    if let Some(path) = &show.html {
        let page = crate::view::page(&[(&*recording, &findings)], None)?;
        write_file(path, &page)
            .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(())
}

/// Names what the recording holds, keeps the names in it, and diagnoses it.
pub fn named(recording: &mut Recording, held: &HashMap<u32, PathBuf>) -> Findings {
    let unnamed = recording.tables.frames.is_empty() && !recording.tables.locations.is_empty();
    let notes = slowpath_diagnose::resolve::resolve(recording, held);
    if unnamed {
        keep_names(recording);
    }
    let mut findings = slowpath_diagnose::diagnose(recording);
    findings.notes.extend(notes);
    findings
}

/// Writes a file with the caller's rights, under sudo too.
pub fn write_file(path: &Path, text: &str) -> std::io::Result<()> {
    slowpath_files::write(path, &Caller::detect(), text.as_bytes())
}

/// Symbols are kept in the recording, so that it can be read where the files are not. A recording that cannot be written
/// is reported from memory all the same.
fn keep_names(recording: &Recording) {
    let Some(folder) = &recording.folder else { return };
    let Ok(mut writer) = slowpath_recording::Writer::append(folder.clone(), &Caller::detect()) else {
        return;
    };
    writer.tables.functions.clone_from(&recording.tables.functions);
    writer.tables.frames.clone_from(&recording.tables.frames);
    writer.tables.builds.clone_from(&recording.tables.builds);
    let _ = writer.flush();
}
