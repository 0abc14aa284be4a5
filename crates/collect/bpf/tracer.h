// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// System calls of the target: entry and exit joined per thread, with the file concerned, the time spent blocked, and a copy
// of the user stack for each place that calls. Each finished call is an event of its own, until a thread makes them
// faster than `grain.events` a slice: then calls of one key are added up in `tallies`, and only the first of each is told; where
// there are ever new keys, these are added up too (`fold`).

#pragma once

#include "calls.h"
#include "file.h"
#include "memory.h"
#include "stacks.h"
#include "thread.h"

#define PATH_SIZE 4096
#define LONG_WAIT_NS 1000000
// New keys of a thread in a slice, for each call that is told one by one: 2,000 at first, which is faster than files can be opened.
#define NEW_KEYS 20
#define TS_COMPAT 2
// Memory of no file, whatever descriptor is given.
#define MAP_ANONYMOUS 0x20

enum { CALL_COMPAT = 1, CALL_TALLIED = 2 };

// How a program gets to probes, since Linux 6.11 and 6.18 on x86-64: calls that only code of the kernel's own in it may make.
enum { CALL_URETPROBE = 335, CALL_UPROBE = 336 };

// In place of the hash of a path: of any.
#define ANY_PATH 2

struct tally_key {
	__u32 pid, number;
	__u64 site, inode, path;
	__u32 device;
	__s32 error;
};

struct tally {
	__u64 count, bytes, duration, blocked, first, last;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, struct tally_key);
	__type(value, struct tally);
} tallies SEC(".maps");

// Those of ever new keys (`fold`), which find room here when `tallies` is full.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct tally_key);
	__type(value, struct tally);
} folded SEC(".maps");

// How fine the recording is, set by user space, which makes it coarser as the recording grows: calls of a thread that are told
// one by one in a slice, and the wait from which a call always is.
struct grain {
	__u64 events, wait_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct grain);
} grains SEC(".maps");

struct syscall_event {
	__u32 kind, pid, tid, number;
	__u64 time, end, blocked;
	__s64 result;
	__u64 argument, site, waker_site, path_hash;
	struct file_id file;
	__u32 waker_pid, waker_tid, flags, path_size;
	__u64 in_line;
	__u64 goroutine; // in a process of Go's: r14
	char path[PATH_SIZE];
};

// Too large for the stack of a program.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct syscall_event);
} scratch SEC(".maps");

// Where among the arguments that are kept the path stands.
static __always_inline __u64 path_of(struct thread *thread, __u32 class)
{
	return class & PATH0 ? thread->arguments[0] : class & PATH3 ? thread->arguments[3] : thread->arguments[1];
}

// The argument that says most: a wanted size, a timeout, flags of an open.
static __always_inline __u64 argument_of(struct thread *thread)
{
	switch (thread->number) {
	case CALL_MADVISE: // the length, if its pages are given back: MADV_DONTNEED. Those of MADV_FREE stay until memory is short.
		return thread->arguments[2] == 4 ? thread->arguments[1] : 0;
	// 0 without a timeout, 1 with one, 2 with one and no descriptors, which is a sleep; and how many descriptors.
	case CALL_SELECT: case CALL_PSELECT6:
		return (!thread->arguments[4] ? 0 : (__u32)thread->arguments[0] ? 1 : 2) | thread->arguments[0] << 32;
	case CALL_PPOLL:
		return (thread->arguments[2] ? 1 : 0) | thread->arguments[1] << 32;
	case CALL_POLL: // the timeout, and how many
		return (__u32)thread->arguments[2] | thread->arguments[1] << 32;
	case CALL_FUTEX: // the operation, and its number
		return (__u32)thread->arguments[1] | thread->arguments[2] << 32;
	// Where from, and the flags.
	case CALL_NEWFSTATAT:
		return (__u32)thread->arguments[0] | thread->arguments[3] << 32;
	case CALL_STATX:
		return (__u32)thread->arguments[0] | thread->arguments[2] << 32;
	}
	switch (telling(thread->number)) {
	case 1: return thread->arguments[1];
	case 2: return thread->arguments[2];
	case 3: return thread->arguments[3];
	}
	return thread->arguments[0];
}

