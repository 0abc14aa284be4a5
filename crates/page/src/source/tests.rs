//! Which files a recording may bring in, on folders and links that are there.

use super::*;
use slowpath_recording::About;
use slowpath_recording::tables::{Frame, Function, Location};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// A recording made here in `directory`, of the program `./program`, whose frames name these files.
fn recording(directory: &Path, files: &[&str]) -> Recording {
    let mut about: About = serde_json::from_value(serde_json::json!({
        "format": {"major": 1, "minor": 0}, "slowpath": "0", "id": "x", "state": "complete", "command": ["./program"],
        "directory": directory, "host": "h", "kernel": "k", "cpu": "c", "cpus": 1, "started_unix_ns": 1, "start_ns": 0,
        "wall_ns": 5, "user_ns": 3, "sys_ns": 1, "exit": null, "runs": 1, "attached": false, "collectors": [],
        "degraded": [], "lost": {}, "sampled_share": 0.5
    }))
    .unwrap();
    about.vouch();
    let mut tables = slowpath_recording::Tables::default();
    for (number, file) in (0..).zip(files) {
        let (name, kind) = ("work".to_owned(), "native".to_owned());
        let (file, line) = (Some((*file).to_owned()), Some(1));
        let function =
            Function { function: number, name, module: None, file: file.clone(), line, address: 0 };
        tables.functions.push(function);
        tables.locations.push(Location { location: number, module: None, address: 0, kind: kind.clone() });
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
    }
    Recording::from_tables(directory.join("recording"), about, tables, Vec::new())
}

fn read(recording: &Recording, reach: Reach) -> Sources {
    Sources::read(recording, &reach, &Caller::detect()).unwrap()
}

fn only(folders: &[&Path]) -> Reach {
    Reach::Folders(folders.iter().map(|folder| (*folder).to_owned()).collect())
}

fn why(sources: &Sources, path: &str) -> Option<Why> {
    sources.left_out.iter().find(|(left, _)| left == path).map(|(_, why)| *why)
}

fn paths(sources: &Sources) -> Vec<&str> {
    sources.files.iter().map(|file| file.path.as_str()).collect()
}

/// A project, and a folder beside it with a secret.
fn project() -> (tempfile::TempDir, PathBuf, PathBuf) {
    // Not hidden, as temporary folders are otherwise.
    let dir = tempfile::Builder::new().prefix("source").tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (project, other) = (root.join("project"), root.join("other"));
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir(&other).unwrap();
    fs::write(project.join("src/a.c"), "int a;\n").unwrap();
    fs::write(other.join("secret"), "secret\n").unwrap();
    (dir, project, other)
}

