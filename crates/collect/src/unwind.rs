//! One unwinder for every collector: an address space of mapped images, and stacks walked through it.

use crate::image::{Bytes, Image};
use crate::sampler::record::Regs;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Unwinder};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The deepest stack that is kept, frames.
const DEPTH_MAX: usize = 1024;

/// One executable mapping.
#[derive(Clone)]
pub(crate) struct Mapped {
    pub range: Range<u64>,
    /// Offset in the file of the first address.
    pub offset: u64,
    /// The module's number in the recording.
    pub module: u32,
    /// None for what is no ELF file (code made at run time).
    pub image: Option<Arc<Image>>,
}

impl Mapped {
    /// Where the kernel opens the file, `image`, that a process of this pid has mapped: also one that was deleted, or is another there.
    pub(crate) fn file(&self, pid: u32, image: &Image) -> PathBuf {
        let by_mapping =
            PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", self.range.start, self.range.end));
        if by_mapping.exists() { by_mapping } else { image.path.clone() }
    }
}

/// Where a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In a module, by the module's own addresses.
    Native { module: u32, svma: u64 },
    /// In code that is in no file.
    Jit { address: u64 },
    /// In the kernel.
    Kernel { address: u64 },
}

/// A copy of a user stack, from the stack pointer on: of a fixed size, or less.
#[derive(Clone, Copy)]
pub(crate) struct Copied<'a> {
    bytes: &'a [u8],
    /// Where the second half begins, if not behind the first.
    far: Option<u64>,
}

/// Bytes of a copy of which the half is known: as `STACK_SIZE` of `bpf/stacks.h`.
const COPY: usize = 8192;
/// The largest frame that is believed, bytes: where no unwind table says how large it is, a stray register does.
const FRAME: u64 = 1 << 20;
/// What a function saves below its return address, bytes: six registers, and as much again.
const SAVED: u64 = 96;

impl<'a> Copied<'a> {
    pub(crate) fn whole(bytes: &'a [u8]) -> Copied<'a> {
        Copied { bytes, far: None }
    }

    /// One of [`COPY`] bytes whose second half begins at an offset of its own.
    pub(crate) fn in_halves(bytes: &'a [u8], far: Option<u64>) -> Copied<'a> {
        Copied { bytes, far }
    }

    fn word(&self, offset: u64) -> Option<[u8; 8]> {
        let at = |bytes: &[u8], offset: u64| {
            let offset = usize::try_from(offset).ok()?;
            bytes.get(offset..offset.checked_add(8)?)?.try_into().ok()
        };
        let Some(far) = self.far else { return at(self.bytes, offset) };
        let (near, beyond) = self.bytes.split_at(self.bytes.len().min(COPY / 2));
        at(near, offset).or_else(|| at(beyond, offset.checked_sub(far)?))
    }
}

/// How far a stack was walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unwound {
    /// To the start of the thread.
    pub complete: bool,
    /// A function's frame is so large that what it returns to lies far beyond the copy: from which offset on.
    pub far: Option<u64>,
}

/// The executable mappings of a process, and the unwinder over them.
#[derive(Clone, Default)]
pub(crate) struct AddressSpace {
    mappings: BTreeMap<u64, Mapped>,
    unwinder: UnwinderX86_64<Bytes>,
}

impl AddressSpace {
    /// Adds a mapping; what it covers of earlier ones is gone.
    pub(crate) fn map(&mut self, new: Mapped) {
        let covered: Vec<u64> = self
            .mappings
            .range(..new.range.end)
            .rev()
            .take_while(|(_, old)| old.range.end > new.range.start)
            .map(|(start, _)| *start)
            .collect();
        for start in covered {
            self.mappings.remove(&start);
            self.unwinder.remove_module(start);
        }
        if let Some(module) =
            new.image.as_ref().and_then(|image| image.unwind_module(new.range.clone(), new.offset))
        {
            self.unwinder.add_module(module);
        }
        self.mappings.insert(new.range.start, new);
    }

    /// The mapping at an address.
    pub(crate) fn at(&self, address: u64) -> Option<&Mapped> {
        let (_, mapped) = self.mappings.range(..=address).next_back()?;
        mapped.range.contains(&address).then_some(mapped)
    }

    /// All mappings, in order of their addresses.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Mapped> {
        self.mappings.values()
    }

    /// The place of a call, by the address that it returns to.
    pub(crate) fn caller(&self, back: u64) -> Option<Place> {
        self.place(FrameAddress::from_return_address(back)?)
    }

    /// The mapping of a module that holds one of its own addresses.
    pub(crate) fn of_module(&self, module: u32, svma: u64) -> Option<&Mapped> {
        self.mappings.values().find(|mapped| {
            mapped.module == module
                && mapped.image.as_ref().is_some_and(|image| {
                    let offset = image.offset_of_svma(svma).unwrap_or(u64::MAX);
                    (mapped.offset..mapped.offset + (mapped.range.end - mapped.range.start)).contains(&offset)
                })
        })
    }