// What is done for every call of every thread has a small stack: a larger one is not the kernel's own, and copies from the
// user to elsewhere are checked at length.
SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!thread)
		thread = new_thread(task);
	if (!thread)
		return 0;
	thread->number = number;
	thread->flags = task->thread_info.status & TS_COMPAT ? CALL_COMPAT : 0;
	// A hit of a probe on a long nop, no call of the program.
	if (!thread->flags && (number == CALL_URETPROBE || number == CALL_UPROBE)) {
		thread->time = 0;
		return 0;
	}
	thread->ip = regs->ip;
	thread->sp = regs->sp;
	thread->bp = regs->bp;
	thread->arguments[0] = regs->di;
	thread->arguments[1] = regs->si;
	thread->arguments[2] = regs->dx;
	thread->arguments[3] = regs->r10;
	thread->arguments[4] = regs->r8;
	if (!(thread->flags & CALL_COMPAT) && number == CALL_EXIT_GROUP)
		thread->peak_pages = peak_pages(task);
	if (number == CALL_BRK && task->mm)
		thread->arguments[1] = task->mm->brk;
	thread->blocked = 0;
	thread->waker_tid = 0;
	thread->file = (struct file_id){};
	// The C library's wrapper is one instruction for all callers: the return address tells these apart.
	__u64 back = 0;
	bpf_probe_read_user(&back, sizeof(back), (void *)thread->sp);
	thread->site = ((thread->ip * 0x9e3779b97f4a7c15ULL ^ thread->sp) * 0xc2b2ae3d27d4eb4fULL ^ back) * 0x9e3779b97f4a7c15ULL + number;
	if (thread->flags & CALL_COMPAT) {
		thread->in_line = in_line(task);
		thread->time = bpf_ktime_get_ns();
		return 0;
	}
	__u32 class = class_of(number);
	if (class & FD) // at the exit of a close it is gone
		file_of(task, regs->di, &thread->file, number == CALL_FSTAT);
	else if (class & FD4 && (__s32)regs->r8 >= 0 && !(regs->r10 & MAP_ANONYMOUS))
		file_of(task, regs->r8, &thread->file, false);
	else if (number == CALL_FUTEX) // the word in memory takes the place of a file: calls at one lock belong together
		thread->file.inode = regs->di;
	__u32 zero = 0;
	__u64 *asked = bpf_map_lookup_elem(&asked_again, &zero);
	if (asked && *asked != thread->asked_again) {
		thread->asked_again = *asked;
		__builtin_memset(thread->near, 0, sizeof(thread->near));
	}
	struct near *near = &thread->near[(thread->site >> 32) & (NEAR - 1)];
	bool again = near->site == thread->site;
	// Calls that concern processes are rare and dear: each has a stack of its own, for the C library makes all from one place.
	if (class & PROCESS || !again || ++near->calls >= COPY_AGAIN)
		note_stack(thread, near, class, again);
	thread->in_line = in_line(task);
	// What was done here is none of the call's time.
	thread->time = bpf_ktime_get_ns();
	return 0;
}

