//! The rows of each table: one struct a table, one field a column. Times are ns of CLOCK_MONOTONIC.
//!
//! Numbers of processes, threads, modules, locations, stacks, functions and probes are our own, counted from 0 in each
//! recording: pids are reused and differ between namespaces.

use crate::cell::Cell;
use crate::row::table;
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use std::sync::Arc;

pub use crate::row::Row;

/// Stands for a program's arguments where these are not to be stored.
pub const REDACTED: &str = "(redacted)";
/// The last of a program's arguments where there were more than are stored.
pub const CUT: &str = "…";

table! {
    /// A process, from its fork (or its first exec, for the command itself) to its exit. Written when it starts and
    /// again when more is known: of several rows with the same number the last is valid.
    Process = "processes" {
        /// Our number.
        process: u32,
        /// The process that forked it, if that is in the recording.
        parent: Option<u32>,
        /// Its pid, in the recorder's PID namespace.
        pid: u32,
        /// Which run of `--repeat` it belongs to, from 0.
        run: u32,
        /// Path of the program, as of its last exec.
        program: String,
        /// Its arguments, the program's name first, as of its last exec; empty if they could not be read.
        arguments: Vec<String>,
        /// Working directory at its last exec; none if it could not be read.
        directory: Option<String>,
        /// When it started.
        start_ns: u64,
        /// When it executed its program, the last time if it did so more than once; none if it was forked and executed none.
        exec_ns: Option<u64>,
        /// When it ended; none if that was not seen.
        end_ns: Option<u64>,
        /// Exit code, or 128 + the signal that killed it; none if not seen.
        exit: Option<i32>,
        /// CPU time of all its threads while it was recorded, its own only, ns; none if not seen.
        cpu_ns: Option<u64>,
        /// The part of `cpu_ns` in user mode, ns.
        user_ns: Option<u64>,
        /// The largest resident size, bytes; none if not seen.
        peak_memory_bytes: Option<u64>,
        /// The part of `cpu_ns` that recording took, as sampled, before `sample_scale`, ns: it has no rows in `samples`.
        tracing_ns: u64,
        /// Multiply the `weight_ns` of this process's samples by this: then they add up to its CPU time.
        sample_scale: f64,
    }
}

table! {
    /// A thread. Of several rows with the same number the last is valid.
    Thread = "threads" {
        /// Our number.
        thread: u32,
        /// Its process.
        process: u32,
        /// Its tid, in the recorder's PID namespace.
        tid: u32,
        /// Its name (comm).
        name: String,
        /// When it started.
        start_ns: u64,
        /// When it ended; none if that was not seen.
        end_ns: Option<u64>,
        /// Its CPU time, ns; none if not seen.
        cpu_ns: Option<u64>,
    }
}

table! {
    /// A file that contains code.
    Module = "modules" {
        /// Our number.
        module: u32,
        /// Path as the process saw it; `[vdso]`, `[kernel]` for those.
        path: String,
        /// Build id in hex; none if the file has none or could not be read.
        build_id: Option<String>,
        /// Device number of the file, 0 if it is none.
        device: u64,
        /// Inode of the file, 0 if it is none.
        inode: u64,
        /// Size of the file, bytes.
        size: u64,
        /// Modification time of the file, ns since 1970.
        mtime_ns: u64,
    }
}

table! {
    /// An executable mapping of a module into a process.
    Mapping = "mappings" {
        /// When it was mapped.
        time_ns: u64,
        /// In which process.
        process: u32,
        /// What.
        module: u32,
        /// First address.
        start: u64,
        /// First address behind it.
        end: u64,
        /// Offset in the file of the first address, bytes.
        file_offset: u64,
    }
}

table! {
    /// A place in code: an address that stacks and probes refer to.
    Location = "locations" {
        /// Our number.
        location: u32,
        /// The file it is in; none for code that is in no file.
        module: Option<u32>,
        /// The address according to the module's program headers; the absolute address in the kernel and in code
        /// that is in no file. For a caller, the address of the call, not of the return.
        address: u64,
        /// `native`, `kernel` or `jit`.
        kind: String,
    }
}

