//! A file that code came from, held from the moment it was mapped: its unwind sections, function ranges and identity.
//!
//! Held, because `go run`, compilers under test and package upgrades delete what is still running.

use crate::resources;
use memmap2::Mmap;
use object::elf::PF_X;
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags};
use slowpath_symbols::FunctionRanges;
use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::ops::{Deref, Range};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Part of a file's content, or a decompressed section.
#[derive(Clone)]
pub(crate) struct Bytes {
    owner: Arc<Content>,
    range: Range<usize>,
}

enum Content {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Deref for Content {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Content::Mapped(map) => map,
            Content::Owned(bytes) => bytes,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.owner[self.range.clone()]
    }
}

/// A section: where it is in the file's own addresses, and its bytes.
#[derive(Clone)]
struct Section {
    svma: Range<u64>,
    bytes: Bytes,
}

/// An executable or library.
pub(crate) struct Image {
    /// Path as the process saw it.
    pub path: PathBuf,
    /// Device, inode, size, mtime in ns; zeros for what is no file.
    pub identity: [u64; 4],
    pub build_id: Option<String>,
    /// Where the program (or the dynamic loader) starts, as the file counts addresses.
    entry: u64,
    /// Built by Go, whose stacks move and whose threads swap goroutines.
    pub go: bool,
    file: Option<Arc<File>>,
    content: Arc<Content>,
    /// File offset, file size and svma of each executable segment.
    segments: Vec<(u64, u64, u64)>,
    text: Option<Section>,
    eh_frame: Option<Section>,
    eh_frame_hdr: Option<Section>,
    got: Option<Range<u64>>,
    debug_frame: Option<Bytes>,
    functions: OnceLock<Option<FunctionRanges>>,
}

/// `size` bytes from `start` on, as far as there are addresses: what a file says of itself need not be true.
fn extent(start: u64, size: u64) -> Range<u64> {
    start..start.saturating_add(size)
}

impl Image {
    /// Opens a file; fails if it is no ELF file.
    pub(crate) fn open(open_at: &Path, path: &Path, expected: impl Fn(&Metadata) -> bool) -> Option<Image> {
        let file = resources::keep(slowpath_symbols::open_regular(open_at).ok()?, 0)?;
        let metadata = file.metadata().ok()?;
        if !expected(&metadata) {
            return None;
        }
        // SAFETY: the kernel refuses writes to a running executable, and libraries are replaced by rename; a library that
        // is truncated in place while it runs crashes its own process as well as this one.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let mtime = metadata.mtime().max(0) as u64 * 1_000_000_000 + metadata.mtime_nsec() as u64;
        let identity = [metadata.dev(), metadata.ino(), metadata.len(), mtime];
        let image = Image::parse(path.to_owned(), identity, Content::Mapped(map))?;
        Some(Image { file: Some(Arc::new(file)), ..image })
    }

