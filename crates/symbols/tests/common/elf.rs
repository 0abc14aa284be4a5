//! ELF files and DWARF made byte by byte, for what no compiler would write.

use std::io::Write;

const SHF_COMPRESSED: u64 = 0x800;
const SHF_EXECINSTR: u64 = 4;
const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_NOTE: u32 = 7;

/// A section in the making.
pub struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    link: u32,
    entry_size: u64,
    bytes: Vec<u8>,
}

/// A section of plain bytes.
pub fn plain(name: &'static str, bytes: Vec<u8>) -> Section {
    Section { name, kind: SHT_PROGBITS, flags: 0, address: 0, link: 0, entry_size: 0, bytes }
}

/// `size` bytes of code from `address` on.
pub fn code(address: u64, size: usize) -> Section {
    Section { address, flags: SHF_EXECINSTR, ..plain(".text", vec![0x90; size]) }
}

/// A section compressed with zlib: `head`, then `repeated` so often. No more of it than that is ever in memory.
pub fn compressed(name: &'static str, head: &[u8], repeated: &[u8], times: usize, tail: &[u8]) -> Section {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(head).expect("compress");
    for _ in 0..times {
        encoder.write_all(repeated).expect("compress");
    }
    encoder.write_all(tail).expect("compress");
    let size = (head.len() + repeated.len() * times + tail.len()) as u64;
    let mut bytes = Vec::new();
    bytes.extend(1u32.to_le_bytes()); // zlib
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(1u64.to_le_bytes());
    bytes.extend(encoder.finish().expect("compress"));
    Section { flags: SHF_COMPRESSED, ..plain(name, bytes) }
}

/// A note with a build-id of so many bytes.
pub fn build_id(size: u32) -> Section {
    let head = [4u32, size, 3].map(u32::to_le_bytes).concat();
    let bytes = [head, b"GNU\0".to_vec(), vec![7; size as usize]].concat();
    Section { kind: SHT_NOTE, ..plain(".note.gnu.build-id", bytes) }
}

/// Symbols of functions in the first section: (address, size, offset of the name in `names`). `link` is the number of the section
/// with the names, counted from 1.
pub fn symbols(link: u32, symbols: impl Iterator<Item = (u64, u64, u32)>) -> Section {
    let mut bytes = vec![0; 24];
    for (address, size, name) in symbols {
        bytes.extend(name.to_le_bytes());
        bytes.extend([0x12, 0, 1, 0]); // a global function in section 1
        bytes.extend(address.to_le_bytes());
        bytes.extend(size.to_le_bytes());
    }
    Section { kind: SHT_SYMTAB, link, entry_size: 24, ..plain(".symtab", bytes) }
}

/// Names for [`symbols`].
pub fn names(bytes: Vec<u8>) -> Section {
    Section { kind: SHT_STRTAB, ..plain(".strtab", bytes) }
}

/// A 64-bit ELF file for x86-64 of these sections.
pub fn elf(mut sections: Vec<Section>) -> Vec<u8> {
    let mut names = vec![0u8];
    sections.push(Section { kind: SHT_STRTAB, ..plain(".shstrtab", Vec::new()) });
    let places: Vec<u32> = sections
        .iter()
        .map(|section| {
            let at = names.len() as u32;
            names.extend(section.name.bytes().chain([0]));
            at
        })
        .collect();
    sections.last_mut().expect("the section of names").bytes = names;
    let mut file = vec![0u8; 64];
    let mut headers = vec![0u8; 64];
    for (section, name) in sections.iter().zip(places) {
        headers.extend(name.to_le_bytes());
        headers.extend(section.kind.to_le_bytes());
        headers.extend(section.flags.to_le_bytes());
        headers.extend(section.address.to_le_bytes());
        headers.extend((file.len() as u64).to_le_bytes());
        headers.extend((section.bytes.len() as u64).to_le_bytes());
        headers.extend(section.link.to_le_bytes());
        headers.extend(0u32.to_le_bytes());
        headers.extend(1u64.to_le_bytes());
        headers.extend(section.entry_size.to_le_bytes());
        file.extend(&section.bytes);
    }
    let (place, count) = (file.len() as u64, sections.len() as u16 + 1);
    file.extend(headers);
    let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    head.extend(3u16.to_le_bytes()); // a shared object
    head.extend(62u16.to_le_bytes()); // x86-64
    head.extend(1u32.to_le_bytes());
    head.extend([0u64, 0, place].map(u64::to_le_bytes).concat());
    head.extend(0u32.to_le_bytes());
    head.extend([64u16, 56, 0, 64, count, count - 1].map(u16::to_le_bytes).concat());
    file[..64].copy_from_slice(&head);
    file
}

/// An abbreviation: code, tag, whether it has children, and (attribute, form) pairs. All numbers are below 128 but for those given
/// as two bytes.
pub fn abbreviation(code: u8, tag: u8, children: bool, attributes: &[(u8, u8)]) -> Vec<u8> {
    let mut bytes = vec![code, tag, u8::from(children)];
    attributes.iter().for_each(|(name, form)| bytes.extend([*name, *form]));
    bytes.extend([0, 0]);
    bytes
}

pub const COMPILE_UNIT: u8 = 0x11;
pub const INLINED_SUBROUTINE: u8 = 0x1d;
pub const SUBPROGRAM: u8 = 0x2e;
/// DW_AT_low_pc as an address, DW_AT_high_pc as a size in 8 bytes, DW_AT_stmt_list and DW_AT_ranges as offsets.
pub const LOW_PC: (u8, u8) = (0x11, 0x01);
pub const HIGH_PC: (u8, u8) = (0x12, 0x07);
pub const STMT_LIST: (u8, u8) = (0x10, 0x17);
pub const RANGES: (u8, u8) = (0x55, 0x17);

/// A unit of DWARF 4 with these entries, its abbreviations at offset 0.
pub fn unit(entries: &[u8]) -> Vec<u8> {
    let mut bytes = ((entries.len() + 7) as u32).to_le_bytes().to_vec();
    bytes.extend([4, 0, 0, 0, 0, 0, 8]);
    bytes.extend(entries);
    bytes
}

/// `low` and `size` as [`LOW_PC`] and [`HIGH_PC`] have them.
pub fn bounds(low: u64, size: u64) -> Vec<u8> {
    [low, size].map(u64::to_le_bytes).concat()
}

/// The head of a line program of version 4 with `program` bytes behind it, and of its first instruction, which sets the address.
pub fn line_program(address: u64, program: usize) -> Vec<u8> {
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.extend(b"\0a.c\0\0\0\0\0");
    let mut bytes = ((2 + 4 + header.len() + 11 + program) as u32).to_le_bytes().to_vec();
    bytes.extend(4u16.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    bytes.extend([0, 9, 2]);
    bytes.extend(address.to_le_bytes());
    bytes
}
/// An instruction: a row one byte of code and no line further.
pub const NEXT_ROW: u8 = 32;
/// Ends a sequence of rows.
pub const END_SEQUENCE: [u8; 3] = [0, 1, 1];
