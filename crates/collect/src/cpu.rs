//! CPU time of processes and threads that run, as the scheduler has booked it.

/// CPU time, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub user_ns: u64,
    pub sys_ns: u64,
}

impl Cpu {
    /// An exact time, divided as clock ticks saw it: `user` and `sys` in any one unit.
    pub(crate) fn divided(ns: u64, user: u64, sys: u64) -> Cpu {
        let ticks = u128::from(user) + u128::from(sys);
        let user_ns = (u128::from(ns) * u128::from(user)).checked_div(ticks).map_or(ns, |user| user as u64);
        Cpu { user_ns, sys_ns: ns - user_ns }
    }

    pub(crate) fn total(self) -> u64 {
        self.user_ns + self.sys_ns
    }

    pub(crate) fn add(&mut self, other: Cpu) {
        self.user_ns += other.user_ns;
        self.sys_ns += other.sys_ns;
    }
}

/// What a process has used at some moment, all its threads together, those that have ended too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Account {
    ns: u64,
    /// Clock ticks in user mode and in the kernel.
    ticks: (u64, u64),
}

impl Account {
    /// That of a process now; none if there is no such process.
    pub(crate) fn of(pid: u32) -> Option<Account> {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both out-pointers are valid.
        let told = unsafe {
            libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) == 0
                && libc::clock_gettime(clock, &mut time) == 0
        };
        let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        told.then(|| Account { ns, ticks: ticks(&format!("/proc/{pid}/stat")) })
    }

    /// What was used since `before`.
    pub(crate) fn since(self, before: Account) -> Cpu {
        let of = |now: u64, then: u64| now.saturating_sub(then);
        Cpu::divided(
            of(self.ns, before.ns),
            of(self.ticks.0, before.ticks.0),
            of(self.ticks.1, before.ticks.1),
        )
    }
}

/// User and kernel ticks, of a `stat` of `/proc`; zeros if it cannot be read.
pub(crate) fn ticks(stat: &str) -> (u64, u64) {
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    // The name in parentheses may hold anything; fields are counted behind it. utime is field 14, stime 15.
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let mut fields = rest.split(' ').skip(11).map(|field| field.parse::<u64>().unwrap_or(0));
    (fields.next().unwrap_or(0), fields.next().unwrap_or(0))
}

/// CPU time of a thread so far, ns; none if it has ended or the kernel does not report it.
pub(crate) fn of_thread(pid: u32, tid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_time_is_divided_as_ticks_are() {
        assert_eq!(Cpu::divided(10, 3, 1), Cpu { user_ns: 7, sys_ns: 3 });
        assert_eq!(Cpu::divided(10, 0, 0), Cpu { user_ns: 10, sys_ns: 0 });
        assert_eq!(Cpu::divided(u64::MAX, u64::MAX, u64::MAX).total(), u64::MAX);
    }

    #[test]
    fn the_account_of_a_process_grows_with_what_it_computes() {
        let pid = std::process::id();
        let before = Account::of(pid).expect("we run");
        // Forever, if it did not.
        while Account::of(pid).expect("we run").since(before).total() < 5_000_000 {
            std::hint::black_box(before);
        }
        let mut child = std::process::Command::new("true").spawn().expect("true runs");
        child.wait().expect("it ends");
        assert_eq!(Account::of(child.id()), None);
        // SAFETY: takes nothing.
        let tid = unsafe { libc::gettid() } as u32;
        assert!(of_thread(pid, tid).is_some_and(|ns| ns > 0));
    }
}