table! {
    /// A node of the trie of stacks. A stack is a path from the outermost frame to a node.
    Stack = "stacks" {
        /// Our number.
        stack: u32,
        /// The stack of the caller; none at the outermost frame.
        parent: Option<u32>,
        /// The innermost frame.
        location: u32,
    }
}

table! {
    /// A function, known once symbols were resolved.
    Function = "functions" {
        /// Our number.
        function: u32,
        /// Demangled name.
        name: String,
        /// The module it is in.
        module: Option<u32>,
        /// Source file, where debug information names it.
        file: Option<String>,
        /// First line, where debug information names it.
        line: Option<u32>,
        /// First address, according to the module's program headers.
        address: u64,
    }
}

table! {
    /// The frames of a location: one, or several if calls were inlined.
    Frame = "frames" {
        /// The location.
        location: u32,
        /// 0 for the innermost, then outward.
        depth: u32,
        /// The function.
        function: u32,
        /// Source file of the line.
        file: Option<String>,
        /// Line.
        line: Option<u32>,
        /// `native`, `kernel`, `inlined`, `jit` or `interpreted`.
        kind: String,
    }
}

table! {
    /// How a function with samples was built, where that is known. Since minor version 5.
    Built = "builds" {
        /// The function.
        function: u32,
        /// With optimisation, of whatever level.
        optimized: bool,
        /// How that is known: `compiler` (the options that it noted) or `code` (the instructions).
        known_by: String,
        /// Name and version of the compiler; empty if it did not note them.
        compiler: String,
    }
}

table! {
    /// A sample of a running thread.
    Sample = "samples" {
        /// When.
        time_ns: u64,
        /// Which thread.
        thread: u32,
        /// On the CPU (true) or waiting.
        on_cpu: bool,
        /// The time that it represents, ns, before the process's `sample_scale`.
        weight_ns: u64,
        /// The stack; none if nothing of it could be read.
        stack: Option<u32>,
        /// The stack reaches the start of the thread.
        complete: bool,
    }
}

table! {
    /// A place whose executions are counted exactly.
    Probe = "probes" {
        /// Our number.
        probe: u32,
        /// In which process.
        process: u32,
        /// The function's first address, or the place in it.
        location: u32,
        /// `function` (counts entries), or `loop` (counts the iterations of the innermost loop around the instruction).
        kind: String,
        /// Bytes from `location` to the instruction that was probed.
        offset: u64,
    }
}

table! {
    /// A loop of a hot function, found in its machine code.
    Loop = "loops" {
        /// Our number.
        loop_number: u32,
        /// The function's first address.
        location: u32,
        /// The innermost loop around it in the same function.
        parent: Option<u32>,
        /// The code in it, inner loops included: from and to of each piece in turn, bytes from `location`.
        ranges: Vec<u64>,
        /// `walks` (only reads, compares and advances), `counts` (also counts what it meets; since minor version 7), `moves` (also stores what it
        /// read elsewhere than on the stack) or `calculates`. What it calls is not looked at.
        work: String,
        /// Whether a round may read anywhere in memory, since it reads at addresses that it read; none in recordings before 1.6.
        chases: Option<bool>,
        /// Whether it is only the usual way around its parent: the code of that without what runs in few rounds; none in recordings before 1.8.
        usual: Option<bool>,
        /// Items that are looked at in a round: more than one where a search was unrolled; none in recordings before 1.16.
        items: Option<u32>,
    }
}

table! {
    /// What all the code of a hot function does.
    Body = "bodies" {
        /// The function's first address.
        location: u32,
        /// As in [`Loop`]; or `reads`: it combines whole numbers and stores nothing but on its stack.
        work: String,
    }
}

