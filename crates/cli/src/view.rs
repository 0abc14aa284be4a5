//! `view`: one recording, or two to compare, as a page: in a file, or served to a browser of this machine.

use crate::args::View;
use crate::door::{Door, End};
use crate::run::{Done, failed, named, say, write_file};
use slowpath_compare::values::Comparison;
use slowpath_diagnose::findings::Findings;
use slowpath_page::serve::Server;
use slowpath_page::{Options, Side};
use slowpath_recording::{Recording, folder};
use std::collections::HashMap;

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
    // Before there is anything to be removed.
    let end = End::catch().map_err(|error| failed(format!("cannot wait for Ctrl-C: {error}")))?;
    let door = if open { Door::to(&url) } else { None };
    say(&format!("the page is at {url}\nCtrl-C ends it\n"))?;
    std::thread::scope(|threads| {
        let serving = std::thread::Builder::new().spawn_scoped(threads, || server.run(page));
        serving.map_err(|error| failed(format!("cannot serve the page: no thread can be made: {error}")))?;
        if let Some(door) = &door {
            door.open();
        }
        end.wait(|| drop(door))
    })
}