    /// The vdso, which is the same in every process: read from our own memory.
    pub(crate) fn vdso() -> Option<Image> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        // SAFETY: the vdso stays mapped, readable and constant as long as the process lives.
        let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) }.to_vec();
        Image::parse(PathBuf::from("[vdso]"), [0; 4], Content::Owned(bytes))
    }

    fn parse(path: PathBuf, identity: [u64; 4], content: Content) -> Option<Image> {
        let content = Arc::new(content);
        let data: &[u8] = &content;
        let file = object::File::parse(data).ok()?;
        let section = |name: &str| -> Option<Section> {
            let section = file.section_by_name(name)?;
            let (offset, size) = section.file_range()?;
            let range = offset as usize..offset.checked_add(size)? as usize;
            content.get(range.clone())?;
            let bytes = Bytes { owner: content.clone(), range };
            Some(Section { svma: extent(section.address(), section.size()), bytes })
        };
        // A compressed or plain .debug_frame; only needed where there is no .eh_frame, as in Go.
        let debug_frame = || -> Option<Bytes> {
            match slowpath_symbols::section_of(data, ".debug_frame")? {
                Cow::Borrowed(_) => section(".debug_frame").map(|section| section.bytes),
                Cow::Owned(bytes) => {
                    let range = 0..bytes.len();
                    Some(Bytes { owner: Arc::new(Content::Owned(bytes)), range })
                }
            }
        };
        let eh_frame = section(".eh_frame").filter(|section| section.bytes.len() > 8);
        let go = file.section_by_name(".gopclntab").is_some()
            || file.section_by_name(".data.rel.ro.gopclntab").is_some();
        let debug_frame = if eh_frame.is_none() || go { debug_frame() } else { None };
        let build_id = slowpath_symbols::build_id(data);
        let build_id = build_id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect());
        // Only what is executable: a linker may let two segments share a page, at different addresses.
        let executable =
            |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.0 & PF_X.0 != 0);
        let segments = file
            .segments()
            .filter(|segment| executable(segment.flags()))
            .map(|segment| (segment.file_range().0, segment.file_range().1, segment.address()))
            .collect();
        Some(Image {
            text: section(".text"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            got: file.section_by_name(".got").map(|got| extent(got.address(), got.size())),
            eh_frame,
            debug_frame,
            path,
            identity,
            build_id,
            entry: file.entry(),
            go,
            segments,
            file: None,
            content: content.clone(),
            functions: OnceLock::new(),
        })
    }

    /// The open file, if it is one.
    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        self.file.as_ref()
    }

    /// The file's own address of the byte at `offset`.
    pub(crate) fn svma_of_offset(&self, offset: u64) -> Option<u64> {
        let page_of = |offset: u64| offset & !0xfff;
        self.segments
            .iter()
            .find(|(start, size, _)| (page_of(*start)..start.saturating_add(*size)).contains(&offset))
            .map(|(start, _, svma)| svma.wrapping_add(offset).wrapping_sub(*start))
    }

    /// Up to `length` bytes of the file from `offset` on.
    pub(crate) fn content(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.content.get(start..start.saturating_add(length).min(self.content.len()))
    }

    /// The offset of the byte at one of the file's own addresses.
    pub(crate) fn offset_of_svma(&self, svma: u64) -> Option<u64> {
        let (start, _, base) = self
            .segments
            .iter()
            .find(|(_, size, base)| (*base..base.saturating_add(*size)).contains(&svma))?;
        (svma - base).checked_add(*start)
    }

    /// The bytes of code from `svma` on, at most `len`.
    pub(crate) fn code(&self, svma: u64, len: usize) -> Option<&[u8]> {
        let offset = self.offset_of_svma(svma)? as usize;
        self.content.get(offset..self.content.len().min(offset.checked_add(len)?))
    }

    /// Where functions begin and end; read at first use.
    pub(crate) fn functions(&self) -> Option<&FunctionRanges> {
        self.functions.get_or_init(|| FunctionRanges::from_elf(&self.content).ok()).as_ref()
    }

    /// Whether an address is in the code that the kernel starts a program with, or a thread's first function.
    pub(crate) fn is_start(&self, svma: u64) -> bool {
        /// The start code is a few instructions, and often has no bounds of its own.
        const START_BYTES: u64 = 64;
        if extent(self.entry, START_BYTES).contains(&svma) {
            return true;
        }
        let name = self.functions().and_then(|functions| functions.containing(svma)?.name);
        matches!(
            name,
            Some(
                "_start"
                    | "_dl_start_user"
                    | "__clone"
                    | "clone"
                    | "__clone3"
                    | "clone3"
                    | "runtime.goexit.abi0"
            )
        )
    }

    /// Whether an address is in a function by which a goroutine runs something on its thread's own stack: a part of the runtime, or the kernel's functions that
    /// tell the time. What stands there around it says nothing of who asked for it; but these functions keep the frame pointer, by which the goroutine's
    /// frames go on (Go's `runtime/asm_amd64.s`, `time_linux_amd64.s` and `sys_linux_amd64.s`).
    pub(crate) fn leaves_a_goroutine(&self, svma: u64) -> bool {
        let name = || self.functions().and_then(|functions| functions.containing(svma)?.name);
        let of_runtime = |name: &str| {
            let plain = name.strip_suffix(".abi0").unwrap_or(name);
            ["runtime.systemstack", "time.now", "runtime.nanotime1"].contains(&plain)
        };
        self.go && name().is_some_and(of_runtime)
    }

    /// What the unwinder needs of a mapping of this file at `range`, `offset` bytes into it.
    pub(crate) fn unwind_module(&self, range: Range<u64>, offset: u64) -> Option<framehop::Module<Bytes>> {
        let base = range.start.wrapping_sub(self.svma_of_offset(offset)?);
        let svma = |section: &Option<Section>| section.as_ref().map(|section| section.svma.clone());
        let bytes = |section: &Option<Section>| section.as_ref().map(|section| section.bytes.clone());
        let info = framehop::ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: svma(&self.text),
            text: bytes(&self.text),
            got_svma: self.got.clone(),
            eh_frame_svma: svma(&self.eh_frame),
            eh_frame: bytes(&self.eh_frame),
            eh_frame_hdr_svma: svma(&self.eh_frame_hdr),
            eh_frame_hdr: bytes(&self.eh_frame_hdr),
            debug_frame: self.debug_frame.clone(),
            stubs_svma: None,
            stub_helper_svma: None,
            unwind_info: None,
            text_segment_svma: None,
            text_segment: None,
        };
        Some(framehop::Module::new(self.path.to_string_lossy().into_owned(), range, base, info))
    }
}

