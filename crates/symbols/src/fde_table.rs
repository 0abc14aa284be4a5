//! Function bounds from unwind tables, for code that has no symbols.
//!
//! Nearly every function has a frame description entry (FDE) in `.eh_frame`, stripped or not.
//! `.eh_frame_hdr` lists their starts sorted; a length is read from its FDE only when asked for.
//! Reads no unwind rules.

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection};
use object::{Object, ObjectSection};

use crate::bounds::Allowance;
use crate::image::section;

/// Bounds of functions by address.
#[derive(Default)]
pub(crate) struct FdeTable {
    starts: Starts,
    eh_frame: Vec<u8>,
    eh_frame_svma: u64,
    /// Base of text-relative pointers, which some targets use.
    text_svma: u64,
    endian: RunTimeEndian,
    address_size: u8,
}

/// Where functions start and, for each, its FDE's offset in `.eh_frame` or its length.
enum Starts {
    /// The table of `.eh_frame_hdr` as it lies in the file: pairs of 32-bit offsets from `svma`.
    Header { table: Vec<u8>, svma: u64 },
    /// Read from `.eh_frame` one by one, because there is no usable header: (start, length).
    Listed(Vec<(u64, u64)>),
}

impl Default for Starts {
    fn default() -> Self {
        Starts::Listed(Vec::new())
    }
}

/// Bytes before the table in `.eh_frame_hdr`, in the one layout that linkers write.
const HEADER_SIZE: usize = 12;
const ROW_SIZE: usize = 8;

impl FdeTable {
    pub(crate) fn read(elf: &object::File<'_>, allowance: &mut Allowance) -> Self {
        let Some(eh_frame) = section(elf, ".eh_frame", allowance) else { return FdeTable::default() };
        let address_of = |name| elf.section_by_name(name).map_or(0, |section| section.address());
        let mut table = FdeTable {
            starts: Starts::default(),
            eh_frame: eh_frame.into_owned(),
            eh_frame_svma: address_of(".eh_frame"),
            text_svma: address_of(".text"),
            endian: if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big },
            address_size: if elf.is_64() { 8 } else { 4 },
        };
        let header = section(elf, ".eh_frame_hdr", allowance);
        table.starts = header
            .and_then(|header| table.header(&header, address_of(".eh_frame_hdr")))
            .unwrap_or_else(|| Starts::Listed(table.list()));
        table
    }

    /// The start and end, in svma, of the function around `svma`.
    pub(crate) fn containing(&self, svma: u64) -> Option<(u64, u64)> {
        let (start, length) = match &self.starts {
            Starts::Listed(list) => {
                let above = list.partition_point(|(start, _)| *start <= svma);
                *list.get(above.checked_sub(1)?)?
            }
            Starts::Header { table, svma: base } => {
                let row = self.last_row_at_or_below(table, *base, svma)?;
                self.fde_at(base.wrapping_add_signed(row.1))?
            }
        };
        let end = start.checked_add(length)?;
        (start <= svma && svma < end).then_some((start, end))
    }

    /// The first FDE start that lies above `svma`.
    pub(crate) fn next_start(&self, svma: u64) -> Option<u64> {
        match &self.starts {
            Starts::Listed(list) => {
                list.get(list.partition_point(|(start, _)| *start <= svma)).map(|row| row.0)
            }
            Starts::Header { table, svma: base } => {
                let row = self.row(table, self.rows_at_or_below(table, *base, svma))?;
                Some(base.wrapping_add_signed(row.0))
            }
        }
    }

    fn header(&self, header: &[u8], svma: u64) -> Option<Starts> {
        // Version 1, a 32-bit pc-relative pointer, a 32-bit count, and a table of 32-bit pairs
        // relative to the header: all other encodings are legal, and none is in use.
        let [1, 0x1b, 0x03, 0x3b] = *header.get(..4)? else { return None };
        let count = usize::try_from(self.word(header, 8)?.cast_unsigned()).ok()?;
        let size = count.checked_mul(ROW_SIZE)?;
        let table = header.get(HEADER_SIZE..HEADER_SIZE.checked_add(size)?)?;
        Some(Starts::Header { table: table.to_vec(), svma })
    }

    fn word(&self, bytes: &[u8], at: usize) -> Option<i32> {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(match self.endian {
            RunTimeEndian::Little => i32::from_le_bytes(four),
            RunTimeEndian::Big => i32::from_be_bytes(four),
        })
    }

    /// (function start, FDE), both relative to the header.
    fn row(&self, table: &[u8], index: usize) -> Option<(i64, i64)> {
        let at = index.checked_mul(ROW_SIZE)?;
        Some((self.word(table, at)?.into(), self.word(table, at.checked_add(4)?)?.into()))
    }

    fn rows_at_or_below(&self, table: &[u8], base: u64, svma: u64) -> usize {
        let (mut low, mut high) = (0, table.len() / ROW_SIZE);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.row(table, middle) {
                Some((start, _)) if base.wrapping_add_signed(start) <= svma => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    fn last_row_at_or_below(&self, table: &[u8], base: u64, svma: u64) -> Option<(i64, i64)> {
        self.row(table, self.rows_at_or_below(table, base, svma).checked_sub(1)?)
    }

    fn section(&self) -> (EhFrame<EndianSlice<'_, RunTimeEndian>>, BaseAddresses) {
        let mut eh_frame = EhFrame::new(&self.eh_frame, self.endian);
        eh_frame.set_address_size(self.address_size);
        let bases = BaseAddresses::default().set_eh_frame(self.eh_frame_svma).set_text(self.text_svma);
        (eh_frame, bases)
    }

    /// (start, length) of the FDE that lies at `fde_svma`.
    fn fde_at(&self, fde_svma: u64) -> Option<(u64, u64)> {
        let offset = usize::try_from(fde_svma.checked_sub(self.eh_frame_svma)?).ok()?;
        if offset >= self.eh_frame.len() {
            return None;
        }
        let (eh_frame, bases) = self.section();
        let fde = eh_frame.fde_from_offset(&bases, offset.into(), EhFrame::cie_from_offset).ok()?;
        Some((fde.initial_address(), fde.len()))
    }

    /// Every FDE up to the first damaged one.
    fn list(&self) -> Vec<(u64, u64)> {
        let (eh_frame, bases) = self.section();
        let mut entries = eh_frame.entries(&bases);
        let mut list = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(partial) = entry
                && let Ok(fde) = partial.parse(EhFrame::cie_from_offset)
            {
                list.push((fde.initial_address(), fde.len()));
            }
        }
        list.sort_unstable();
        list
    }
}