#[test]
fn files_of_the_project_are_taken_and_no_others() {
    let (_dir, project, other) = project();
    let secret = other.join("secret");
    let secret = secret.to_str().unwrap();
    symlink(&other, project.join("folder")).unwrap();
    symlink(secret, project.join("link.c")).unwrap();
    symlink("src/a.c", project.join("same.c")).unwrap();
    fs::create_dir(project.join(".keys")).unwrap();
    fs::write(project.join(".keys/id"), "key\n").unwrap();
    fs::write(project.join(".env"), "password\n").unwrap();
    fs::write(project.join("image"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    fs::write(project.join("large.c"), vec![b'x'; (1 << 20) + 1]).unwrap();
    assert!(Command::new("mkfifo").arg(project.join("pipe")).status().unwrap().success());
    let absolute = project.join("src/a.c");
    let absolute = absolute.to_str().unwrap();
    let files = [
        "src/a.c",
        absolute,
        "same.c",
        "src/../src/a.c",
        "gone.c",
        secret,
        "../other/secret",
        "../other/nothing",
        "link.c",
        "folder/secret",
        ".keys/id",
        ".env",
        "src",
        "pipe",
        "image",
        "large.c",
        "/etc/shadow",
        "/etc/passwd",
        "/dev/zero",
        "/proc/self/environ",
        "/nowhere",
    ];
    let found = read(&recording(&project, &files), only(&[]));
    let mut taken = ["src/a.c", absolute, "same.c", "src/../src/a.c"];
    taken.sort_unstable();
    assert_eq!(paths(&found), taken);
    assert!(found.files.iter().all(|file| file.text == "int a;\n"));
    let outside = [
        secret,
        "../other/secret",
        "../other/nothing",
        "link.c",
        "folder/secret",
        "/etc/shadow",
        "/etc/passwd",
        "/dev/zero",
        "/proc/self/environ",
        "/nowhere",
    ];
    for path in outside {
        assert_eq!(why(&found, path), Some(Why::Outside), "{path}");
    }
    let others = [
        ("gone.c", Why::Missing),
        (".keys/id", Why::Hidden),
        (".env", Why::Hidden),
        ("src", Why::NoFile),
        ("pipe", Why::NoFile),
        ("image", Why::NoText),
        ("large.c", Why::Large),
    ];
    for (path, reason) in others {
        assert_eq!(why(&found, path), Some(reason), "{path}");
    }
    assert_eq!(found.files.len() + found.left_out.len(), files.len());
    assert_eq!(found.folders, [project]);
}

#[test]
fn folders_that_are_named_give_leave_and_everything_only_for_who_asks_for_it() {
    let (_dir, project, other) = project();
    let secret = other.join("secret");
    let files = [secret.to_str().unwrap(), "/etc/passwd", "/proc/self/status"];
    let recording = recording(&project, &files);
    assert_eq!(paths(&read(&recording, only(&[&other]))), [files[0]]);
    // All of the disk is not what the system keeps in it.
    let found = read(&recording, only(&[Path::new("/")]));
    assert_eq!(paths(&found), [files[0]]);
    assert_eq!(paths(&read(&recording, only(&[Path::new("/etc")]))), [files[1]]);
    let all = read(&recording, Reach::All);
    assert_eq!(paths(&all), [files[1], files[0]]);
    assert_eq!(why(&all, "/proc/self/status"), Some(Why::NoFile));
    let nowhere = Reach::Folders(vec![other.join("nowhere")]);
    let error = Sources::read(&recording, &nowhere, &Caller::detect()).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    assert!(Sources::read(&recording, &only(&[&secret]), &Caller::detect()).is_err());
}

#[test]
fn a_recording_of_others_gives_no_leave_to_its_folders() {
    let (_dir, project, _) = project();
    let mut foreign = recording(&project, &["src/a.c"]);
    foreign.about.machine = None;
    let found = read(&foreign, only(&[]));
    assert_eq!(why(&found, "src/a.c"), Some(Why::Outside));
    assert!(found.folders.is_empty() && found.refused[0].contains("not made on this machine"));
    assert_eq!(paths(&read(&foreign, only(&[&project]))), ["src/a.c"]);
    // Nor does one of ours that somebody changed.
    let mut changed = recording(&project.join("src"), &["src/a.c"]);
    changed.about.directory = project.to_str().unwrap().to_owned();
    assert!(read(&changed, only(&[])).files.is_empty());
}

#[test]
fn the_folder_of_the_program_gives_leave_but_not_that_of_one_that_was_attached_to() {
    let (_dir, project, other) = project();
    fs::write(other.join("program"), "").unwrap();
    let secret = other.join("secret");
    let mut built = recording(&project, &[secret.to_str().unwrap()]);
    built.about.command = vec!["../other/program".to_owned()];
    built.about.vouch();
    assert_eq!(read(&built, only(&[])).folders, [project.clone(), other]);
    assert_eq!(read(&built, only(&[])).files.len(), 1);
    built.about.attached = true;
    built.about.vouch();
    assert_eq!(read(&built, only(&[])).folders, [project]);
}

#[test]
fn folders_that_hold_more_than_a_project_give_no_leave() {
    let homes = [PathBuf::from("/home/ann"), PathBuf::from("/srv/people/bob")];
    let unfit = |path: &str| folders::unfit(Path::new(path), &homes);
    for path in ["/home/ann", "/home", "/home/somebody", "/srv/people/bob", "/srv/people"] {
        assert!(unfit(path).is_some(), "{path}");
    }
    for path in ["/", "/etc", "/etc/ssl/private", "/tmp", "/var", "/usr", "/proc/1/root/home/x", "/root"] {
        assert!(unfit(path).unwrap().contains("system"), "{path}");
    }
    for path in ["/home/ann/.ssh", "/home/ann/.config/thing", "/srv/people/bob/src/.git"] {
        assert!(unfit(path).unwrap().contains("hidden"), "{path}");
    }
    for path in ["/home/ann/project", "/srv/people/bob/src", "/opt/thing", "/var/lib/ci/job", "/app"] {
        assert_eq!(unfit(path), None, "{path}");
    }
}

#[test]
fn there_is_an_end_to_what_is_put_in() {
    let (_dir, project, _) = project();
    let names: Vec<String> = (0..20).map(|number| format!("{number:02}.c")).collect();
    for name in &names {
        fs::write(project.join(name), vec![b'x'; 1 << 20]).unwrap();
    }
    let files: Vec<&str> = names.iter().map(String::as_str).chain(["src/a.c"]).collect();
    let found = read(&recording(&project, &files), only(&[]));
    assert_eq!(found.files.len(), 16);
    assert_eq!(found.left_out_by_reason()[&Why::Full].len(), 5);
}