table! {
    /// A hot loop that walks, or a hot function, whose entries were looked at in short bursts; or a loop around such a loop.
    Walk = "walks" {
        /// Our number.
        walk: u32,
        /// In which process.
        process: u32,
        /// The function's first address.
        location: u32,
        /// The loop; none for the function itself.
        loop_number: Option<u32>,
        /// By how many bytes each of the pointers of `beginnings` moves in a round; 0 where that is not known.
        strides: Vec<u64>,
        /// Of a function that calls itself and, with all that it calls, only reads: how many arguments it is given. All of them were looked at.
        arguments: Option<u32>,
    }
}

table! {
    /// A burst of a walk: its entries were either noted one by one (`beginnings`), or counted together with the rounds of the loop.
    WalkBurst = "walk_bursts" {
        /// The walk.
        walk: u32,
        /// From the first entry, where there was one.
        start_ns: u64,
        /// To.
        end_ns: u64,
        /// Entries of all threads; where rounds are counted, those after the first.
        entries: u64,
        /// Rounds of the loop from the first entry to the last, or in all where there were not two; none where entries were noted.
        rounds: Option<u64>,
    }
}

table! {
    /// One entry of a walk: where it begins.
    Beginning = "beginnings" {
        /// The walk.
        walk: u32,
        /// When.
        time_ns: u64,
        /// Which thread.
        thread: Option<u32>,
        /// CPU time of the thread as last accounted by the scheduler, ns.
        cpu_ns: u64,
        /// Of each pointer that moves through the loop (or is one of the first arguments) where it begins; 0 for none.
        addresses: Vec<u64>,
        /// A hash of the first bytes there; 0 where they cannot be read.
        contents: Vec<u64>,
        /// A bit for each of them, the first one's the lowest: it begins at an item that points to where it began in the entry before.
        /// From bit [`LED_TO`](crate::LED_TO) on, since minor version 16, again one for each: it begins at the item that followed the one before, by the pointer that the loop
        /// goes on by (in 1.16 by any of eight words there).
        linked: u64,
        /// Of a function, bytes from its first argument on that are not zero, at most 4095, and 511 in recordings before 1.17; 0 for a loop.
        length: u64,
        /// Of a function that calls itself: `time_ns` of the outermost invocation among these that it is part of; 0 if it is one itself.
        within_ns: u64,
        /// How far the stack pointer at entry is below that of this outermost invocation, bytes.
        below: u64,
    }
}

table! {
    /// A stretch of a thread that was looked at instruction by instruction, on a copy of its memory. Since minor version 20.
    Stretch = "stretches" {
        /// Our number.
        stretch: u32,
        /// When.
        time_ns: u64,
        /// Which thread.
        thread: u32,
        /// How many instructions.
        instructions: u64,
        /// So long the thread stood for it, ns.
        stopped_ns: u64,
    }
}

table! {
    /// Calls of a function in a stretch, from one other: how many of them did again what one before did. Since minor version 20.
    Repeat = "repeats" {
        /// The stretch.
        stretch: u32,
        /// Where the function begins.
        location: u32,
        /// Where the one that called it begins; none if it is not known.
        caller: Option<u32>,
        /// Calls that began and ended in the stretch, and were not short.
        calls: u64,
        /// Of them those that were given, and read, the same as one before in the stretch, and nothing had changed it.
        again: u64,
        /// Instructions of these, but for those inside another such call.
        instructions: u64,
        /// Instructions of all calls of the function from there, but for those inside another call of it.
        all_instructions: u64,
        /// Instructions from the first of the function's calls, whoever made it, to the end of the stretch.
        span: u64,
        /// Of the calls that did again what one before did, those inside another call of the function.
        nested: u64,
        /// Different calls of the function, whoever made them, that were done again; before minor version 21, those that did something new.
        different: u64,
    }
}

