//! `view`: one recording, or two to compare, as a page: in a file, or served to a browser of this machine.

use crate::args::View;
use crate::complain::complain;
use crate::door::{Door, End};
use crate::run::{Done, failed, named, say, write_file};
use slowpath_compare::values::Comparison;
use slowpath_diagnose::findings::Findings;
use slowpath_files::Caller;
use slowpath_page::serve::Server;
use slowpath_page::{Options, Reach, Side, Sources, Why};
use slowpath_recording::Recording;
use slowpath_report::{Shown, shown};
use std::collections::HashMap;

/// So many files are named of those that are left out for one reason. Those that are in the page are all named.
const NAMED: usize = 3;

/// `slowpath view`.
pub fn view(view: &View) -> Done {
    let mut sides = Vec::new();
    let mut asked: Vec<Option<&str>> = view.recordings.iter().map(|name| Some(name.as_str())).collect();
    if asked.is_empty() {
        asked.push(None);
    }
    asked.extend(view.compare.as_deref().map(Some));
    if asked.len() > 2 {
        return Err(failed("a page shows one recording or two: do not use --compare with two recordings"));
    }
    for name in asked {
        let path = view.at.find(name)?;
        let mut recording = Recording::open(&path).map_err(failed)?;
        let findings = named(&mut recording, &HashMap::new());
        sides.push((recording, findings));
    }
    let sides: Vec<(&Recording, &Findings)> =
        sides.iter().map(|(recording, findings)| (recording, findings)).collect();
    let mut sources = Vec::new();
    if let Some(reach) = reach(view) {
        let caller = Caller::detect();
        for (recording, _) in &sides {
            let found = Sources::read(recording, &reach, &caller).map_err(failed)?;
            // Who has closed stderr does not want to know.
            told(&found).iter().for_each(complain);
            sources.push(found);
        }
    }
    let page = page_with(&sides, &sources, None)?;
    match &view.output {
        Some(path) => {
            write_file(path, &page)
                .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?;
            Ok(0)
        }
        None => serve(&page, !view.no_open),
    }
}

/// Where source files are taken from; none to take none.
fn reach(view: &View) -> Option<Reach> {
    if view.all_sources {
        return Some(Reach::All);
    }
    // What is served stays on this machine, where the sources are anyway.
    let with_source = view.with_source || !view.source_root.is_empty() || view.output.is_none();
    with_source.then(|| Reach::Folders(view.source_root.clone()))
}

/// Which source files are in the page and which are not, for whoever is about to give it away.
fn told(sources: &Sources) -> Vec<Shown> {
    let some = |paths: &[&str]| {
        let shown: Vec<&str> = paths.iter().copied().take(NAMED).collect();
        format!("{}{}", shown.join(", "), if paths.len() > NAMED { ", …" } else { "" })
    };
    let files: Vec<&str> = sources.files.iter().map(|file| file.path.as_str()).collect();
    let mut lines = vec![match files.len() {
        0 => "no source file is in the page".to_owned(),
        1 => format!("1 source file is in the page: {}", files[0]),
        count => format!("{count} source files are in the page: {}", files.join(", ")),
    }];
    let reasons = sources.left_out_by_reason();
    for (why, paths) in &reasons {
        lines.push(format!("excluded, {}: {} ({})", why.words(), paths.len(), some(paths)));
    }
    if reasons.contains_key(&Why::Outside) {
        lines.extend(sources.refused.iter().cloned());
    }
    if reasons.contains_key(&Why::Outside) || reasons.contains_key(&Why::Hidden) {
        lines.push(
            "--source-root DIR includes files from that folder, --all-sources from everywhere".to_owned(),
        );
    }
    lines.into_iter().map(Shown::text).collect()
}

/// The page of one recording, or of two and what the timed comparison of them said, without source.
pub fn page(
    sides: &[(&Recording, &Findings)],
    comparison: Option<&Comparison>,
) -> Result<String, (String, u8)> {
    page_with(sides, &[], comparison)
}

fn page_with(
    sides: &[(&Recording, &Findings)],
    sources: &[Sources],
    comparison: Option<&Comparison>,
) -> Result<String, (String, u8)> {
    let sides: Vec<Side<'_>> = (sides.iter().enumerate())
        .map(|(at, (recording, findings))| Side {
            name: &recording.about.id,
            recording,
            findings,
            sources: sources.get(at),
        })
        .collect();
    let page = slowpath_page::html(&sides, &Options { comparison });
    page.map_err(|error| failed(format!("cannot make the page: {error}")))
}

fn serve(page: &str, open: bool) -> Done {
    let server = Server::new().map_err(failed)?;
    let url = server.url();
    // Before there is anything to be removed.
    let end = End::catch().map_err(|error| failed(format!("cannot wait for Ctrl-C: {error}")))?;
    let door = if open { Door::to(&url) } else { None };
    say(&shown!("the page is at {}\nCtrl-C stops the server\n", url))?;
    std::thread::scope(|threads| {
        let serving = std::thread::Builder::new().spawn_scoped(threads, || server.run(page));
        serving.map_err(|error| failed(format!("cannot serve the page: cannot create a thread: {error}")))?;
        if let Some(door) = &door {
            door.open();
        }
        end.wait(|| drop(door))
    })
}
