//! AES-GCM of this crate beside its peers: fractions of the limit that the AES unit sets, measured in the same run.
//!
//! All contestants take turns, so that what changes with time changes for all. A sample counts only if a fixed probe ran at
//! quiet speed before and after it ([`clock`]): contention slows memory, multiplier and AES unit differently, so it does not
//! cancel in ratios. Prints a table in Markdown.

mod clock;
mod contestants;
mod packets;

use clock::Quiet;
use contestants::{Contestant, Task};
use packets::Packets;

/// Sizes of the texts, in bytes.
const SIZES: [usize; 4] = [64, 256, 1440, 16_384];

/// Samples asked of each contestant for each size and task.
const SAMPLES: usize = 150;

/// Turns after which a size is given up: the machine is not quiet.
const TURNS: usize = 100 * SAMPLES;

fn main() {
    if !slowpath_aead::Implementation::AesNi.available() {
        eprintln!("this machine has no AES-NI, PCLMULQDQ and AVX2: there is nothing to measure");
        std::process::exit(1);
    }
    let quiet = Quiet::find();
    let mut all = contestants::all();
    if let Ok(only) = std::env::var("ONLY") {
        all.retain(|one| one.name().contains(&only));
    }
    // How much more an instruction on 16 bytes takes than its share of one on 32 or 64.
    let wide = wide_limit();
    let mut rounds = Vec::new();
    for (task, title) in [
        (Task::SealWithMask, "Seal, with header protection's mask"),
        (Task::Seal, "Seal"),
        (Task::Open, "Open"),
    ] {
        let table: Vec<Vec<Option<Cell>>> =
            SIZES.iter().map(|size| measure(&quiet, &mut all, task, *size, &mut rounds)).collect();
        print(title, &all, &table, wide);
    }
    rounds.sort_by(f64::total_cmp);
    let mut multiplications: Vec<f64> = (0..500).map(|_| clock::carryless_multiplication()).collect();
    multiplications.sort_by(f64::total_cmp);
    let round = rounds.get(rounds.len() / 2).copied().unwrap_or(f64::NAN);
    println!(
        "An AES round on 16 bytes takes {round:.3} ticks of the time stamp counter, so a block of AES-128 {:.2}:",
        round * 10.0
    );
    println!("that is 1.00. A carry-less multiplication takes {:.3} ticks.", multiplications[25]);
}

/// The AES unit's limit with VAES, in blocks for each block of its limit with instructions on 16 bytes; none without VAES.
/// Both from the fastest twentieth of probes that take turns.
fn wide_limit() -> Option<f64> {
    let mut narrow = Vec::new();
    let mut wide = Vec::new();
    for _ in 0..1000 {
        narrow.push(clock::aes_round());
        wide.push(clock::wide_aes_round()?);
    }
    narrow.sort_by(f64::total_cmp);
    wide.sort_by(f64::total_cmp);
    Some(narrow[narrow.len() / 20] / wide[wide.len() / 20])
}

/// A contestant's median at one size.
struct Cell {
    /// Of the limit of the AES unit.
    fraction: f64,
    /// Ticks a packet.
    ticks: f64,
}

fn measure(
    quiet: &Quiet,
    all: &mut [Box<dyn Contestant>],
    task: Task,
    size: usize,
    rounds: &mut Vec<f64>,
) -> Vec<Option<Cell>> {
    // Small ones many at a time, so that asking for the time weighs nothing; all of them in the first cache.
    let count = (16_384 / size).clamp(1, 32).next_multiple_of(8);
    let text = Packets::new(count, size);
    let mut before: Vec<Option<Packets>> =
        all.iter_mut().map(|one| start(one.as_mut(), task, &text)).collect();
    let mut work = text.clone();
    let mut samples = vec![Vec::new(); all.len()];
    for turn in 0..TURNS {
        for (at, one) in all.iter_mut().enumerate() {
            let Some(before) = &mut before[at] else { continue };
            let repeats = (40_000 / (count * size)).max(1);
            let sample = quiet.sample(|| {
                // Once untimed: code and branches are warm, as in a stream of packets.
                work.restore(before);
                one.run(task, &mut work);
                (0..repeats)
                    .map(|_| {
                        work.restore(before);
                        clock::ticks_of(|| assert!(one.run(task, &mut work)))
                    })
                    .sum()
            });
            if let Some((ticks, round)) = sample {
                samples[at].push((ticks / (repeats * count) as f64, round));
            }
        }
        if turn > SAMPLES
            && samples
                .iter()
                .zip(&before)
                .all(|(samples, before)| samples.len() >= SAMPLES || before.is_none())
        {
            break;
        }
    }
    let blocks = size as f64 / 16.0;
    samples
        .into_iter()
        .zip(all)
        .map(|(samples, one)| {
            if samples.len() < SAMPLES {
                return None;
            }
            rounds.extend(samples.iter().map(|(_, round)| round));
            let limit = |round: f64| blocks * one.rounds() * round;
            let fraction = median(samples.iter().map(|(ticks, round)| limit(*round) / ticks).collect());
            Some(Cell { fraction, ticks: median(samples.iter().map(|(ticks, _)| *ticks).collect()) })
        })
        .collect()
}

/// The packets that a task begins with; none if the contestant cannot do it.
fn start(one: &mut dyn Contestant, task: Task, text: &Packets) -> Option<Packets> {
    let mut packets = text.clone();
    if task == Task::Open {
        one.run(Task::Seal, &mut packets);
    }
    let before = packets.clone();
    one.run(task, &mut packets).then(|| {
        if task == Task::Open {
            assert!(packets.bytes() != before.bytes());
        }
        before
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print(title: &str, all: &[Box<dyn Contestant>], table: &[Vec<Option<Cell>>], wide: Option<f64>) {
    let sizes: Vec<String> = SIZES.iter().map(|size| format!("{size} bytes")).collect();
    println!("| {title} | {} |", sizes.join(" | "));
    println!("|---{}|", "|---:".repeat(SIZES.len()));
    for (at, one) in all.iter().enumerate() {
        let cells: Vec<String> = table
            .iter()
            .map(|column| match &column[at] {
                Some(Cell { fraction, ticks }) => match wide {
                    Some(wide) => format!("{fraction:.2} / {:.2} ({ticks:.0})", fraction / wide),
                    None => format!("{fraction:.2} ({ticks:.0})"),
                },
                None => "–".into(),
            })
            .collect();
        println!("| {} | {} |", one.name(), cells.join(" | "));
    }
    println!("| *ceiling with nine rounds a block* | {} |", ceiling().join(" | "));
    if let Some(wide) = wide {
        println!("\nThe second fraction is of the limit with VAES, which is {wide:.2} times as high.");
    }
    println!();
}

/// With nine rounds a block, but ten for the tag's block and one more a packet for the base; the first round of a packet
/// cannot be saved.
fn ceiling() -> Vec<String> {
    SIZES
        .iter()
        .map(|size| {
            let blocks = *size as f64 / 16.0;
            let bases = (blocks / 256.0).ceil();
            format!("{:.2}", blocks * 10.0 / ((blocks + 1.0) * 9.0 + bases))
        })
        .collect()
}