table! {
    /// What became of texts that a function had the C library format into memory, in a stretch. Since minor version 20.
    Formatted = "formatted" {
        /// The stretch.
        stretch: u32,
        /// Where the function begins that had them formatted.
        location: u32,
        /// Texts that it had formatted.
        formatted: u64,
        /// Texts that were read.
        read: u64,
        /// Texts that were overwritten, or whose frame was gone, and nobody had read them.
        unread: u64,
        /// Bytes of all texts that it had formatted; none in recordings before 1.21.
        bytes: Option<u64>,
    }
}

table! {
    /// What became of copies of objects in a stretch. Since minor version 22.
    Copied = "copied" {
        /// The stretch.
        stretch: u32,
        /// Where the function begins that copies.
        location: u32,
        /// Where the one that called it begins; none if it is not known.
        caller: Option<u32>,
        /// Copies.
        calls: u64,
        /// Those for which memory was allocated, and all of it given back in the stretch, and those that an assignment replaced.
        dropped: u64,
        /// Of these, those that nobody changed before, nor the original.
        unchanged: u64,
    }
}

table! {
    /// A time range in which a probe was active. Outside its windows a probe counts nothing.
    Window = "windows" {
        /// The probe.
        probe: u32,
        /// From.
        start_ns: u64,
        /// To.
        end_ns: u64,
        /// Executions counted in the window, all threads.
        hits: u64,
        /// Why it ended: `hot` (too many hits a second), `budget` (all probes together), `planned` or `end`.
        reason: String,
    }
}

table! {
    /// The running count of a probe at a moment, within one window: how often it was hit since the window began.
    Call = "calls" {
        /// When.
        time_ns: u64,
        /// The thread that hit it; none for a count read at some moment between hits.
        thread: Option<u32>,
        /// The probe.
        probe: u32,
        /// Hits so far in this window, over all threads of the process.
        count: u64,
        /// For a row written as another probe was hit: that probe, the moment being one of its entries; `count` then
        /// holds this thread's hits under invocations of it. None for a probe's own rows.
        under: Option<u32>,
        /// CPU time of the thread as last accounted by the scheduler, ns; 0 where not known.
        cpu_ns: u64,
    }
}

table! {
    /// A file, or another object of a system call, in one state: a different size or modification time is another row. Of
    /// several rows with one number the last holds. Content is never stored.
    File = "files" {
        /// Our number.
        file: u32,
        /// Path or address as the program gave it; empty if it was open before that was seen.
        path: String,
        /// Device number, 0 if not known, as for a path that is not there.
        device: u64,
        /// Inode, 0 if not known; of a futex its address in the process.
        inode: u64,
        /// Size when it was opened, bytes; 0 if not known.
        size: u64,
        /// Modification time when it was opened, ns since 1970; 0 if not known.
        mtime_ns: u64,
        /// `file`, `directory`, `pipe`, `socket`, `terminal`, `device`, `pseudo` (generated by the kernel, as in `/proc`), `anonymous`,
        /// `address`, `futex` (a word in the process's memory that threads wait at; since minor version 4), or `path` where only the path
        /// is known.
        kind: String,
    }
}

