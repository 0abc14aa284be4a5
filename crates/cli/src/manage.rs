//! Everything but running a target: recordings that exist, the causes, the machine, the cases.

use crate::args::{At, Cases, Explain, Rm};
use crate::run::{self, Done, failed, say};
use slowpath_files::Caller;
use slowpath_recording::folder::Listed;
use slowpath_recording::{Recording, folder};
use slowpath_report::{Shown, shown};
use std::collections::HashMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// `slowpath explain`.
pub fn explain(explain: &Explain) -> Done {
    let path = explain.at.find(explain.recording.as_deref())?;
    let mut recording = Recording::open(&path).map_err(failed)?;
    if explain.syscalls {
        slowpath_diagnose::resolve::resolve(&mut recording, &HashMap::new());
        let summary = slowpath_diagnose::syscalls::summary(&recording);
        say(&slowpath_report::syscalls(&summary, &slowpath_report::Style::detect(std::io::stdout())))?;
        return Ok(0);
    }
    run::explain(&mut recording, &HashMap::new(), &explain.show, false)?;
    Ok(0)
}

/// `slowpath list`.
pub fn list(at: &At) -> Done {
    let here = std::env::current_dir().ok();
    let is_here = |one: &Listed| here.as_deref() == Some(Path::new(&one.about.directory));
    let (here, elsewhere): (Vec<Listed>, Vec<Listed>) =
        folder::list(&at.known()?).map_err(failed)?.into_iter().partition(is_here);
    for one in &here {
        say(&shown!("{}\n", line(one)))?;
    }
    if !here.is_empty() && !elsewhere.is_empty() {
        say(&shown!("recorded in other directories:\n"))?;
    }
    for one in &elsewhere {
        say(&shown!("{}  (in {})\n", line(one), one.about.directory))?;
    }
    Ok(0)
}

/// A recording in a list.
fn line(one: &Listed) -> String {
    let about = &one.about;
    let exit = about.exit.map_or("?".to_owned(), |exit| exit.to_string());
    let (wall, mib) = (about.wall_ns as f64 / 1e9, one.bytes as f64 / f64::from(1 << 20));
    format!("{}  {wall:8.2} s  exit {exit:>3}  {mib:6.1} MiB  {}", about.id, about.command.join(" "))
}

/// `slowpath rm`.
pub fn remove(rm: &Rm) -> Done {
    let root = rm.at.known()?;
    let mut paths = Vec::new();
    if rm.all || rm.older_than.is_some() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let before = now.saturating_sub(rm.older_than.unwrap_or(0)).saturating_mul(1_000_000_000);
        let all = folder::list(&root).map_err(failed)?.into_iter();
        paths.extend(all.filter(|one| rm.all || one.about.started_unix_ns < before).map(|one| one.path));
    }
    for name in &rm.recordings {
        paths.push(rm.at.find(Some(name))?);
    }
    let caller = Caller::detect();
    for path in paths {
        folder::remove(&root, &path, &caller, rm.force).map_err(failed)?;
    }
    Ok(0)
}

/// `slowpath causes`.
pub fn causes(name: Option<&str>) -> Done {
    let Some(name) = name else {
        for cause in slowpath_diagnose::causes::ALL {
            let title = cause.page.lines().next().unwrap_or_default().trim_start_matches("# ");
            say(&shown!("{:24} {}\n", cause.slug, title))?;
        }
        return Ok(0);
    };
    match slowpath_diagnose::causes::named(name) {
        Some(cause) => say(&Shown::lines(cause.page)).map(|()| 0),
        None => Err(failed(format!("there is no cause named {name}: `slowpath causes` lists them"))),
    }
}

/// `slowpath doctor`.
pub fn doctor() -> Done {
    for ability in slowpath_collect::rights::abilities() {
        match ability.obstacle {
            None => say(&shown!("  yes  {}\n", ability.name))?,
            Some(why) => say(&shown!("  no   {}: {}\n       {}\n", ability.name, why, ability.remedy))?,
        }
    }
    Ok(0)
}

/// `slowpath cases`.
pub fn cases(cases: &Cases) -> Done {
    match cases {
        Cases::List { gallery } => {
            for case in slowpath_cases::all(gallery).map_err(failed)? {
                say(&shown!("{:12} {}\n", case.name, case.title))?;
            }
            Ok(0)
        }
        Cases::Run { names, gallery } => {
            let slowpath = std::env::current_exe().map_err(failed)?;
            let (table, whole) = slowpath_cases::run(gallery, names, &slowpath).map_err(failed)?;
            say(&Shown::lines(table))?;
            Ok(u8::from(!whole))
        }
    }
}
