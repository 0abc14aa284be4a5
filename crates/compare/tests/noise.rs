//! How often a difference is said where there is none, and how often one is found that is there, on noise as it was recorded: pairs of
//! one program with itself (`gzip` of 400 kB), on a shared virtual machine of two CPUs, in quiet and while bursts of another
//! program's work load both. Not Gaussian: heavy tails, drift, bursts.
//!
//! `tests/data/*.csv` hold a pair a line: wall and CPU time of both runs, then what the probes took, all in µs.

use slowpath_compare::values::{Pair, Probe, Run, Verdict};
use slowpath_compare::{Plan, replay};

const COMPARISONS: usize = 1_000;
const PAIRS: usize = 60;
/// Pairs that follow each other are drawn together: noise comes in stretches.
const BLOCK: usize = 10;

fn recorded(name: &str) -> Vec<Pair> {
    let path = format!("{}/tests/data/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recorded noise");
    let pair = |line: &str| {
        let us: Vec<u64> =
            line.split(',').map(|word| word.parse::<u64>().expect("a number") * 1_000).collect();
        let run = |wall_ns, user_ns| Run {
            wall_ns,
            user_ns,
            sys_ns: 0,
            peak_memory_bytes: 0,
            exit: 0,
            output: None,
        };
        let probe = |at: usize| Probe { cpu_ns: us[at], memory_ns: us[at + 1] };
        let probes = [probe(4), probe(6), probe(8)];
        Pair { runs: [run(us[0], us[1]), run(us[2], us[3])], first: 0, probes, set_aside: false }
    };
    text.lines().skip(1).map(pair).collect()
}

/// A comparison drawn from the recorded pairs in blocks, with sides swapped by lot, the first side slower by `slower`.
fn drawn(noise: &[Pair], random: &mut fastrand::Rng, slower: f64) -> Vec<Pair> {
    let mut pairs = Vec::new();
    while pairs.len() < PAIRS {
        let start = random.usize(..noise.len() - BLOCK);
        pairs.extend(noise[start..start + BLOCK].iter().cloned().map(|mut pair| {
            if random.bool() {
                pair.runs.swap(0, 1);
            }
            let run = &mut pair.runs[0];
            for ns in [&mut run.wall_ns, &mut run.user_ns] {
                *ns = (*ns as f64 * (1.0 + slower)) as u64;
            }
            pair
        }));
    }
    pairs.truncate(PAIRS);
    pairs
}

/// Of so many comparisons: those that say faster, those that say slower, and the pairs that they took on average.
fn verdicts(name: &str, slower: f64, cpu: bool) -> (usize, usize, f64) {
    let noise = recorded(name);
    let mut random = fastrand::Rng::with_seed(11);
    let plan = Plan { min_pairs: 5, max_pairs: PAIRS, indifferent: 0.02, tolerance: 0.1, cpu };
    let (mut faster, mut slower_said, mut taken) = (0, 0, 0);
    for _ in 0..COMPARISONS {
        let (verdict, pairs) = replay(&drawn(&noise, &mut random, slower), &plan);
        faster += usize::from(verdict == Verdict::Faster);
        slower_said += usize::from(verdict == Verdict::Slower);
        taken += pairs;
    }
    (faster, slower_said, taken as f64 / COMPARISONS as f64)
}

fn metric(cpu: bool) -> &'static str {
    if cpu { "cpu" } else { "wall" }
}

#[test]
fn a_program_is_not_called_different_from_itself_more_often_than_stated() {
    for (name, cpu) in [("quiet", false), ("quiet", true), ("loaded", false), ("loaded", true)] {
        let (faster, slower, pairs) = verdicts(name, 0.0, cpu);
        let different = faster + slower;
        println!("{name}, {}: {different} of {COMPARISONS} called different, {pairs:.0} pairs", metric(cpu));
        assert!(different <= COMPARISONS / 20, "{name}, {}: {faster} + {slower}", metric(cpu));
    }
}

#[test]
fn a_difference_of_ten_per_cent_is_found() {
    for (slower, name) in
        [0.02, 0.05, 0.10].into_iter().flat_map(|slower| [(slower, "quiet"), (slower, "loaded")])
    {
        for cpu in [false, true] {
            let (found, wrong, pairs) = verdicts(name, slower, cpu);
            let percent = 100.0 * slower;
            let of = metric(cpu);
            println!(
                "{name}, {of}, {percent:.0} %: found {found} of {COMPARISONS}, {wrong} wrong, {pairs:.0} pairs"
            );
            assert!(wrong <= COMPARISONS / 40, "{name}, {of}, {percent} %: {wrong} the wrong way round");
            if slower >= 0.10 && name == "quiet" {
                assert!(found >= COMPARISONS * 95 / 100, "{name}, {of}, {percent} %: only {found}");
            }
        }
    }
}
