// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// The few fields of the kernel's structs that slowpath reads. Where they stand in the running kernel is found by CO-RE
// when the object is loaded, so no header of any one kernel is needed to build it.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <linux/bpf.h>

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#define __VMLINUX_H__ 1 // pt_regs has the kernel's own names of the fields
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct upid {
	int nr;
	void *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	unsigned long maxrss;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sched_entity se;
	__u64 utime, stime;
	int exit_code, exit_state, pid;
};

#pragma clang attribute pop
