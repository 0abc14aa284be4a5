// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// What the kernel does for slowpath: keeps the set of processes that belong to the target, drops samples of others,
// tells of exec and exit what perf's own records lack, and counts the hits of probes.
//
// Pids are those of slowpath's own pid namespace throughout, so that they join with perf's records. Times are
// CLOCK_MONOTONIC. Structs of events are mirrored in src/bpf/event.rs.

#include "kernel.h"

#define MAX_SLOTS 64
#define MAX_CHILDREN 6
#define ARGUMENTS_MAX 4096
#define WAKE_AT (1 << 20)

#define MAX_ORIGINS 3
#define CONTENT 64 // bytes that are read where a walk begins
#define ORIGIN_STEPS 3

enum { EVENT_EXEC = 1, EVENT_EXIT = 2, EVENT_CALL = 3, EVENT_STACK = 4, EVENT_SYSCALL = 5, EVENT_WALK = 6, EVENT_PARK = 7 };

struct exec_event {
	__u32 kind, pid;
	__u64 time;
	__u32 arguments_size, full_size;
	char arguments[ARGUMENTS_MAX];
};

struct exit_event {
	__u32 kind, pid, tid, last;
	__u64 time, cpu_ns, user_ns, sys_ns, peak_pages;
	__s32 exit_code;
	__u32 measured; // the peak is this program's own
};

struct child_count {
	__u32 probe, pad;
	__u64 under;
};

// How events of probes begin.
struct hit_event {
	__u32 kind, probe, pid, tid;
	__u64 time, count, cpu_ns;
};

struct call_event {
	struct hit_event hit;
	__u32 children_used, pad;
	struct child_count children[MAX_CHILDREN];
};

// Where a walk begins (src/counter/origin.rs): register + index * scale + offsets[0], read and added to `steps` - 1 times.
struct origin {
	__u8 reg, index, steps, next, pad[4]; // index: 255 for none; next: which of the words there points to the next item
	__s64 scale;
	__s64 offsets[ORIGIN_STEPS];
};

// One place in a process where a probe may stand. Written by user space; a window is one `generation`.
struct slot {
	__u32 mode, generation, probe, parent; // parent: slot + 1, or 0
	__u32 sp_adjust, children_used;
	__u32 children[MAX_CHILDREN]; // slots
	__u64 stop_at; // at so many hits the probe counts no more
	__u64 tell_at; // at so many it goes on, but that is told; 0 for never
	__u32 origins_used, texts;
	struct origin origins[MAX_ORIGINS];
	__u64 last[MAX_ORIGINS]; // where the walk before began, of any thread
	__u64 last_words[MAX_ORIGINS][CONTENT / 8]; // and what was there
	__u32 nests, outer_tid; // nests: it is noted which entries an invocation makes that has not returned
	__u64 outer_sp, outer_return, outer_time; // the outermost of these
};

// Hits of a slot over all threads: when the first of them was and when the limit was reached, and how long the thread of
// both stood in line for a CPU between them.
struct total {
	__u64 count, stopped, first, delay, tid;
	__u64 rounds_first, rounds_last; // MODE_LENGTH: hits of the parent at the first of these and at the last
	__u64 late, over; // since slowpath began: hits of probes that were taken out, and of those at their limit
};

enum { MODE_OFF, MODE_COUNT, MODE_RECORD, MODE_WALK, MODE_LENGTH };

// What is known of one slot in one thread.
struct hits {
	__u64 under;
	__u64 sp, return_address; // of the invocation that was entered last
	__u32 generation, pad;
};

struct hits_key {
	__u32 tid, slot;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} tree SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} events SEC(".maps");

// Wakes who looks after the probes when one has reached a limit: each hit until then is too many. What is in it says nothing.
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} limits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

// Mapped into user space, which can so follow a rate by the millisecond.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAX_SLOTS);
	__type(key, __u32);
	__type(value, struct total);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct hits_key);
	__type(value, struct hits);
} threads SEC(".maps");

// Tasks between their exit and their last switch, by the pid of the first namespace.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, int);
	__type(value, struct exit_event);
} dying SEC(".maps");

// Of events: 0 exec, 1 exit, 2 call, 3 stack, 4 system call, 5 wait of a goroutine; and 6 programs that have other rights than the user.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

// Depth of slowpath's pid namespace; set by running `whoami` in its context.
__u32 namespace_level;

static __always_inline __u32 pid_in_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid = {};
	bpf_probe_read_kernel(&upid, sizeof(upid), &pid->numbers[namespace_level & 31]);
	return upid.nr;
}

static __always_inline __u32 process_of(struct task_struct *task)
{
	return pid_in_namespace(BPF_CORE_READ(task, group_leader));
}

