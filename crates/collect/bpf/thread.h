// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// A thread of the tree and the system call that it is in: its record, begun with its first call, and the time that it spends blocked. What a call
// was is left to `tracer.h`, and where it was made to `stacks.h`.

#pragma once

#include "file.h"
#include "waker.h"

// No multiple of the sampler's usual period: samples would see the same part of each slice.
#define SLICE_NS 10390000
#define NEAR 64

// A place that the thread called from lately, and how often since its stack was copied: asked before `sites`.
struct near {
	__u64 site, calls;
};

// A call of one thread that is under way, and what is known of the thread.
struct thread {
	__u32 pid, tid;
	__u64 born;
	__u64 time; // of entry; 0 outside of calls
	__u64 ip, sp, bp, site;
	__u64 arguments[5];
	__u32 number, flags;
	struct file_id file;
	__u64 blocked, out; // ns so far, and since when
	__u64 in_line; // for a CPU, ns since the thread began, at entry
	__u64 waker_site;
	__u32 waker_pid, waker_tid;
	__u64 slice; // of SLICE_NS, and what was told in it
	__u32 told, root;
	__u64 peak_pages; // of the process, when this thread called for its end
	__u64 young_calls;
	__u64 asked_again; // as it was when it was last looked at
	struct near near[NEAR];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} tasks SEC(".maps");

// Set by user space: 0 the command's own process, whose first moments count as well.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} root SEC(".maps");

// How long a thread has stood in line for a CPU since it began, ns; 0 where the kernel does not say.
static __always_inline __u64 in_line(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

// A new record of a thread of the tree.
static __noinline struct thread *new_thread(struct task_struct *task)
{
	__u32 pid = process_of(task);
	if (!is_ours(task, pid))
		return NULL;
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return NULL;
	thread->pid = pid;
	thread->tid = pid_in_namespace(task);
	thread->born = bpf_ktime_get_ns();
	__u32 zero = 0, *of_root = bpf_map_lookup_elem(&root, &zero);
	thread->root = of_root && pid == *of_root;
	return thread;
}

static __always_inline void born_again(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, 0);
	if (thread)
		thread->born = bpf_ktime_get_ns();
}

// A thread of the tree goes to sleep.
static __always_inline void blocks(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, 0);
	if (thread && BPF_CORE_READ(task, __state))
		thread->out = bpf_ktime_get_ns();
}

// Waiting ends when somebody wakes it, not when a CPU is free again.
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!thread || !thread->out)
		return 0;
	// The clocks of two CPUs differ by some ns.
	__u64 out = thread->out, now = bpf_ktime_get_ns();
	if (now > out)
		thread->blocked += now - out;
	thread->out = 0;
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread *waker = bpf_task_storage_get(&tasks, current, 0, 0);
	bool did = waker && waker != thread && waker->time && may_end(thread->number, &thread->file, waker->number);
	thread->waker_pid = did ? waker->pid : 0;
	thread->waker_tid = did ? waker->tid : 0;
	thread->waker_site = did ? waker->site : 0;
	return 0;
}
