//! Names of kernel functions, from `/proc/kallsyms`. Knows nothing of their source lines.

use std::ops::Range;
use std::path::Path;

use crate::error::Error;

const KALLSYMS: &str = "/proc/kallsyms";

struct Entry {
    start: u64,
    /// Where the name and the module lie in `KernelSymbols::text`, in bytes.
    name: (u32, u32),
    module: Option<(u32, u32)>,
}

/// The functions of the running kernel and its modules.
pub struct KernelSymbols {
    /// Sorted by `start`, one entry an address.
    entries: Vec<Entry>,
    text: String,
}

impl KernelSymbols {
    /// Reads the list of the running kernel: about 200,000 symbols, some 100 ms.
    ///
    /// # Errors
    /// [`Error::KernelUnreadable`] if `/proc/kallsyms` cannot be read, [`Error::KernelHidden`] if
    /// it shows only zeros, as it does to users without rights (`kernel.kptr_restrict`).
    pub fn load() -> Result<Self, Error> {
        Self::load_from(Path::new(KALLSYMS))
    }

    fn load_from(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path)
            .map_err(|source| Error::KernelUnreadable { path: path.to_owned(), source })?;
        let symbols = Self::parse(String::from_utf8_lossy(&bytes).into_owned());
        if symbols.entries.is_empty() {
            return Err(Error::KernelHidden { path: path.to_owned() });
        }
        Ok(symbols)
    }

    fn parse(text: String) -> Self {
        let mut entries: Vec<Entry> = text.lines().filter_map(|line| entry(&text, line)).collect();
        let name = |entry: &Entry| slice(&text, entry.name);
        // Global names first, then those with fewer underscores; the order of the file after that.
        entries.sort_by_key(|entry| {
            let underscores = name(entry).bytes().take_while(|byte| *byte == b'_').count();
            (entry.start, !is_global(&text, entry), underscores)
        });
        entries.dedup_by_key(|entry| entry.start);
        KernelSymbols { entries, text }
    }

    /// The function around the address `addr`: its name, its module if it is in one, and its
    /// first address. `None` below the first symbol. The list has no sizes, so an address behind
    /// a function's end still belongs to it.
    pub fn lookup(&self, addr: u64) -> Option<(&str, Option<&str>, u64)> {
        let above = self.entries.partition_point(|entry| entry.start <= addr);
        let entry = self.entries.get(above.checked_sub(1)?)?;
        let module = entry.module.map(|at| slice(&self.text, at));
        Some((slice(&self.text, entry.name), module, entry.start))
    }

    /// The addresses of the functions with such names, in order; each reaches to the next function.
    pub fn ranges(&self, is: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
        let pairs = self.entries.windows(2).filter(|pair| is(slice(&self.text, pair[0].name)));
        pairs.map(|pair| pair[0].start..pair[1].start).collect()
    }
}

/// `address type name [module]`, for functions only.
fn entry(text: &str, line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    let start = u64::from_str_radix(words.next()?, 16).ok().filter(|start| *start != 0)?;
    let kind = words.next()?;
    if !matches!(kind, "t" | "T" | "w" | "W") {
        return None;
    }
    let name = range_in(text, words.next()?)?;
    let module = words.next().and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Some(Entry { start, name, module: module.and_then(|module| range_in(text, module)) })
}

/// Where `part`, a slice of `text`, lies in it.
fn range_in(text: &str, part: &str) -> Option<(u32, u32)> {
    let from = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    Some((u32::try_from(from).ok()?, u32::try_from(from + part.len()).ok()?))
}

fn slice(text: &str, (from, to): (u32, u32)) -> &str {
    text.get(from as usize..to as usize).unwrap_or_default()
}

/// The type letter stands before the name, one space between.
fn is_global(text: &str, entry: &Entry) -> bool {
    let before = (entry.name.0 as usize).saturating_sub(2);
    text.as_bytes().get(before).is_some_and(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::KernelSymbols;
    use crate::Error;

    const LIST: &str = "\
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000100 t __do_work
ffffffff81000100 T do_work
ffffffff81000180 D some_data
ffffffff81000200 W weak_one
ffffffffc0201000 t helper\t[ext4]
";

    #[test]
    fn an_address_inside_a_function_gives_its_name_and_start() {
        let kernel = KernelSymbols::parse(LIST.to_owned());
        assert_eq!(kernel.lookup(0xffffffff81000150), Some(("do_work", None, 0xffffffff81000100)));
        assert_eq!(kernel.lookup(0xffffffff810001ff), Some(("do_work", None, 0xffffffff81000100)));
        assert_eq!(kernel.lookup(0xffffffff81000000), Some(("startup_64", None, 0xffffffff81000000)));
    }

    #[test]
    fn a_module_is_named() {
        let kernel = KernelSymbols::parse(LIST.to_owned());
        assert_eq!(kernel.lookup(0xffffffffc0201010), Some(("helper", Some("ext4"), 0xffffffffc0201000)));
    }

    #[test]
    fn user_space_is_not_the_kernel() {
        assert_eq!(KernelSymbols::parse(LIST.to_owned()).lookup(0x1000), None);
    }

    #[test]
    fn hidden_addresses_are_an_error_that_says_what_to_do() {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), "0000000000000000 T _text\n0000000000000000 T do_work\n").expect("write");
        let error = KernelSymbols::load_from(file.path()).err().expect("all zeros");
        assert!(matches!(error, Error::KernelHidden { .. }));
        assert!(error.to_string().contains("kptr_restrict"));
    }

    #[test]
    fn a_missing_list_is_an_error() {
        let error = KernelSymbols::load_from(std::path::Path::new("/nonexistent/kallsyms")).err();
        assert!(matches!(error, Some(Error::KernelUnreadable { .. })));
    }

    #[test]
    fn the_running_kernel_is_read_or_says_why_not() {
        match KernelSymbols::load() {
            Ok(kernel) => assert!(kernel.lookup(u64::MAX).is_some()),
            Err(error) => assert!(error.to_string().contains("kernel frames have no names")),
        }
    }
}