static __always_inline bool followed(__u32 pid)
{
	return bpf_map_lookup_elem(&tree, &pid) != NULL;
}

static __always_inline void count_lost(__u32 which)
{
	__u64 *count = bpf_map_lookup_elem(&lost, &which);
	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > WAKE_AT ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

#include "ours.h"
#include "tracer.h"
#include "parks.h"

SEC("raw_tp")
int whoami(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	namespace_level = BPF_CORE_READ(pid, level);
	know_owner(task);
	return 0;
}

// Samples are taken on every CPU of whatever runs there: those of strangers are dropped before they cost anything.
SEC("perf_event")
int keep_sample(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	return is_ours(task, process_of(task));
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid = process_of(parent), child_pid = process_of(child);
	__u8 yes = 1;
	if (child_pid && child_pid != parent_pid && followed(parent_pid))
		bpf_map_update_elem(&tree, &child_pid, &yes, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 pid = process_of(task);
	if (!followed(pid))
		return 0;
	if (owned_only && is_strangers(task)) {
		bpf_map_delete_elem(&tree, &pid);
		bpf_task_storage_delete(&tasks, task);
		count_lost(6);
		return 0;
	}
	born_again(task);
	struct exec_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost(0);
		return 0;
	}
	event->kind = EVENT_EXEC;
	event->pid = pid;
	event->time = bpf_ktime_get_ns();
	__u64 start = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);
	__u32 size = end - start;
	event->full_size = size;
	if (size > ARGUMENTS_MAX - 1)
		size = ARGUMENTS_MAX - 1;
	barrier_var(size); // or the compiler drops the mask, which the verifier needs to see
	size &= ARGUMENTS_MAX - 1;
	event->arguments_size = bpf_probe_read_user(event->arguments, size, (void *)start) ? 0 : size;
	bpf_ringbuf_submit(event, wake_flags());
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 pid = process_of(task);
	if (!followed(pid))
		return 0;
	bool last = BPF_CORE_READ(task, signal, live.counter) == 0;
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, 0);
	__u64 peak = thread ? thread->peak_pages : 0;
	struct exit_event event = {
		.kind = EVENT_EXIT,
		.pid = pid,
		.tid = pid_in_namespace(task),
		.last = last,
		.time = bpf_ktime_get_ns(),
		.user_ns = BPF_CORE_READ(task, utime),
		.sys_ns = BPF_CORE_READ(task, stime),
		.peak_pages = peak ? peak : BPF_CORE_READ(task, signal, maxrss),
		.measured = peak != 0,
		.exit_code = BPF_CORE_READ(task, exit_code),
	};
	int key = task->pid;
	if (bpf_map_update_elem(&dying, &key, &event, BPF_ANY))
		count_lost(1);
	if (last)
		bpf_map_delete_elem(&tree, &pid);
	return 0;
}

// A task's last switch. Only now has the scheduler booked all of its CPU time: at the exit itself a process that ran for less
// than a tick has nearly none.
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *previous)
{
	if (!previous->exit_state) {
		if (!preempt)
			blocks(previous);
		return 0;
	}
	int key = previous->pid;
	struct exit_event *event = bpf_map_lookup_elem(&dying, &key);
	if (!event)
		return 0;
	event->cpu_ns = previous->se.sum_exec_runtime;
	if (bpf_ringbuf_output(&events, event, sizeof(*event), wake_flags()))
		count_lost(1);
	bpf_map_delete_elem(&dying, &key);
	return 0;
}

static __always_inline struct hits *hits_of(__u32 tid, __u32 slot, __u32 generation)
{
	struct hits_key key = { .tid = tid, .slot = slot };
	struct hits *hits = bpf_map_lookup_elem(&threads, &key);
	if (!hits) {
		struct hits none = { .generation = generation };
		bpf_map_update_elem(&threads, &key, &none, BPF_ANY);
		hits = bpf_map_lookup_elem(&threads, &key);
	} else if (hits->generation != generation) {
		struct hits none = { .generation = generation };
		*hits = none;
	}
	return hits;
}

// Whether the invocation entered last of `parent` is still on this thread's stack: it is if we are deeper and its
// return address still stands where it stood. That needs no probe on its return, which would break unwinding,
// exceptions and Go.
static __always_inline bool active(struct hits *parent, __u64 sp)
{
	__u64 now = 0;
	if (!parent || parent->sp <= sp)
		return false;
	if (bpf_probe_read_user(&now, sizeof(now), (void *)parent->sp))
		return false;
	return now == parent->return_address;
}

// How long a thread has stood in line for a CPU since it began, ns.
static __always_inline __u64 delay_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? BPF_CORE_READ(task, sched_info.run_delay) : 0;
}

