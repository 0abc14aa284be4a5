// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// How much memory a process has.

#pragma once

#include "kernel.h"

// The most memory that a process had. What the kernel keeps for its parent is the most of all programs that it executed, and of the one
// that it was forked from.
static __always_inline __u64 peak_pages(struct task_struct *task)
{
	struct mm_struct *mm = task->mm;
	if (!mm)
		return 0;
	__u64 highest = BPF_CORE_READ(mm, hiwater_rss);
	__s64 now = 0;
	if (bpf_core_type_exists(struct mm_rss_stat)) {
		struct mm_struct___6_1 *old = (void *)mm;
		now = BPF_CORE_READ(old, rss_stat.count[0]) + BPF_CORE_READ(old, rss_stat.count[1]) + BPF_CORE_READ(old, rss_stat.count[3]);
	} else {
		now = BPF_CORE_READ(mm, rss_stat[0].count) + BPF_CORE_READ(mm, rss_stat[1].count) + BPF_CORE_READ(mm, rss_stat[3].count);
	}
	return now > 0 && now > highest ? now : highest;
}