// The path as words, mixed; of a long one the first 256 bytes and the length.
static __always_inline __u64 hash_path(const char *path, __u32 size)
{
	const __u64 *words = (const __u64 *)path;
	__u64 hash = size;
	for (int i = 0; i < 32; i++) {
		if (i * 8 >= size)
			break;
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return hash;
}

// Ever new files, or ever new places (as of a deep recursion): of those beyond a number in a slice, what tells them apart is left
// out of their key, and so of their row.
static __always_inline bool fold(struct thread *thread, struct syscall_event *event, struct grain *grain, struct tally_key *key)
{
	if (thread->told <= NEW_KEYS * grain->events)
		return false;
	if (event->path_size)
		event->path_hash = ANY_PATH;
	event->path_size = 0;
	thread->file = (struct file_id){};
	if (thread->told > 2 * NEW_KEYS * grain->events + 1)
		thread->site = 0;
	key->site = thread->site;
	key->inode = key->device = 0;
	key->path = event->path_hash;
	return true;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!thread || !thread->time)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	if (now < thread->time) // the clocks of two CPUs differ by some ns
		now = thread->time;
	__u32 zero = 0;
	struct syscall_event *event = bpf_map_lookup_elem(&scratch, &zero);
	struct grain *grain = bpf_map_lookup_elem(&grains, &zero);
	if (!event || !grain)
		return 0;
	__u32 class = thread->flags & CALL_COMPAT ? 0 : class_of(thread->number);
	event->path_size = 0;
	event->path_hash = 0;
	if (thread->number == CALL_BRK && class) // it returns where the heap ends: what is given back
		thread->arguments[0] = thread->arguments[1] > result ? thread->arguments[1] - result : 0;
	if (class & (PATH0 | PATH1 | PATH3) && !(class & PROCESS && result == 0)) {
		// Whole words are hashed: what a longer path left behind the end must not count.
		*(__u64 *)event->path = 0;
		long size = bpf_probe_read_user_str(event->path, PATH_SIZE, (void *)path_of(thread, class));
		if (size > 1) {
			__u32 length = size - 1;
			barrier_var(length);
			length &= PATH_SIZE - 1;
			if (length < PATH_SIZE - 8)
				__builtin_memset(event->path + length, 0, 8);
			event->path_size = length;
			event->path_hash = hash_path(event->path, length);
		}
	} else if (class & ADDRESS) {
		__u32 size = thread->arguments[2] & 127;
		if (!bpf_probe_read_user(event->path, size, (void *)thread->arguments[1])) {
			event->path_size = size;
			event->path_hash = 1;
		}
	}
	// One function may lock and unlock, wait and wake: calls that differ in what they ask for are not added up.
	if (thread->number == CALL_FUTEX || thread->number == CALL_FCNTL || thread->number == CALL_FLOCK ||
	    thread->number == CALL_IOCTL)
		event->path_hash = argument_of(thread);
	if (class & NEW_FD && result >= 0)
		file_of(task, result, &thread->file, true);
	__u64 blocked = thread->blocked;
	// Others had the CPU then: that is no time of this call.
	__u64 elapsed = now - thread->time, delayed = in_line(task) - thread->in_line;
	if (delayed > elapsed) // it began to stand in line before the call's time was taken
		delayed = elapsed;
	if (blocked >= LONG_WAIT_NS) {
		struct site_key key = { .pid = thread->pid, .site = thread->site };
		__u32 one = 1;
		if (!bpf_map_lookup_elem(&sites, &key) && may_copy(now) && send_stack(thread))
			bpf_map_update_elem(&sites, &key, &one, BPF_ANY);
	}
	__u32 flags = thread->flags;
	if (thread->slice != now / SLICE_NS) {
		thread->slice = now / SLICE_NS;
		thread->told = 0;
	}
	if (thread->told >= grain->events && blocked < grain->wait_ns && !(class & PROCESS)) {
		struct tally_key key = {
			.pid = thread->pid,
			.number = thread->number | flags << 31,
			.site = thread->site,
			.inode = thread->file.inode,
			.device = thread->file.device,
			.path = event->path_hash,
			.error = result < 0 ? result : result > 0 && asks(thread->number),
		};
		struct tally *tally = bpf_map_lookup_elem(&tallies, &key);
		bool is_folded = !tally && fold(thread, event, grain, &key);
		if (is_folded)
			tally = bpf_map_lookup_elem(&folded, &key);
		if (tally) {
			__u64 bytes = class & BYTES && result > 0 ? result : 0;
			// Addresses are positive, and other calls of this class return 0.
			if (class & MEMORY && result >= 0)
				bytes = argument_of(thread);
			if (!tally->count)
				tally->first = thread->time; // the one before was told
			if (task->signal->live.counter == 1) { // a process of one thread: nobody else adds to it
				tally->count++;
				tally->duration += elapsed - delayed;
				tally->blocked += blocked;
				tally->bytes += bytes;
			} else {
				__sync_fetch_and_add(&tally->count, 1);
				__sync_fetch_and_add(&tally->duration, elapsed - delayed);
				if (blocked)
					__sync_fetch_and_add(&tally->blocked, blocked);
				if (bytes)
					__sync_fetch_and_add(&tally->bytes, bytes);
			}
			tally->last = now;
			thread->time = 0;
			return 0;
		}
		struct tally none = { .first = now, .last = now };
		bool has_room = is_folded ? !bpf_map_update_elem(&folded, &key, &none, BPF_NOEXIST)
					  : !bpf_map_update_elem(&tallies, &key, &none, BPF_NOEXIST);
		if (has_room)
			flags |= CALL_TALLIED;
		else // further new keys of this slice are folded
			thread->told += NEW_KEYS * grain->events;
	}
	thread->told++;
	event->kind = EVENT_SYSCALL;
	event->pid = thread->pid;
	event->tid = thread->tid;
	event->number = thread->number;
	event->time = thread->time;
	event->end = now;
	event->blocked = blocked;
	event->in_line = delayed;
	event->goroutine = regs->r14;
	event->result = result;
	event->argument = argument_of(thread);
	event->site = thread->site;
	event->waker_site = thread->waker_site;
	event->waker_pid = thread->waker_pid;
	bool is_told = blocked >= LONG_WAIT_NS && !timed_out(thread->number, result);
	event->waker_tid = is_told ? thread->waker_tid : 0;
	event->file = thread->file;
	event->flags = flags;
	__u32 size = event->path_size;
	barrier_var(size);
	size &= PATH_SIZE - 1;
	thread->time = 0;
	if (bpf_ringbuf_output(&events, event, offsetof(struct syscall_event, path) + size, wake_flags()))
		count_lost(4);
	return 0;
}
