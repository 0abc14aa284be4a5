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

struct percpu_counter {
	__s64 count;
};

struct mm_struct {
	unsigned long brk;
	unsigned long arg_start, arg_end, env_end;
	unsigned long hiwater_rss;
	struct percpu_counter rss_stat[4]; // from 6.2 on: pages of files, anonymous ones, in swap, shared
};

struct mm_rss_stat {
	long count[4];
};

struct mm_struct___6_1 {
	struct mm_rss_stat rss_stat;
};

struct timespec64 {
	long long tv_sec;
	long tv_nsec;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_rdev;
	long long i_size;
	long long i_mtime_sec; // from 6.11 on
	__u32 i_mtime_nsec;
};

struct inode___6_7 {
	struct timespec64 __i_mtime;
};

struct inode___5 {
	struct timespec64 i_mtime;
};

struct file {
	struct inode *f_inode;
	unsigned int f_flags;
};

struct llist_node;

struct llist_head {
	struct llist_node *first;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct thread_info {
	__u32 status;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

// The whole of what the scheduler tells of a task: only where the kernel is built so.
struct sched_info {
	unsigned long long run_delay;
};

typedef struct {
	__u32 val;
} kid_t;

struct user_namespace;

// One word in every kernel, of two halves or whole.
struct capabilities {
	__u64 all;
};

struct cred {
	kid_t uid, gid, suid, sgid, euid, egid, fsuid, fsgid;
	struct capabilities cap_permitted;
	struct user_namespace *user_ns;
};

struct task_struct {
	const struct cred *cred;
	struct sched_info sched_info;
	struct thread_info thread_info;
	unsigned int __state;
	struct files_struct *files;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sched_entity se;
	__u64 utime, stime;
	int exit_code, exit_state, pid;
};

#pragma clang attribute pop