table! {
    /// Finished system calls: one, or, where a thread made more of them than could be recorded one by one, all of one place, file
    /// and error in about a second, added up.
    Syscall = "syscalls" {
        /// Entry of the (first) call.
        time_ns: u64,
        /// Return of the (last) call.
        end_ns: u64,
        /// Who made it; of calls added up, the thread that made the first.
        thread: u32,
        /// Its number in the kernel's 64-bit table, or in the 32-bit one.
        number: u32,
        /// A call of the 32-bit interface.
        compat: bool,
        /// Number of calls.
        count: u64,
        /// From entry to return, all of them together, minus the time the thread waited for a CPU, ns.
        duration_ns: u64,
        /// The part of it asleep, ns.
        blocked_ns: u64,
        /// What the call returned; of calls added up, the error (0 for success; since minor version 4, 1 if poll, select, epoll_wait, their
        /// kin or wait4 found something).
        result: i64,
        /// Bytes moved, all of them together; since minor version 5 also bytes mapped by mmap, and given back by munmap, brk and madvise.
        bytes: u64,
        /// The most informative argument: the size asked for, the timeout, flags of an open. Since minor version 4 of fcntl and flock the
        /// command, and of futex the operation and, 32 bits higher, its third argument (how many to wake). Since minor version 11 of
        /// pread64, pwrite64 and their kin the place in the file. Since minor version 15 of poll, ppoll, select and pselect6 also, 32 bits higher, how
        /// many descriptors there are (of the latter two, one more than the highest).
        argument: u64,
        /// The file concerned.
        file: Option<u32>,
        /// The file was opened with `O_SYNC` or `O_DSYNC`.
        sync: bool,
        /// The user stack of the call site, as last copied.
        stack: Option<u32>,
        /// Of a process of Go's, the goroutine that made it, as in `parks`; of calls added up, of the first. Since minor version 9.
        goroutine: Option<u64>,
        /// By ptrace: the thread was stopped at a moment by chance and was in this call. It stands for the CPU time since the stop before, and
        /// says nothing of the calls before and after it. Since minor version 17.
        met: Option<bool>,
    }
}

table! {
    /// A thread slept for 1 ms or more in a system call. Time in which it could have run but had no CPU is not counted.
    Wait = "waits" {
        /// Entry of the call.
        time_ns: u64,
        /// Asleep, ns.
        duration_ns: u64,
        /// Who waited.
        thread: u32,
        /// The system call.
        number: u32,
        /// The file concerned.
        file: Option<u32>,
        /// The user stack of the waiting thread.
        stack: Option<u32>,
        /// The thread of the tree whose system call ended the wait; none for a timer, a device or another process.
        waker: Option<u32>,
        /// The user stack of that one.
        waker_stack: Option<u32>,
    }
}

table! {
    /// A goroutine waited for 100 µs or more, in the sense of Go's scheduler: what its threads do meanwhile is another matter. Since minor version 9.
    Park = "parks" {
        /// When it began to wait.
        time_ns: u64,
        /// When it ran on.
        end_ns: u64,
        /// In which process.
        process: u32,
        /// Tells goroutines of one process apart: an address that one gets again when another has ended.
        goroutine: u64,
        /// The address in the process that it waited at: part of a channel, or of the runtime's table of those who wait for locks.
        object: u64,
        /// Its stack.
        stack: Option<u32>,
        /// The goroutine that gave it the lock it waited for; none where it was not that.
        waker: Option<u64>,
        /// The stack of that one.
        waker_stack: Option<u32>,
    }
}

table! {
    /// A time range in which the waits of a process's goroutines were recorded. Since minor version 9.
    ParkWindow = "park_windows" {
        /// The process.
        process: u32,
        /// From.
        start_ns: u64,
        /// To.
        end_ns: u64,
    }
}

table! {
    /// What a function cost in one slice of a process that ran under callgrind (`--exact`). Slices follow each other and are
    /// about as many instructions each.
    Slice = "slices" {
        /// The process.
        process: u32,
        /// The slice, from 0 in each process.
        slice: u32,
        /// The function.
        function: u32,
        /// Calls that began in the slice, from outside of the function.
        calls: u64,
        /// Self instructions.
        self_instructions: u64,
        /// Inclusive instructions, also of calls that began earlier.
        instructions: u64,
    }
}

table! {
    /// The calls from one function to another in one slice. Those of a function to itself are left out.
    SliceCall = "slice_calls" {
        /// The process.
        process: u32,
        /// The slice.
        slice: u32,
        /// Who calls.
        caller: u32,
        /// Who is called.
        callee: u32,
        /// Calls that began in the slice.
        calls: u64,
        /// Instructions of these calls, and of those that began earlier, with all that is called in turn.
        instructions: u64,
    }
}
