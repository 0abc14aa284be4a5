//! A small process that closes what must not be closed by a process that is being killed.
//!
//! When the last descriptor of a probe is closed, the kernel takes a breakpoint out of a program's memory. While the thread that closes it has a
//! deadly signal pending it cannot write there (`get_user_pages` gives up), and leaves the breakpoint for good: the program dies at it. With Linux
//! 6.18, 3 of 40 processes that were killed while they closed 20 probes left one. So the keeper holds such descriptors as well, and closes
//! them last, told to or because slowpath has ended.

use crate::closers::{Closers, close_elsewhere};
use crate::{apart, raw};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Another name than slowpath's, so that who kills all of that name leaves it.
const NAME: &CStr = c"sp-keeper";
/// Descriptors that it can hold: a process may have 1,024 by default.
const MOST: usize = 1_000;

/// Processes that close for it. They stand ready, since a fork waits for a probe that is just being made, 5 to 10 ms for each of them, and meanwhile a
/// breakpoint is hit that nobody counts: of one in `memcmp` it held the program up for 50 ms, ten times over. A close takes 60 to 100 ms, and up to 200 probes
/// a second are taken out: with 8 closers a program was hit 100,000 times in 2.5 s by probes that no longer counted, with 32 20,000 times. If all are busy, one is forked.
const CLOSERS: u32 = 32;

/// A keeper; it ends with this, once it has closed all that it still keeps.
#[derive(Debug)]
pub struct Keeper {
    pid: libc::pid_t,
    socket: Option<OwnedFd>,
    /// Places for descriptors that are not used.
    free: Mutex<Vec<i32>>,
}

/// A descriptor that the keeper holds, and closes when this is dropped. Whoever has it as well closes it before.
#[derive(Debug)]
pub struct Kept {
    keeper: Arc<Keeper>,
    place: i32,
}

impl Keeper {
    /// Starts a keeper. An error if there can be no further process or descriptor.
    pub fn start() -> io::Result<Arc<Keeper>> {
        let (tell, told) = raw::mailbox()?;
        // SAFETY: the child makes only the calls of `raw`, on its own stack.
        let pid = unsafe { apart::start(NAME, [told.as_raw_fd(), told.as_raw_fd()], run) }?;
        let free = Mutex::new((0..MOST as i32).rev().collect());
        Ok(Arc::new(Keeper { pid, socket: Some(tell), free }))
    }

    fn socket(&self) -> i32 {
        self.socket.as_ref().map_or(-1, |socket| socket.as_raw_fd())
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<i32>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the keeper hold it, too; `None` if it has no room or was killed.
    pub fn keep(self: &Arc<Keeper>, fd: impl AsFd) -> Option<Kept> {
        let place = self.free().pop()?;
        if raw::send(self.socket(), place, fd.as_fd()) {
            return Some(Kept { keeper: Arc::clone(self), place });
        }
        self.free().push(place);
        None
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Told in this order, whoever uses the place next.
        let mut free = self.keeper.free();
        raw::send_number(self.keeper.socket(), self.place);
        free.push(self.place);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.socket = None;
        apart::wait(self.pid);
    }
}

/// What the keeper does: a number with a descriptor is a place and what to hold there, one without is the place to let go.
fn run() {
    // SAFETY: has the kernel forget children that have ended.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    // A probe that was told to go is hit until it is closed.
    raw::run_at_once(true);
    let closers = Closers::start(CLOSERS);
    let close = |fd: OwnedFd| match &closers {
        Some(closers) => closers.close(fd),
        None => close_elsewhere(fd),
    };
    let mut kept: [Option<OwnedFd>; MOST] = [const { None }; MOST];
    while let Some((place, fd)) = raw::await_next(0) {
        let Some(place) = kept.get_mut(place as usize) else { continue };
        std::mem::replace(place, fd).into_iter().for_each(close);
    }
    // Each waits in the kernel, so all at once.
    kept.iter_mut().filter_map(Option::take).for_each(close_elsewhere);
    if let Some(closers) = &closers {
        closers.end();
    }
    raw::wait_for_children();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::PipeReader;
    use std::time::Duration;

    /// Whether a pipe has ended, which takes the keeper a moment.
    fn ends(pipe: PipeReader) -> bool {
        (0..50).any(|_| !is_open(&pipe))
    }

    fn is_open(pipe: &PipeReader) -> bool {
        is_open_for(pipe, 200)
    }

    fn is_open_now(pipe: &PipeReader) -> bool {
        is_open_for(pipe, 0)
    }

    fn is_open_for(pipe: &PipeReader, ms: i32) -> bool {
        let mut asked = libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&mut asked, 1, ms) == 0 }
    }

    #[test]
    fn what_is_kept_is_closed_last_by_the_keeper() {
        let keeper = Keeper::start().expect("a process");
        let (first, held) = io::pipe().expect("a pipe");
        let (second, also_held) = io::pipe().expect("a pipe");
        let kept = keeper.keep(&held).expect("there is room");
        let also_kept = keeper.keep(&also_held).expect("there is room");
        drop((held, also_held));
        assert!(is_open(&first) && is_open(&second));
        drop(kept);
        assert!(ends(first));
        // The one that is closed does not take the other with it, and its place is used again.
        let (third, held) = io::pipe().expect("a pipe");
        let kept = keeper.keep(&held).expect("there is room");
        drop(held);
        assert!(is_open(&second) && is_open(&third));
        drop(also_kept);
        assert!(ends(second) && is_open(&third));
        drop((kept, keeper));
        assert!(ends(third));
    }

    #[test]
    fn it_closes_all_when_whoever_started_it_is_killed() {
        let (pipe, held) = io::pipe().expect("a pipe");
        // SAFETY: the child starts a keeper and waits; the C library lets a forked process allocate.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let keeper = Keeper::start();
            let _kept = keeper.as_ref().ok().and_then(|keeper| keeper.keep(&held));
            drop(held);
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        drop(held);
        assert!(is_open(&pipe));
        // SAFETY: our own child.
        unsafe { libc::kill(child, libc::SIGKILL) };
        apart::wait(child);
        assert!(ends(pipe));
    }

    #[test]
    fn closers_end_with_their_keeper_and_close_what_it_kept() {
        let keeper = Keeper::start().expect("a process");
        let (pipe, held) = io::pipe().expect("a pipe");
        let kept = keeper.keep(&held).expect("there is room");
        drop(held);
        assert!(is_open(&pipe));
        // SAFETY: our own child.
        unsafe { libc::kill(keeper.pid, libc::SIGKILL) };
        assert!(ends(pipe), "whoever shares its descriptors has ended");
        drop(kept);
    }

    #[test]
    fn all_is_closed_when_it_has_ended() {
        let keeper = Keeper::start().expect("a process");
        let (pipes, kept): (Vec<PipeReader>, Vec<Kept>) = (0..5 * CLOSERS)
            .map(|_| {
                let (pipe, held) = io::pipe().expect("a pipe");
                (pipe, keeper.keep(&held).expect("there is room"))
            })
            .unzip();
        assert!(pipes.iter().all(is_open_now));
        drop((kept, keeper));
        assert!(!pipes.iter().any(is_open_now));
    }

    #[test]
    fn more_than_it_has_room_for_is_not_kept() {
        let keeper = Keeper::start().expect("a process");
        *keeper.free() = vec![0];
        let kept = keeper.keep(std::io::stdin()).expect("one place");
        assert!(keeper.keep(std::io::stdin()).is_none());
        drop(kept);
        assert!(keeper.keep(std::io::stdin()).is_some());
    }
}
