//! Names for the addresses of a recording: its `functions`, `frames` and `builds` tables, made after the run from the files that
//! the modules name. Only addresses that occur are looked up, each once.

use slowpath_recording::Recording;
use slowpath_recording::Tables;
use slowpath_recording::tables::{Built, Frame, Function, Module};
use slowpath_symbols::kernel::KernelSymbols;
use slowpath_symbols::{ElfSymbols, KnownBy};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A function with a smaller share of the samples is not asked how it was built, for its neighbours are decoded too: at most 200 are asked. In a
/// flat profile the unoptimised part is underestimated by that.
const SHARE: f64 = 0.005;

/// Fills the tables `functions`, `frames` and `builds` if they are empty. `held` names files to read instead of a module's path,
/// such as a descriptor of one that was deleted. Returns what could not be named, a sentence each.
pub fn resolve(recording: &mut Recording, held: &HashMap<u32, PathBuf>) -> Vec<String> {
    let tables = &mut recording.tables;
    if !tables.frames.is_empty() || tables.locations.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let mut names = Names { sampled: often_sampled(tables), ..Names::default() };
    let mut by_module: HashMap<Option<u32>, Vec<(u32, u64)>> = HashMap::new();
    let mut kernel = Vec::new();
    for location in &tables.locations {
        if location.kind == "kernel" {
            kernel.push((location.location, location.address));
        } else {
            by_module.entry(location.module).or_default().push((location.location, location.address));
        }
    }
    let mut modules: Vec<_> = by_module.into_iter().collect();
    modules.sort_by_key(|(module, _)| *module);
    for (number, places) in modules {
        let module = number.and_then(|number| tables.modules.get(number as usize));
        match module {
            Some(module) => match names.module(module, held.get(&module.module), &places) {
                Ok(left_out) => {
                    notes.extend(left_out.iter().map(|what| format!("{}: {what}", module.path)));
                }
                Err(why) => notes.push(format!("no symbols for {}: {why}", module.path)),
            },
            None => {
                for (location, address) in places {
                    names.one(location, &format!("[code at run time]+{address:#x}"), None, address, "jit");
                }
            }
        }
    }
    if !kernel.is_empty() {
        match KernelSymbols::load() {
            Ok(symbols) => {
                for (location, address) in kernel {
                    let (name, start) =
                        symbols.lookup(address).map_or(("[kernel]", 0), |(name, _, start)| (name, start));
                    names.one(location, name, None, start, "kernel");
                }
            }
            Err(_) => {
                notes.push(
                    "kernel functions have no names because /proc/kallsyms hides their addresses: sudo sysctl \
                     kernel.kptr_restrict=0"
                        .to_owned(),
                );
                for (location, _) in kernel {
                    names.one(location, "[kernel]", None, 0, "kernel");
                }
            }
        }
    }
    names.frames.sort_by_key(|frame| (frame.location, frame.depth));
    tables.functions = names.functions;
    tables.frames = names.frames;
    tables.builds = names.builds.into_values().collect();
    notes
}

#[derive(Default)]
struct Names {
    functions: Vec<Function>,
    frames: Vec<Frame>,
    numbers: HashMap<(String, Option<u32>, u64), u32>,
    /// Locations with samples of their own, and how many.
    sampled: Sampled,
    /// By function.
    builds: BTreeMap<u32, Built>,
}

#[derive(Default)]
struct Sampled {
    by_location: HashMap<u32, u64>,
    all: u64,
}

/// Which locations were executed when a sample was taken.
fn often_sampled(tables: &Tables) -> Sampled {
    let mut by_location: HashMap<u32, u64> = HashMap::new();
    let mut all = 0;
    for sample in tables.samples.iter().filter(|sample| sample.on_cpu) {
        let stack = sample.stack.and_then(|stack| tables.stacks.get(stack as usize));
        if let Some(stack) = stack {
            *by_location.entry(stack.location).or_default() += 1;
        }
        all += 1;
    }
    Sampled { by_location, all }
}

impl Names {
    fn function(
        &mut self,
        name: &str,
        module: Option<u32>,
        address: u64,
        file: Option<&str>,
        line: Option<u32>,
    ) -> u32 {
        let functions = &mut self.functions;
        *self.numbers.entry((name.to_owned(), module, address)).or_insert_with(|| {
            let function = functions.len() as u32;
            functions.push(Function {
                function,
                name: name.to_owned(),
                module,
                file: file.map(str::to_owned),
                line,
                address,
            });
            function
        })
    }