#[cfg(test)]
#[path = "../../symbols/tests/common/elf.rs"]
#[allow(dead_code, reason = "made for the tests of slowpath-symbols")]
mod elf;

#[cfg(test)]
mod tests {
    use super::*;

    fn image(sections: Vec<elf::Section>) -> Option<Image> {
        Image::parse(PathBuf::from("hostile"), [0; 4], Content::Owned(elf::elf(sections)))
    }

    #[test]
    fn a_pipe_in_a_programs_place_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()));
        let (send, receive) = std::sync::mpsc::channel();
        let open = move || send.send(Image::open(&path, &path, |_| true).is_none());
        std::thread::Builder::new().spawn(open).unwrap();
        let refused = receive.recv_timeout(std::time::Duration::from_secs(120));
        assert_eq!(refused, Ok(true));
    }

    #[test]
    fn unwind_tables_that_unfold_to_gigabytes_are_left_out() {
        let table = |times| elf::compressed(".debug_frame", &[], &[0; 1 << 20], times, &[]);
        let unfolded =
            |times| image(vec![table(times)]).and_then(|image| image.debug_frame).map(|table| table.len());
        assert_eq!(unfolded(10), Some(10 << 20));
        assert_eq!(unfolded(2_000), None);
    }

    #[test]
    fn sections_at_the_end_of_all_addresses_do_not_overflow() {
        let at_the_end = elf::code(u64::MAX - 1, 0x100);
        let image = image(vec![at_the_end]).expect("ELF");
        assert_eq!(image.text.as_ref().map(|text| text.svma.clone()), Some(u64::MAX - 1..u64::MAX));
        assert!(!image.is_start(u64::MAX) && image.svma_of_offset(u64::MAX).is_none());
    }

    #[test]
    fn behind_the_switch_to_the_threads_stack_a_goroutine_goes_on_by_frame_pointers() {
        use crate::unwind::{AddressSpace, Mapped, Place};
        let names = b"\0runtime.systemstack.abi0\0main.main\0".to_vec();
        let space = |sections: Vec<elf::Section>| {
            let image = image(sections).map(|image| Image { segments: vec![(64, 0x100, 0x1000)], ..image });
            let mut space = AddressSpace::default();
            let range = 0x40_0000..0x40_0140;
            space.map(Mapped { range, offset: 0, module: 7, image: Some(Arc::new(image.expect("ELF"))) });
            space
        };
        let symbols = || elf::symbols(3, [(0x1010, 0x20, 1), (0x1040, 0x40, 26)].into_iter());
        let common = || vec![elf::code(0x1000, 0x100), symbols(), elf::names(names.clone())];
        let go = space(common().into_iter().chain([elf::plain(".gopclntab", vec![0; 8])]).collect());
        let (back, at) = (|svma: u64| 0x40_0000 + svma - 0xfc0, |svma| Place::Native { module: 7, svma });
        // In a function that the switch calls; main.main calls the switch, and something without code is around that.
        let chain = [back(0x1082), back(0x1020), back(0x1050), back(0x1060), 0x1234, back(0x1060)];
        let walk = |space: &AddressSpace, mut places: Vec<Place>| {
            (space.goes_on_with_a_goroutine(&chain, &mut places), places)
        };
        let inner = vec![at(0x1082), at(0x101f)];
        let whole = [inner.clone(), vec![at(0x104f), at(0x105f)]].concat();
        assert_eq!(walk(&go, inner.clone()), (true, whole));
        // What the switch calls has no frame of its own.
        assert_eq!(walk(&go, vec![at(0x101e)]).1[1..], [at(0x101f), at(0x104f), at(0x105f)]);
        // It ended elsewhere, or the program is not Go's.
        for other in [vec![at(0x1082), at(0x104f)], Vec::new()] {
            assert_eq!(walk(&go, other.clone()), (false, other));
        }
        assert_eq!(walk(&space(common()), inner.clone()), (false, inner));
    }
}
