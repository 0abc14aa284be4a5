//! Memory that is copied page by page when it is first touched, and written only here.

use std::collections::HashMap;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Pages that are copied at most, 64 MiB: what touches more is not followed.
const MOST: usize = 16_384;

/// Where pages come from.
pub trait Source {
    /// Copies the page at `address`, a multiple of [`PAGE`]; false if there is none that can be read.
    fn page(&mut self, address: u64, into: &mut [u8; PAGE]) -> bool;
}

/// A copy of another process's memory.
pub struct Memory<S> {
    source: S,
    /// By page number, where in `pages` it is; none if there is no such page.
    known: HashMap<u64, Option<usize>>,
    pages: Vec<Box<[u8; PAGE]>>,
    /// The page that was touched last, and where it is: mostly it is touched again.
    last: (u64, usize),
}

impl<S: Source> Memory<S> {
    /// Nothing is copied yet.
    pub fn new(source: S) -> Memory<S> {
        Memory { source, known: HashMap::new(), pages: Vec::new(), last: (u64::MAX, 0) }
    }

    /// Pages that were copied.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    fn page(&mut self, number: u64) -> Option<&mut [u8; PAGE]> {
        if self.last.0 != number {
            let at = match self.known.get(&number) {
                Some(at) => (*at)?,
                None => {
                    if self.pages.len() == MOST {
                        return None;
                    }
                    let mut page = Box::new([0; PAGE]);
                    let there =
                        number.checked_mul(PAGE as u64).is_some_and(|at| self.source.page(at, &mut page));
                    self.known.insert(number, there.then_some(self.pages.len()));
                    if !there {
                        return None;
                    }
                    self.pages.push(page);
                    self.pages.len() - 1
                }
            };
            self.last = (number, at);
        }
        self.pages.get_mut(self.last.1).map(|page| &mut **page)
    }

    /// Reads as many bytes as `into` has; none if some of them are not there.
    pub fn read(&mut self, address: u64, into: &mut [u8]) -> Option<()> {
        let mut done = 0;
        while done < into.len() {
            let at = address.wrapping_add(done as u64);
            let offset = (at % PAGE as u64) as usize;
            let length = (PAGE - offset).min(into.len() - done);
            let page = self.page(at / PAGE as u64)?;
            into[done..done + length].copy_from_slice(&page[offset..offset + length]);
            done += length;
        }
        Some(())
    }

    /// Writes bytes here; says whether that changed anything, none if some of the memory is not there.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Option<bool> {
        let mut done = 0;
        let mut changed = false;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let offset = (at % PAGE as u64) as usize;
            let length = (PAGE - offset).min(bytes.len() - done);
            let page = &mut self.page(at / PAGE as u64)?[offset..offset + length];
            changed |= *page != bytes[done..done + length];
            page.copy_from_slice(&bytes[done..done + length]);
            done += length;
        }
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Source for Two {
        fn page(&mut self, address: u64, into: &mut [u8; PAGE]) -> bool {
            into.fill((address / PAGE as u64) as u8);
            (0x1000..0x3000).contains(&address)
        }
    }

    #[test]
    fn pages_are_copied_when_touched_and_written_here() {
        let mut memory = Memory::new(Two);
        let mut bytes = [0; 4];
        assert_eq!(memory.read(0x1ffe, &mut bytes), Some(()));
        assert_eq!((bytes, memory.pages()), ([1, 1, 2, 2], 2));
        assert_eq!(memory.write(0x1ffe, &[1, 1, 2, 2]), Some(false));
        assert_eq!(memory.write(0x1ffe, &[1, 1, 3, 2]), Some(true));
        memory.read(0x1ffe, &mut bytes);
        assert_eq!(bytes, [1, 1, 3, 2]);
        assert_eq!(memory.read(0x2ffe, &mut bytes), None, "the next page is not there");
        assert_eq!(memory.write(u64::MAX - 1, &[0; 4]), None);
    }
}
