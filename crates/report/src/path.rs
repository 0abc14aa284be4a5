//! A call path as a reader wants it: from the program's own code on, recursion folded, and short enough.

use crate::layout::columns;
use crate::names::fitted;
use slowpath_diagnose::findings::Frame;

/// One step of a call path: the frame, and how many times it follows itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step<'a> {
    /// The outermost of the frames that are folded here.
    pub frame: &'a Frame,
    /// 1, or more for recursion.
    pub times: usize,
}

/// The steps of `path` without the frames that merely start a program or a thread.
pub(crate) fn steps(path: &[Frame]) -> Vec<Step<'_>> {
    // In Rust the C function `main` stands before the runtime that calls the program's own.
    let begins = |frame: &Frame| frame.function.contains("__rust_begin_short_backtrace");
    let begun = path.iter().rposition(begins).map_or(0, |at| at + 1);
    let start = begun + path[begun..].iter().take_while(|frame| is_runtime(&frame.function)).count();
    // The last frame is the guilty one, whatever it is called.
    let start = start.min(path.len().saturating_sub(1));
    let mut steps: Vec<Step<'_>> = Vec::new();
    for frame in &path[start..] {
        match steps.last_mut() {
            Some(step) if step.frame.function == frame.function && step.frame.module == frame.module => {
                step.times += 1;
            }
            _ => steps.push(Step { frame, times: 1 }),
        }
    }
    steps
}

