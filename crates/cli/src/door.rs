//! The way from a served page to the browser: a file that only the caller can read and that leads there, since what is on a
//! command line everyone on the machine can read. It goes when slowpath does, Ctrl-C and a request to end included.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, pipe};
use std::io::{PipeReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the file's head.
pub struct Door(tempfile::NamedTempFile);

impl Door {
    /// Makes one to `url`. None where there is no desktop to show a browser on, or no place for the file.
    pub fn to(url: &str) -> Option<Door> {
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
        Some(Door(file))
    }

    /// Has the desktop's browser go through it, when it likes.
    pub fn open(&self) {
        let opened = Command::new("xdg-open")
            .arg(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if let Ok(mut child) = opened {
            // Waited for, so that no zombie stays; where no thread can be had, one does.
            let _ = std::thread::Builder::new().spawn(move || child.wait());
        }
    }
}

/// The end of slowpath by a signal, put off until what has to be done before is done.
pub struct End {
    woken: PipeReader,
    signal: Arc<AtomicUsize>,
}

impl End {
    /// From here on signals to end are waited for by [`End::wait`]. Those that are ignored (under `nohup`) stay so.
    pub fn catch() -> std::io::Result<End> {
        let (woken, wake) = std::io::pipe()?;
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|number| !is_ignored(*number)) {
            // In this order: who is woken finds the number.
            signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize)?;
            pipe::register(number, wake.try_clone()?)?;
        }
        Ok(End { woken, signal })
    }

    /// Waits for such a signal, does what is left to do, and ends the process by it, as whoever sent it expects.
    pub fn wait(mut self, before: impl FnOnce()) -> ! {
        // If it cannot be read there is nothing to wait for.
        let _ = self.woken.read(&mut [0; 1]);
        before();
        let signal = self.signal.load(Ordering::SeqCst) as i32;
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal)
    }
}

/// Whether a signal was ignored when slowpath was started.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
