//! The state of the machine at a moment, as far as the kernel reports it.

use crate::values::Machine;
use std::fs::read_to_string;

/// The machine now (load and frequency twice the same), and the ticks that were stolen and all there were since boot.
pub(crate) fn now() -> (Machine, (u64, u64)) {
    let text = |path: &str| read_to_string(path).unwrap_or_default();
    let info = text("/proc/cpuinfo");
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim()).to_owned()
    };
    let load = text("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let mhz = field("cpu MHz").parse().unwrap_or(0.0);
    // user nice system idle iowait irq softirq steal
    let stat = text("/proc/stat");
    let first = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> =
        first.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    let machine = Machine {
        host: text("/proc/sys/kernel/hostname").trim().to_owned(),
        cpu: field("model name"),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        load: [load, load],
        steal: 0.0,
        mhz: [mhz, mhz],
    };
    (machine, (ticks.get(7).copied().unwrap_or(0), ticks.iter().sum()))
}
