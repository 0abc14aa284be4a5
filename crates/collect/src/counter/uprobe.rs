//! One probe in one process: a perf event of the uprobe PMU with a BPF program on it.
//!
//! Bound to the process, so that strangers who share the library are never trapped, and owned by descriptors, so that
//! the kernel removes it when we end, however we end.

use crate::sampler::abi::{self, Attr};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// A probe that stands until it is dropped.
pub(crate) struct Uprobe {
    // The link first: it holds the program to the event.
    _link: OwnedFd,
    _event: OwnedFd,
}

/// The PMU's number, which differs between kernels.
pub(crate) fn pmu_type() -> io::Result<u32> {
    let text = std::fs::read_to_string("/sys/bus/event_source/devices/uprobe/type")?;
    text.trim().parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

impl Uprobe {
    /// Probes the instruction at `offset` of the file, in the process alone. Hits run `program` with `cookie`.
    pub(crate) fn open(pmu: u32, pid: u32, file: &Path, offset: u64, program: &OwnedFd, cookie: u64) -> io::Result<Uprobe> {
        use std::os::unix::ffi::OsStrExt;
        let file = CString::new(file.as_os_str().as_bytes())?;
        let attr = Attr {
            kind: pmu,
            size: size_of::<Attr>() as u32,
            config1: file.as_ptr() as u64,
            config2: offset,
            ..Attr::default()
        };
        let event = abi::open(&attr, pid as i32, -1)?;
        // SAFETY: an all-zero bpf_link_create_opts is a valid one.
        let mut options: libbpf_sys::bpf_link_create_opts = unsafe { std::mem::zeroed() };
        options.sz = size_of_val(&options) as _;
        options.__bindgen_anon_1.perf_event.bpf_cookie = cookie;
        // SAFETY: both descriptors are open and the options outlive the call.
        let link = unsafe {
            libbpf_sys::bpf_link_create(program.as_raw_fd(), event.as_raw_fd(), libbpf_sys::BPF_PERF_EVENT, &options)
        };
        if link < 0 {
            return Err(io::Error::from_raw_os_error(-link));
        }
        // SAFETY: the kernel just gave this descriptor to us alone.
        Ok(Uprobe { _link: unsafe { OwnedFd::from_raw_fd(link) }, _event: event })
    }
}