static __always_inline void begin_event(struct hit_event *event, __u32 kind, const struct slot *slot, __u64 count,
					struct task_struct *task)
{
	event->kind = kind;
	event->probe = slot->probe;
	event->pid = process_of(task);
	event->tid = pid_in_namespace(task);
	event->time = bpf_ktime_get_ns();
	event->count = count;
	event->cpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
}

#include "walk.h"

static __always_inline void tell_of_limit(void)
{
	void *nothing = bpf_ringbuf_reserve(&limits, 8, 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

// Returns whether the probe shall be taken out of this process at once.
static __always_inline int on_hit(struct pt_regs *ctx)
{
	__u32 index = bpf_get_attach_cookie(ctx) & 0xffff, generation = bpf_get_attach_cookie(ctx) >> 16;
	struct slot *slot = bpf_map_lookup_elem(&slots, &index);
	struct total *total = bpf_map_lookup_elem(&totals, &index);
	if (!slot || !total)
		return 1;
	if (slot->mode == MODE_OFF || slot->generation != generation) {
		__sync_fetch_and_add(&total->late, 1);
		return 1; // left over from a window that has ended
	}
	struct task_struct *task = (void *)bpf_get_current_task();
	if (owned_only && !followed(process_of(task)))
		return 1;
	__u64 count = __sync_fetch_and_add(&total->count, 1) + 1;
	if (count == 1) {
		total->first = bpf_ktime_get_ns();
		total->delay = delay_of(task);
		total->tid = bpf_get_current_pid_tgid();
	}
	if (count >= slot->stop_at) {
		if (!total->stopped) {
			total->delay = total->tid == bpf_get_current_pid_tgid() ? delay_of(task) - total->delay : 0;
			total->stopped = bpf_ktime_get_ns();
			tell_of_limit();
		}
		if (count > slot->stop_at) {
			__sync_fetch_and_add(&total->count, -1);
			__sync_fetch_and_add(&total->over, 1);
			return 1;
		}
	}

	if (count == slot->tell_at)
		tell_of_limit();

	if (slot->mode == MODE_LENGTH) {
		__u32 rounds = slot->parent - 1;
		struct total *of_rounds = bpf_map_lookup_elem(&totals, &rounds);
		if (of_rounds) {
			total->rounds_last = of_rounds->count;
			if (count == 1)
				total->rounds_first = of_rounds->count;
		}
		return 0;
	}
	if (slot->mode == MODE_WALK) {
		on_walk(ctx, slot, count, task);
		return 0;
	}

	__u32 tid = bpf_get_current_pid_tgid(); // only to tell threads apart; events carry our namespace's
	struct hits *hits = hits_of(tid, index, slot->generation);
	if (!hits)
		return 0;
	__u64 sp = PT_REGS_SP(ctx) + slot->sp_adjust;
	if (slot->parent) {
		struct hits_key key = { .tid = tid, .slot = slot->parent - 1 };
		if (active(bpf_map_lookup_elem(&threads, &key), sp))
			hits->under++;
	}
	if (slot->mode != MODE_RECORD)
		return 0;
	hits->sp = sp;
	bpf_probe_read_user(&hits->return_address, sizeof(hits->return_address), (void *)sp);

	struct call_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost(2);
		return 0;
	}
	begin_event(&event->hit, EVENT_CALL, slot, count, task);
	event->pad = 0;
	__u32 used = 0;
	for (int i = 0; i < MAX_CHILDREN; i++) {
		event->children[i].probe = 0;
		event->children[i].under = 0;
		event->children[i].pad = 0;
		if (i >= slot->children_used)
			continue;
		__u32 child = slot->children[i];
		struct slot *child_slot = bpf_map_lookup_elem(&slots, &child);
		if (!child_slot || child_slot->mode == MODE_OFF)
			continue;
		struct hits_key key = { .tid = tid, .slot = child };
		struct hits *child_hits = bpf_map_lookup_elem(&threads, &key);
		event->children[i].probe = child_slot->probe + 1;
		if (child_hits && child_hits->generation == child_slot->generation)
			event->children[i].under = child_hits->under;
		used = i + 1;
	}
	event->children_used = used;
	bpf_ringbuf_submit(event, wake_flags());
	return 0;
}

// Kernels from 6.6 on. Returning 1 has the kernel remove the breakpoint from the process there and then.
SEC("uprobe.multi")
int hit_multi(struct pt_regs *ctx)
{
	return on_hit(ctx);
}

// Older kernels, where only closing the event removes the breakpoint.
SEC("uprobe")
int hit(struct pt_regs *ctx)
{
	on_hit(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