    fn one(&mut self, location: u32, name: &str, module: Option<u32>, address: u64, kind: &str) {
        let function = self.function(name, module, address, None, None);
        self.frames.push(Frame {
            location,
            depth: 0,
            function,
            file: None,
            line: None,
            kind: kind.to_owned(),
        });
    }

    /// Returns what of the module's tables was left out.
    fn module(
        &mut self,
        module: &Module,
        held: Option<&PathBuf>,
        places: &[(u32, u64)],
    ) -> Result<Vec<String>, String> {
        let file_name = Path::new(&module.path).file_name().map(|name| name.to_string_lossy().into_owned());
        let short = file_name.unwrap_or_else(|| module.path.clone());
        let opened = open(module, held);
        let (mut symbols, failed) = match opened {
            Ok(symbols) => (Some(symbols), None),
            Err(why) => (None, Some(why)),
        };
        // By real function, whatever was inlined: how many samples, and an address.
        let mut sampled: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (location, svma) in places {
            let found = symbols.as_mut().map(|symbols| symbols.lookup(*svma)).unwrap_or_default();
            if found.is_empty() {
                // Stripped: unwind tables still show where the function begins.
                let range = symbols.as_ref().and_then(|symbols| symbols.ranges().containing(*svma));
                let start = range.map_or(*svma, |range| range.start);
                self.one(*location, &format!("{short}+{start:#x}"), Some(module.module), start, "native");
                self.tally(&mut sampled, *location, *svma);
                continue;
            }
            for (depth, symbol) in found.iter().enumerate() {
                // An inlined function has no address of its own: all its copies are one.
                let address = if symbol.inlined { 0 } else { symbol.start };
                let name = if symbol.name.is_empty() {
                    format!("{short}+{:#x}", symbol.start)
                } else {
                    symbol.name.clone()
                };
                let file = symbol.file.as_deref();
                let function = self.function(&name, Some(module.module), address, file, symbol.decl_line);
                self.frames.push(Frame {
                    location: *location,
                    depth: depth as u32,
                    function,
                    file: symbol.file.clone(),
                    line: symbol.line,
                    kind: if symbol.inlined { "inlined" } else { "native" }.to_owned(),
                });
            }
            self.tally(&mut sampled, *location, *svma);
        }
        if let Some(symbols) = &mut symbols {
            self.ask_how_built(symbols, &sampled);
        }
        failed.map_or_else(|| Ok(symbols.map(|symbols| symbols.left_out()).unwrap_or_default()), Err)
    }
}

impl Names {
    /// Adds the samples at a location whose frames were just noted to its real function, the last of them.
    fn tally(&self, sampled: &mut BTreeMap<u32, (u64, u64)>, location: u32, svma: u64) {
        let count = self.sampled.by_location.get(&location).copied().unwrap_or(0);
        if let Some(frame) = self.frames.last().filter(|_| count > 0) {
            sampled.entry(frame.function).or_insert((0, svma)).0 += count;
        }
    }

    fn ask_how_built(&mut self, symbols: &mut ElfSymbols, sampled: &BTreeMap<u32, (u64, u64)>) {
        let least = SHARE * self.sampled.all as f64;
        for (function, (count, svma)) in sampled {
            let Some(build) = (*count as f64 >= least).then(|| symbols.build(*svma)).flatten() else {
                continue;
            };
            let known_by = match build.known_by {
                KnownBy::Compiler => "compiler",
                KnownBy::Code => "code",
            };
            let compiler = build.compiler.unwrap_or_default();
            let built = Built {
                function: *function,
                optimized: build.optimized,
                known_by: known_by.to_owned(),
                compiler,
            };
            self.builds.insert(*function, built);
        }
    }
}

fn open(module: &Module, held: Option<&PathBuf>) -> Result<ElfSymbols, String> {
    if module.path == "[vdso]" {
        let bytes = vdso().ok_or("this process has none")?;
        return ElfSymbols::from_bytes(bytes, Path::new("[vdso]"), None, &[])
            .map_err(|error| error.to_string());
    }
    let build_id = module.build_id.as_deref().and_then(from_hex);
    let wanted = build_id.as_deref();
    let by_path = ElfSymbols::open(Path::new(&module.path), wanted);
    match (by_path, held) {
        (Ok(symbols), _) => Ok(symbols),
        (Err(_), Some(held)) => ElfSymbols::open(held, wanted).map_err(|error| error.to_string()),
        (Err(error), None) => Err(error.to_string()),
    }
}

fn vdso() -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let mut bytes = vec![0; (end - start) as usize];
    std::fs::File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
