//! What every recording that was read back must be, whatever it was made of.

use slowpath_recording::Recording;

/// Asserts that whoever reads the recording need not check a number of it.
pub fn assert_whole(recording: &Recording) {
    let tables = &recording.tables;
    macro_rules! numbered {
        ($($table:ident $number:ident;)*) => {
            $(for (at, row) in tables.$table.iter().enumerate() {
                assert_eq!(row.$number as usize, at, "{} are in the order of their numbers", stringify!($table));
            })*
        };
    }
    numbered! {
        modules module; processes process; threads thread; locations location; functions function; stacks stack;
        probes probe; loops loop_number; walks walk; files file;
    }
    // From a column of one table to the rows of another.
    macro_rules! refers {
        ($($from:ident $column:ident $to:ident;)*) => {
            $(for row in &tables.$from {
                if let Some(number) = Option::<u32>::from(row.$column) {
                    let there = (number as usize) < tables.$to.len();
                    assert!(there, "{}.{} is {number}", stringify!($from), stringify!($column));
                }
            })*
        };
    }
    refers! {
        processes parent processes; threads process processes; mappings process processes; mappings module modules;
        locations module modules; stacks parent stacks; stacks location locations; functions module modules;
        frames location locations; frames function functions; builds function functions; samples thread threads; samples stack stacks;
        probes process processes; probes location locations; loops location locations; loops parent loops;
        bodies location locations; walks process processes; walks location locations; walks loop_number loops;
        walk_bursts walk walks; beginnings walk walks; beginnings thread threads;
        stretches thread threads; repeats stretch stretches; repeats location locations; repeats caller locations;
        formatted stretch stretches; formatted location locations;
        copied stretch stretches; copied location locations; copied caller locations;
        windows probe probes; calls thread threads; calls probe probes; calls under probes;
        syscalls thread threads; syscalls file files; syscalls stack stacks;
        waits thread threads; waits file files; waits stack stacks; waits waker threads; waits waker_stack stacks;
        parks process processes; parks stack stacks; parks waker_stack stacks; park_windows process processes;
        slices process processes; slices function functions;
        slice_calls process processes; slice_calls caller functions; slice_calls callee functions;
    }
    assert!(tables.processes.iter().all(|row| row.parent.is_none_or(|parent| parent < row.process)));
    assert!(tables.stacks.iter().all(|row| row.parent.is_none_or(|parent| parent < row.stack)));
    assert!(tables.loops.iter().all(|row| row.parent.is_none_or(|parent| parent < row.loop_number)));
    assert!(
        tables
            .beginnings
            .iter()
            .all(|row| row.addresses.len() == row.contents.len() && row.addresses.len() <= 64)
    );
    deep_enough(recording);
    in_order(recording);
    can_be_added(recording);
}

fn deep_enough(recording: &Recording) {
    let tables = &recording.tables;
    let mut frames: Vec<usize> = Vec::new();
    for stack in &tables.stacks {
        let outer = stack.parent.map_or(0, |parent| frames[parent as usize]);
        frames.push(outer + recording.frames_of(stack.location).len().max(1));
    }
    assert!(frames.iter().all(|frames| *frames <= 4_096));
    assert!(tables.slices.iter().all(|row| row.slice < 1_024));
    assert!(tables.slice_calls.iter().all(|row| row.slice < 1_024));
}

fn in_order(recording: &Recording) {
    const LAST: u64 = 1 << 59;
    let tables = &recording.tables;
    let stretch = |start: u64, end: u64| assert!(start <= end && end <= LAST, "{start} to {end}");
    for row in &tables.processes {
        row.exec_ns.into_iter().chain(row.end_ns).for_each(|moment| stretch(row.start_ns, moment));
        stretch(row.start_ns, LAST);
        assert!(row.sample_scale.is_finite() && row.sample_scale >= 0.0);
    }
    for row in &tables.threads {
        stretch(row.start_ns, row.end_ns.unwrap_or(LAST));
    }
    tables.windows.iter().for_each(|row| stretch(row.start_ns, row.end_ns));
    tables.walk_bursts.iter().for_each(|row| stretch(row.start_ns, row.end_ns));
    tables.syscalls.iter().for_each(|row| stretch(row.time_ns, row.end_ns));
    tables.mappings.iter().for_each(|row| stretch(0, row.time_ns));
    tables.waits.iter().for_each(|row| stretch(row.duration_ns, LAST));
    tables.parks.iter().for_each(|row| stretch(row.time_ns, row.end_ns));
    tables.park_windows.iter().for_each(|row| stretch(row.start_ns, row.end_ns));
    macro_rules! sorted {
        ($($table:ident)*) => {
            $(assert!(tables.$table.is_sorted_by_key(|row| row.time_ns), "{}", stringify!($table));
            assert!(tables.$table.last().is_none_or(|row| row.time_ns <= LAST));)*
        };
    }
    sorted! { samples calls syscalls waits parks beginnings }
    assert!(tables.frames.is_sorted_by_key(|row| (row.location, row.depth)));
    assert!(tables.slices.is_sorted_by_key(|row| (row.process, row.slice)));
    assert!(tables.slice_calls.is_sorted_by_key(|row| (row.process, row.slice)));
    let about = &recording.about;
    stretch(about.start_ns, LAST);
    for ns in [about.wall_ns, about.user_ns, about.sys_ns, about.tracing_ns, about.tracing_wall_ns] {
        stretch(ns, LAST);
    }
    assert!(about.sampled_share.is_finite() && about.sampled_share >= 0.0);
}

fn can_be_added(recording: &Recording) {
    let tables = &recording.tables;
    macro_rules! adds_up {
        ($($table:ident $column:ident;)*) => {
            $(let mut sum = tables.$table.iter().flat_map(|row| Option::<u64>::from(row.$column));
            let sum = sum.try_fold(0u64, u64::checked_add);
            assert!(sum.is_some_and(|sum| sum <= 1 << 62), "{}.{}", stringify!($table), stringify!($column));)*
        };
    }
    adds_up! {
        processes cpu_ns; processes user_ns; processes tracing_ns; threads cpu_ns; samples weight_ns; windows hits; walk_bursts entries; walk_bursts rounds;
        syscalls count; syscalls duration_ns; syscalls blocked_ns; syscalls bytes; waits duration_ns;
        slices calls; slices self_instructions; slices instructions; slice_calls calls; slice_calls instructions;
    }
    let took = tables.syscalls.iter().map(|row| row.end_ns - row.time_ns);
    assert!(took.fold(0u128, |sum, ns| sum + u128::from(ns)) <= 1 << 62);
    let parked = tables.parks.iter().map(|row| row.end_ns - row.time_ns);
    assert!(parked.fold(0u128, |sum, ns| sum + u128::from(ns)) <= 1 << 62);
    let watched = tables.park_windows.iter().map(|row| row.end_ns - row.start_ns);
    assert!(watched.fold(0u128, |sum, ns| sum + u128::from(ns)) <= 1 << 62);
}