fn is_runtime(function: &str) -> bool {
    const NAMES: [&str; 9] = [
        "_start",
        "__clone",
        "clone",
        "clone3",
        "__clone3",
        "start_thread",
        "_dl_start_user",
        "__rust_begin_short_backtrace",
        "__rust_try",
    ];
    const PREFIXES: [&str; 6] = [
        "__libc_start",
        "std::rt::lang_start",
        "std::sys::backtrace::__rust_begin_short_backtrace",
        "std::sys_common::backtrace::__rust_begin_short_backtrace",
        "core::ops::function::FnOnce::call_once",
        "std::panicking::",
    ];
    // A symbol version, as in `clone@GLIBC_2.2.5`, changes nothing.
    let name = function.split('@').next().unwrap_or(function);
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a frame is of a library that is built into the program with its source: the language's own, or a package that was downloaded. The
/// reader knows neither.
fn is_of_package(frame: &Frame) -> bool {
    const FOLDERS: [&str; 7] = [
        "/rustc/",
        "/.cargo/registry/",
        "/.cargo/git/",
        "/go/pkg/mod/",
        "/go/src/runtime/",
        "/usr/include/",
        "/usr/lib/go",
    ];
    frame.file.as_deref().is_some_and(|file| FOLDERS.iter().any(|folder| file.contains(folder)))
}

/// The steps as a chain that fits: if all do not, runs of steps in packages are left out first, then the middle.
pub(crate) fn fitted_chain(
    steps: &[Step<'_>],
    name: impl Fn(&Step<'_>) -> String,
    (arrow, mark): (&str, &str),
    room: usize,
) -> String {
    let names: Vec<String> = steps.iter().map(&name).collect();
    if columns(&names.join(arrow)) <= room {
        return names.join(arrow);
    }
    let mut own: Vec<Part> = Vec::new();
    for (at, (step, name)) in steps.iter().zip(names).enumerate() {
        let ends = at + 1 == steps.len();
        match own.last_mut() {
            Some(Part::Gap(steps)) if !ends && is_of_package(step.frame) => *steps += 1,
            _ if !ends && is_of_package(step.frame) => own.push(Part::Gap(1)),
            _ => own.push(Part::Name(name)),
        }
    }
    chain_of(&own, arrow, mark, room)
}

/// One part of a chain.
#[derive(Debug, Clone)]
enum Part {
    Name(String),
    /// So many steps are left out.
    Gap(usize),
}

/// Parts joined by `arrow` in at most `room` columns where that can be. The innermost stay longest; what goes
/// is the middle, counted by `mark` and a number; at last the names themselves are cut.
fn chain_of(parts: &[Part], arrow: &str, mark: &str, room: usize) -> String {
    let Some((outermost, inner)) = parts.split_first() else { return String::new() };
    let longest_name = (room / 2).max(24);
    let left_out = |steps: usize| format!("{mark} {steps} more {mark}");
    let short = |part: &Part| match part {
        Part::Name(name) => fitted(name, longest_name, mark),
        Part::Gap(1) => mark.to_owned(),
        Part::Gap(steps) => left_out(*steps),
    };
    let steps = |part: &Part| if let Part::Gap(steps) = part { *steps } else { 1 };
    let whole = parts.iter().map(short).collect::<Vec<_>>().join(arrow);
    if columns(&whole) <= room {
        return whole;
    }
    // Without the middle, of which one step at least goes.
    for kept in (1..inner.len()).rev() {
        let (gone, rest) = inner.split_at(inner.len() - kept);
        if matches!(rest, [Part::Gap(_), ..]) {
            continue; // they go together
        }
        let gone: usize = gone.iter().map(steps).sum();
        let mut shown = match outermost {
            Part::Gap(steps) => vec![left_out(steps + gone)],
            Part::Name(_) => vec![short(outermost), left_out(gone)],
        };
        shown.extend(rest.iter().map(short));
        let text = shown.join(arrow);
        if columns(&text) <= room {
            return text;
        }
    }
    let name = |part: &Part| match part {
        Part::Name(name) => name.clone(),
        Part::Gap(_) => mark.to_owned(),
    };
    let outermost = name(outermost);
    let Some(guilty) = inner.last().map(name) else { return fitted(&outermost, room.max(8), mark) };
    let between = if inner.len() > 1 { format!("{arrow}{mark}{arrow}") } else { arrow.to_owned() };
    let both = room.saturating_sub(columns(&between));
    // The guilty function gets what the outermost leaves over.
    let outermost = fitted(&outermost, (both / 2).max(4), mark);
    let guilty = fitted(&guilty, both.saturating_sub(columns(&outermost)).max(4), mark);
    format!("{outermost}{between}{guilty}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &[&str]) -> Vec<Frame> {
        let frame = |name: &&str| Frame {
            function_id: None,
            function: (*name).to_owned(),
            module: "a.out".to_owned(),
            file: None,
            line: None,
        };
        names.iter().map(frame).collect()
    }

    fn chain(names: &[String], arrow: &str, mark: &str, room: usize) -> String {
        let parts: Vec<Part> = names.iter().cloned().map(Part::Name).collect();
        chain_of(&parts, arrow, mark, room)
    }

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_starts_a_program_is_dropped() {
        let path = frames(&["_start", "__libc_start_main_impl", "main", "work"]);
        let left: Vec<_> = steps(&path).iter().map(|step| step.frame.function.clone()).collect();
        assert_eq!(left, ["main", "work"]);
        // The runtime of Rust is called by a `main` of its own.
        let path = frames(&[
            "_start",
            "main",
            "std::rt::lang_start_internal",
            "std::panicking::catch_unwind",
            "std::sys::backtrace::__rust_begin_short_backtrace",
            "core::ops::function::FnOnce::call_once",
            "tool::main",
            "tool::work",
        ]);
        let left: Vec<_> = steps(&path).iter().map(|step| step.frame.function.clone()).collect();
        assert_eq!(left, ["tool::main", "tool::work"]);
    }

    #[test]
    fn the_guilty_frame_stays_whatever_its_name() {
        assert_eq!(steps(&frames(&["_start", "clone"])).len(), 1);
        assert!(steps(&[]).is_empty());
    }

    #[test]
    fn recursion_is_folded() {
        let path = frames(&["main", "walk", "walk", "walk", "leaf"]);
        let times: Vec<_> = steps(&path).iter().map(|step| step.times).collect();
        assert_eq!(times, [1, 3, 1]);
    }

    #[test]
    fn a_long_chain_loses_its_middle() {
        let all = names(&["main", "load_everything", "load_dir", "add_ca_file", "rebuild"]);
        assert_eq!(chain(&all, " → ", "…", 100), "main → load_everything → load_dir → add_ca_file → rebuild");
        assert_eq!(chain(&all, " → ", "…", 45), "main → … 2 more … → add_ca_file → rebuild");
        assert_eq!(chain(&all, " → ", "…", 20), "main → … → rebuild");
        for room in 0..120 {
            assert!(columns(&chain(&all, " → ", "…", room)) <= room.max(15), "{room}");
        }
    }

    #[test]
    fn of_a_long_path_packages_are_left_out_first() {
        let mut path = frames(&["main", "bridge", "join", "walk", "filter", "ignore"]);
        for (at, file) in
            [(1, "/root/.cargo/registry/src/rayon/a.rs"), (2, "/rustc/1/a.rs"), (3, "src/walk.rs")]
        {
            path[at].file = Some(file.to_owned());
        }
        // The guilty one stays.
        path[5].file = Some("/usr/include/c++/12/a.h".to_owned());
        let steps = steps(&path);
        let chain = |room| fitted_chain(&steps, |step| step.frame.function.clone(), (" > ", "~"), room);
        assert_eq!(chain(100), "main > bridge > join > walk > filter > ignore");
        assert_eq!(chain(44), "main > ~ 2 more ~ > walk > filter > ignore");
        assert_eq!(chain(40), "main > ~ 3 more ~ > filter > ignore");
        assert_eq!(chain(30), "main > ~ 4 more ~ > ignore");
        path[0].file = Some("/rustc/1/a.rs".to_owned());
        let steps = super::steps(&path);
        let chain = |room| fitted_chain(&steps, |step| step.frame.function.clone(), (" > ", "~"), room);
        assert_eq!(chain(44), "~ 3 more ~ > walk > filter > ignore");
        assert_eq!(chain(30), "~ 4 more ~ > filter > ignore");
    }

    #[test]
    fn one_frame_is_a_chain_too() {
        assert_eq!(chain(&names(&["main"]), " → ", "…", 40), "main");
        assert_eq!(chain(&[], " → ", "…", 40), "");
    }
}
