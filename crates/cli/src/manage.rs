//! Everything but running a target: recordings that exist, the causes, the machine, the cases.

use crate::args::{At, Cases, Explain, Rm};
use crate::run::{self, Done, failed, say};
use slowpath_recording::{Recording, folder};
use std::collections::HashMap;

/// `slowpath explain`.
pub fn explain(explain: &Explain) -> Done {
    let path = folder::find(&explain.at.dir, explain.recording.as_deref()).map_err(failed)?;
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
    for (_, about) in folder::list(&at.dir).map_err(failed)? {
        let exit = about.exit.map_or("?".to_owned(), |exit| exit.to_string());
        let wall = about.wall_ns as f64 / 1e9;
        say(&format!("{}  {wall:8.2} s  exit {exit:>3}  {}\n", about.id, about.command.join(" ")))?;
    }
    Ok(0)
}

/// `slowpath rm`.
pub fn remove(rm: &Rm) -> Done {
    let mut paths = Vec::new();
    if rm.all {
        paths.extend(folder::list(&rm.at.dir).map_err(failed)?.into_iter().map(|(path, _)| path));
    }
    for name in &rm.recordings {
        paths.push(folder::find(&rm.at.dir, Some(name)).map_err(failed)?);
    }
    for path in paths {
        folder::remove(&path).map_err(failed)?;
    }
    Ok(0)
}

/// `slowpath causes`.
pub fn causes(name: Option<&str>) -> Done {
    let Some(name) = name else {
        for (name, page) in slowpath_diagnose::causes::PAGES {
            let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
            say(&format!("{name:24} {title}\n"))?;
        }
        return Ok(0);
    };
    match slowpath_diagnose::causes::page(name) {
        Some(page) => say(page).map(|()| 0),
        None => Err(failed(format!("no cause is called {name}: `slowpath causes` lists them"))),
    }
}

/// `slowpath doctor`.
pub fn doctor() -> Done {
    for ability in slowpath_collect::rights::abilities() {
        match ability.obstacle {
            None => say(&format!("  yes  {}\n", ability.name))?,
            Some(why) => say(&format!("  no   {}: {why}\n       {}\n", ability.name, ability.remedy))?,
        }
    }
    Ok(0)
}

/// `slowpath cases`.
pub fn cases(cases: &Cases) -> Done {
    match cases {
        Cases::List { gallery } => {
            for case in slowpath_cases::all(gallery).map_err(failed)? {
                say(&format!("{:12} {}\n", case.name, case.title))?;
            }
            Ok(0)
        }
        Cases::Run { names, gallery } => {
            let slowpath = std::env::current_exe().map_err(failed)?;
            let (table, whole) = slowpath_cases::run(gallery, names, &slowpath).map_err(failed)?;
            say(&table)?;
            Ok(u8::from(!whole))
        }
    }
}
