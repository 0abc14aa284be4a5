//! One probe in one process, with a BPF program on it.
//!
//! Bound to the process, so that strangers who share the library are never trapped, and owned by descriptors, so that
//! the kernel removes it when we end; a keeper holds these as well, so that it does however we end. Two ways: a uprobe_multi link, where the kernel supports it (6.6); else a
//! perf event of the uprobe PMU.

use crate::bpf::OnHit;
use crate::resources;
use crate::sampler::abi::{self, Attr};
use slowpath_leftovers::Kept;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// A probe that stands until it is dropped.
pub(crate) struct Uprobe {
    // The link first: it holds the program to the event. Both before what the keeper has of them.
    _link: OwnedFd,
    _event: Option<OwnedFd>,
    kept: Option<Kept>,
    _event_kept: Option<Kept>,
}

/// Descriptors that probes leave for the files of modules.
const FOR_MODULES: i32 = 6;

/// The PMU's number, which differs between kernels.
fn pmu_type() -> io::Result<u32> {
    let text = std::fs::read_to_string("/sys/bus/event_source/devices/uprobe/type")?;
    text.trim().parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

impl Uprobe {
    /// Probes the instruction at `offset` of the file, in the process alone. Hits run the program with `cookie`.
    pub(crate) fn open(
        program: &OnHit,
        pid: u32,
        file: &Path,
        offset: u64,
        cookie: u64,
    ) -> io::Result<Uprobe> {
        use std::os::unix::ffi::OsStrExt;
        let file = CString::new(file.as_os_str().as_bytes())?;
        // SAFETY: an all-zero bpf_link_create_opts is a valid one.
        let mut options: libbpf_sys::bpf_link_create_opts = unsafe { std::mem::zeroed() };
        options.sz = size_of_val(&options) as _;
        if program.multi {
            let multi = libbpf_sys::bpf_link_create_opts__bindgen_ty_1__bindgen_ty_3 {
                path: file.as_ptr(),
                offsets: &offset,
                cookies: &cookie,
                cnt: 1,
                pid,
                ..Default::default()
            };
            options.__bindgen_anon_1.uprobe_multi = multi;
            let link = link(program, 0, libbpf_sys::BPF_TRACE_UPROBE_MULTI, &options)?;
            return Ok(Uprobe::kept(program, link, None));
        }
        let attr = Attr {
            kind: pmu_type()?,
            size: size_of::<Attr>() as u32,
            config1: file.as_ptr() as u64,
            config2: offset,
            ..Attr::default()
        };
        let event = abi::open(&attr, pid as i32, -1)?;
        options.__bindgen_anon_1.perf_event.bpf_cookie = cookie;
        let link = link(program, event.as_raw_fd(), libbpf_sys::BPF_PERF_EVENT, &options)?;
        Ok(Uprobe::kept(program, link, Some(event)))
    }

    fn kept(program: &OnHit, link: OwnedFd, event: Option<OwnedFd>) -> Uprobe {
        let keep = |fd: &OwnedFd| program.keeper.as_ref()?.keep(fd);
        let (kept, _event_kept) = (keep(&link), event.as_ref().and_then(keep));
        Uprobe { _link: link, _event: event, kept, _event_kept }
    }

    /// Takes probes out. The kernel takes the breakpoint out within milliseconds but then waits, some 100 ms, until no CPU is in the handler: that must
    /// not hold up the caller. The keeper does it; where there is none, a thread; and where no thread can be made, the caller all the
    /// same.
    pub(crate) fn close(probes: Vec<Uprobe>) {
        if probes.iter().any(|probe| probe.kept.is_none()) {
            drop(std::thread::Builder::new().spawn(move || drop(probes)));
        }
    }
}

/// `bpf_link_create`; what the options point to must outlive the call.
fn link(
    program: &OnHit,
    target: i32,
    kind: libbpf_sys::bpf_attach_type,
    options: &libbpf_sys::bpf_link_create_opts,
) -> io::Result<OwnedFd> {
    // SAFETY: the descriptors are open and the options, with all they point to, outlive the call.
    let link = unsafe { libbpf_sys::bpf_link_create(program.program.as_raw_fd(), target, kind, options) };
    if link < 0 {
        return Err(io::Error::from_raw_os_error(-link));
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    let link = unsafe { OwnedFd::from_raw_fd(link) };
    resources::keep(link, FOR_MODULES).ok_or_else(|| io::Error::from_raw_os_error(libc::EMFILE))
}
