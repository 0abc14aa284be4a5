//! Synthetic recordings: what those of several causes share.

use slowpath_recording::About;
use slowpath_recording::about::{Collector, Format, State};

/// `about.json` of a run on one CPU that was busy all the time.
pub fn about(wall_ns: u64) -> About {
    About {
        format: Format { major: 1, minor: 0 },
        slowpath: "0".into(),
        id: "synthetic".into(),
        state: State::Complete,
        command: vec!["program".into()],
        directory: "/".into(),
        machine: None,
        host: String::new(),
        kernel: String::new(),
        cpu: String::new(),
        cpus: 1,
        arch: "x86_64".into(),
        started_unix_ns: 0,
        start_ns: 0,
        wall_ns,
        user_ns: wall_ns,
        sys_ns: 0,
        exit: Some(0),
        runs: 1,
        attached: false,
        collectors: vec![Collector { name: "counter".into(), how: String::new() }],
        tracer: None,
        counter: None,
        hit_ns: None,
        degraded: Vec::new(),
        lost: Default::default(),
        sampled_share: 1.0,
        tracing_ns: 0,
        tracing_wall_ns: 0,
        tracing_calls_ns: None,
        tracing_samples_ns: 0,
        traced_share: 1.0,
        instructions: None,
    }
}
