// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Copies of user stacks at system calls, one for each place that calls, rationed. Unwinding them is left to user space.

#pragma once

#include "calls.h"
#include "thread.h"

#define STACK_SIZE 8192
#define PAGE_SIZE 4096
#define SLICE_STACKS 40
// The stack of one place is copied anew each so many calls: several paths may share an instruction and a stack pointer.
#define COPY_AGAIN 1024
// A child's own stacks are not worth their copies until it has lived so long; those of process calls are.
#define YOUNG_NS 20000000
// … unless it makes so many calls from places that are not known: starting up takes 100 to 250 in C programs, 600 in node, 2,400 in python3
// (by strace).
#define YOUNG_CALLS 4096

struct site_key {
	__u32 pid, pad;
	__u64 site;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct site_key);
	__type(value, __u32);
} sites SEC(".maps");

// Where a function has so large a frame that its callers lie beyond the copy: from which offset on the second half of the copy is taken.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct site_key);
	__type(value, __u64);
} far_frames SEC(".maps");

// Counts what user space took out of `sites`: threads ask these again then.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} asked_again SEC(".maps");

// Copies of stacks in this slice, by CPU.
struct copies {
	__u64 slice, count;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copies);
} copies SEC(".maps");

struct stack_event {
	__u32 kind, pid, tid, size;
	__u64 time, site, ip, sp, bp;
	__u64 far; // the offset of the second half of `bytes`; 0 where it follows the first
	char bytes[STACK_SIZE];
};

static __always_inline bool may_copy(__u64 now)
{
	__u32 zero = 0;
	struct copies *of = bpf_map_lookup_elem(&copies, &zero);
	if (!of)
		return false;
	if (of->slice != now / SLICE_NS) {
		of->slice = now / SLICE_NS;
		of->count = 0;
	}
	return of->count++ < SLICE_STACKS;
}

// Sends the stack from the entry of the call, whose thread is current.
static __always_inline bool send_stack(struct thread *thread)
{
	struct stack_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost(3);
		return false;
	}
	event->kind = EVENT_STACK;
	event->pid = thread->pid;
	event->tid = thread->tid;
	event->time = thread->time;
	event->site = thread->site;
	event->ip = thread->ip;
	event->sp = thread->sp;
	event->bp = thread->bp;
	event->far = 0;
	void *from = (void *)thread->sp;
	struct site_key key = { .pid = thread->pid, .site = thread->site };
	__u64 *far = bpf_map_lookup_elem(&far_frames, &key);
	if (far && !bpf_probe_read_user(event->bytes, STACK_SIZE / 2, from)) {
		void *beyond = from + *far;
		__u32 rest = PAGE_SIZE - ((__u64)beyond & (PAGE_SIZE - 1));
		event->size = 0;
		if (!bpf_probe_read_user(event->bytes + STACK_SIZE / 2, STACK_SIZE / 2, beyond))
			event->size = STACK_SIZE;
		else if (!bpf_probe_read_user(event->bytes + STACK_SIZE / 2, rest, beyond))
			event->size = STACK_SIZE / 2 + rest;
		if (event->size) {
			event->far = *far;
			bpf_ringbuf_submit(event, wake_flags());
			return true;
		}
	}
	// Near its outer end a stack is shorter than the copy: it ends with some page.
	__u32 page = PAGE_SIZE - (thread->sp & (PAGE_SIZE - 1));
	if (!bpf_probe_read_user(event->bytes, STACK_SIZE, from))
		event->size = STACK_SIZE;
	else if (!bpf_probe_read_user(event->bytes, page + PAGE_SIZE, from))
		event->size = page + PAGE_SIZE;
	else if (!bpf_probe_read_user(event->bytes, page, from))
		event->size = page;
	else
		event->size = 0;
	bpf_ringbuf_submit(event, wake_flags());
	return true;
}

// Copies the stack of a place that has not been told of lately.
static __noinline void note_stack(struct thread *thread, struct near *near, __u32 class, bool again)
{
	struct site_key key = { .pid = thread->pid, .site = thread->site };
	if (!again && !(class & PROCESS)) {
		if (bpf_map_lookup_elem(&sites, &key)) {
			near->site = thread->site;
			near->calls = 0;
			return;
		}
		bool young = !thread->root && bpf_ktime_get_ns() - thread->born < YOUNG_NS;
		if (young && ++thread->young_calls < YOUNG_CALLS)
			return;
	}
	thread->time = bpf_ktime_get_ns();
	if (!(class & PROCESS) && !may_copy(thread->time) || !send_stack(thread))
		return;
	near->site = thread->site;
	near->calls = 0;
	if (!again) {
		__u32 one = 1;
		bpf_map_update_elem(&sites, &key, &one, BPF_ANY);
	}
}
