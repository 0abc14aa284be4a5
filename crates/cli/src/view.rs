//! `view`: one recording, or two to compare, as a page: in a file, or served to a browser of this machine.

use crate::args::View;
use crate::run::{Done, failed, named, say, write_file};
use slowpath_compare::values::Comparison;
use slowpath_diagnose::findings::Findings;
use slowpath_page::serve::Server;
use slowpath_page::{Options, Side};
use slowpath_recording::{Recording, folder};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// `slowpath view`.
pub fn view(view: &View) -> Done {
    let mut sides = Vec::new();
    let mut asked: Vec<Option<&str>> = view.recordings.iter().map(|name| Some(name.as_str())).collect();
    if asked.is_empty() {
        asked.push(None);
    }
    asked.extend(view.compare.as_deref().map(Some));
    if asked.len() > 2 {
        return Err(failed("a page shows one recording or two: leave --compare away where two are named"));
    }
    for name in asked {
        let path = folder::find(&view.at.dir, name).map_err(failed)?;
        let mut recording = Recording::open(&path).map_err(failed)?;
        let findings = named(&mut recording, &HashMap::new());
        sides.push((recording, findings));
    }
    let sides: Vec<(&Recording, &Findings)> =
        sides.iter().map(|(recording, findings)| (recording, findings)).collect();
    // What is served stays on this machine, where the sources are anyway.
    let with_source = view.with_source || view.output.is_none();
    let page = page(&sides, with_source, None)?;
    match &view.output {
        Some(path) => {
            write_file(path, &page)
                .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?;
            Ok(0)
        }
        None => serve(&page, !view.no_open),
    }
}

/// The page of one recording, or of two and what the timed comparison of them said.
pub fn page(
    sides: &[(&Recording, &Findings)],
    with_source: bool,
    comparison: Option<&Comparison>,
) -> Result<String, (String, u8)> {
    let sides: Vec<Side<'_>> = sides
        .iter()
        .map(|(recording, findings)| Side { name: &recording.about.id, recording, findings })
        .collect();
    let page = slowpath_page::html(&sides, &Options { with_source, comparison });
    page.map_err(|error| failed(format!("cannot make the page: {error}")))
}

fn serve(page: &str, open: bool) -> Done {
    let server = Server::new().map_err(failed)?;
    let url = server.url();
    // Kept as long as the server runs: the browser reads it when it likes.
    let door = if open { door(&url) } else { None };
    say(&format!("the page is at {url}\nCtrl-C ends it\n"))?;
    if let Some(door) = &door {
        let opened = Command::new("xdg-open")
            .arg(door.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if let Ok(mut child) = opened {
            // Where no thread can be made nobody waits for it: then it stays in the list of processes until we end.
            let _ = std::thread::Builder::new().spawn(move || child.wait());
        }
    }
    server.run(page);
    Ok(0)
}

/// A file that only the caller can read and that leads to `url`: what is on a command line everyone on the machine can read.
/// None where there is no desktop to show a browser on, or no place for the file.
fn door(url: &str) -> Option<tempfile::NamedTempFile> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !set("DISPLAY") && !set("WAYLAND_DISPLAY") {
        return None;
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_dir());
    let dir = runtime.map_or_else(std::env::temp_dir, Into::into);
    let mut file = tempfile::Builder::new().prefix("slowpath-").suffix(".html").tempfile_in(dir).ok()?;
    // The address is ours: nothing in it needs to be escaped.
    writeln!(
        file,
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">the page</a>"
    )
    .ok()?;
    Some(file)
}