    /// Walks a stack from its registers through `stack`, the bytes from `regs.sp` on, and appends its frames to `into`,
    /// innermost first.
    ///
    /// What lies further out than the copy is read from the process itself, if `late` can: these are frames that the
    /// program returns to long after, so that they are the same a few ms later.
    pub(crate) fn unwind(
        &self,
        regs: Regs,
        stack: Copied<'_>,
        late: Option<&File>,
        cache: &mut CacheX86_64,
        into: &mut Vec<Place>,
    ) -> Unwound {
        // What was read last, and where the copy had nothing for the first time.
        let (last, missed) = (Cell::new(0), Cell::new(None));
        let mut read = |address: u64| -> Result<u64, ()> {
            let offset = address.checked_sub(regs.sp).ok_or(())?;
            let mut word = [0; 8];
            match stack.word(offset) {
                Some(bytes) => {
                    word = bytes;
                    last.set(offset.max(last.get()));
                }
                None => {
                    missed.set(missed.get().or(Some(offset)));
                    late.ok_or(())?.read_exact_at(&mut word, address).map_err(|_| ())?;
                }
            }
            Ok(u64::from_le_bytes(word))
        };
        let far = || {
            let missed = missed.get().filter(|_| stack.far.is_none() && last.get() < COPY as u64 / 2);
            let frames = COPY as u64 - SAVED..FRAME;
            missed.filter(|offset| frames.contains(offset)).map(|offset| (offset - SAVED) & !7)
        };
        let complete = self.frames(regs, cache, &mut read, into);
        Unwound { complete, far: far() }
    }

    /// Where a walk of Go's code came to the thread's own stack, on which it runs for a goroutine: puts the goroutine's frames, by the `chain` of frame
    /// pointers, in place of what was found there, and returns true. Go keeps them in all functions but the smallest.
    pub(crate) fn goes_on_with_a_goroutine(&self, chain: &[u64], places: &mut Vec<Place>) -> bool {
        let image = |place: &Place| match place {
            Place::Native { module, svma } => {
                Some((self.of_module(*module, *svma)?.image.clone()?, *module, *svma))
            }
            _ => None,
        };
        let Some((_, module, _)) = places.last().and_then(image).filter(|(image, ..)| image.go) else {
            return false;
        };
        let leaves =
            |place: &Place| image(place).is_some_and(|(image, _, svma)| image.leaves_a_goroutine(svma));
        let Some(leaving) = places.iter().position(leaves) else { return false };
        // Behind that the walk may have met what is left of other calls. What it calls may have no frame of its own, as the kernel's functions that tell the time.
        let here = Some(places[leaving]);
        let at = chain.iter().skip(1).position(|back| self.caller(*back) == here).map_or(1, |at| at + 2);
        let mut beyond = chain.iter().skip(at).map_while(|back| self.caller(*back)).peekable();
        // Of the same program, and none that was walked already.
        let inner = &places[..=leaving];
        let new = |place: &Place| {
            matches!(place, Place::Native { module: of, .. } if *of == module) && !inner.contains(place)
        };
        if !beyond.peek().is_some_and(new) {
            return false;
        }
        places.truncate(leaving + 1);
        places.extend(beyond.take(DEPTH_MAX.saturating_sub(leaving)));
        true
    }

    fn frames(
        &self,
        regs: Regs,
        cache: &mut CacheX86_64,
        read: &mut dyn FnMut(u64) -> Result<u64, ()>,
        into: &mut Vec<Place>,
    ) -> bool {
        let mut read = |address: u64| read(address);
        let start = UnwindRegsX86_64::new(regs.ip, regs.sp, regs.bp);
        let mut frames = self.unwinder.iter_frames(regs.ip, start, cache, &mut read);
        for depth in 0..DEPTH_MAX {
            match frames.next() {
                Ok(Some(frame)) => {
                    // An address in no mapping is no frame but where the walk went astray.
                    match self.place(frame) {
                        Some(place) => into.push(place),
                        None if depth == 0 => into.push(Place::Jit { address: frame.address_for_lookup() }),
                        None => return false,
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    fn place(&self, frame: FrameAddress) -> Option<Place> {
        let address = frame.address_for_lookup();
        let mapped = self.at(address)?;
        let svma = mapped
            .image
            .as_ref()
            .and_then(|image| image.svma_of_offset(mapped.offset))
            .map(|start| address - mapped.range.start + start);
        Some(match svma {
            Some(svma) => Place::Native { module: mapped.module, svma },
            None => Place::Jit { address },
        })
    }
}
