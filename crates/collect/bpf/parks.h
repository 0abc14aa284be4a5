// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Waits of goroutines: Go's scheduler parks a goroutine that waits and runs another one on its thread, so that system calls show nothing of
// it. Its functions tell: gopark (the goroutine that runs waits from now on), execute (this one runs on), readyWithTime (this one gets
// the lock that the running one gave up). Which of them a probe stands on is the cookie. Arguments are where Go's compiler passes them since 1.17: rax,
// rbx; the running goroutine is r14. Frames are linked by rbp.

#pragma once

#define PARK_FRAMES 24
// Shorter waits are not reported: that would take some µs each.
#define PARK_NS 100000

enum { GO_PARKS, GO_RUNS, GO_READIES };

struct parked_key {
	__u64 goroutine;
	__u32 pid, pad;
};

struct parked {
	__u64 time, object, sp, bp, back;
	__u64 ready; // when it was given the lock: what it then waits for is a thread to run on
	__u64 waker;
	__u32 waker_frames, pad;
	__u64 waker_stack[PARK_FRAMES];
};

struct park_event {
	__u32 kind, pid;
	__u64 goroutine, time, end, object, waker;
	__u32 frames, waker_frames;
	__u64 stack[PARK_FRAMES], waker_stack[PARK_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct parked_key);
	__type(value, struct parked);
} parked SEC(".maps");

// Hits by process: watching is paused where there are too many.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} park_hits SEC(".maps");

// Return addresses from a frame on, `back` first. Returns how many there are.
static __always_inline __u32 walk_frames(__u64 *stack, __u64 back, __u64 bp)
{
	__u32 frames = 1;
	stack[0] = back;
	for (int i = 1; i < PARK_FRAMES; i++) {
		__u64 frame[2];
		if (!bp || bpf_probe_read_user(frame, sizeof(frame), (void *)bp) || !frame[1])
			break;
		stack[i] = frame[1];
		frames = i + 1;
		// Stacks grow down: callers' frames lie above.
		if (frame[0] <= bp)
			break;
		bp = frame[0];
	}
	return frames;
}

static __always_inline void goroutine_runs(struct parked_key *key)
{
	struct parked *wait = bpf_map_lookup_elem(&parked, key);
	if (!wait)
		return;
	__u64 end = wait->ready ? wait->ready : bpf_ktime_get_ns();
	if (end - wait->time >= PARK_NS) {
		struct park_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
		if (event) {
			event->kind = EVENT_PARK;
			event->pid = key->pid;
			event->goroutine = key->goroutine;
			event->time = wait->time;
			event->end = end;
			event->object = wait->object;
			event->waker = wait->waker;
			event->waker_frames = wait->waker_frames;
			__builtin_memcpy(event->waker_stack, wait->waker_stack, sizeof(event->waker_stack));
			// It has not run since, so its frames are as they were, unless its stack was moved.
			__u64 back = 0;
			bpf_probe_read_user(&back, sizeof(back), (void *)wait->sp);
			event->frames = back == wait->back ? walk_frames(event->stack, back, wait->bp) : 0;
			bpf_ringbuf_submit(event, wake_flags());
		} else {
			count_lost(5);
		}
	}
	bpf_map_delete_elem(&parked, key);
}

static __always_inline int on_go(struct pt_regs *ctx)
{
	__u32 pid = process_of((void *)bpf_get_current_task());
	__u64 *hits = bpf_map_lookup_elem(&park_hits, &pid);
	if (!hits || owned_only && !followed(pid))
		return 0;
	__sync_fetch_and_add(hits, 1);
	struct parked_key key = { .pid = pid };
	switch (bpf_get_attach_cookie(ctx)) {
	case GO_PARKS: {
		struct parked wait = {
			.time = bpf_ktime_get_ns(),
			.object = ctx->bx,
			.sp = ctx->sp,
			.bp = ctx->bp,
		};
		key.goroutine = ctx->r14;
		bpf_probe_read_user(&wait.back, sizeof(wait.back), (void *)ctx->sp);
		bpf_map_update_elem(&parked, &key, &wait, BPF_ANY);
		break;
	}
	case GO_RUNS:
		key.goroutine = ctx->ax;
		goroutine_runs(&key);
		break;
	case GO_READIES: {
		// A sudog begins with the goroutine that waits.
		if (bpf_probe_read_user(&key.goroutine, sizeof(key.goroutine), (void *)ctx->ax))
			break;
		struct parked *wait = bpf_map_lookup_elem(&parked, &key);
		if (!wait)
			break;
		__u64 back = 0;
		bpf_probe_read_user(&back, sizeof(back), (void *)ctx->sp);
		wait->ready = bpf_ktime_get_ns();
		wait->waker = ctx->r14;
		wait->waker_frames = walk_frames(wait->waker_stack, back, ctx->bp);
		break;
	}
	}
	return 0;
}

// Kernels from 6.6 on.
SEC("uprobe.multi")
int go_multi(struct pt_regs *ctx)
{
	return on_go(ctx);
}

// Older kernels.
SEC("uprobe")
int go_single(struct pt_regs *ctx)
{
	return on_go(ctx);
}
