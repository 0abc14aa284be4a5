// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Whether the thread that runs when a wait ends has ended it. An interrupt of a timer, a disk or a network card ends waits as well, and
// then whoever runs just now has nothing to do with it. The kernel tells programs in no way that all kernels have whether it serves an interrupt
// (the variables that say so are symbols only with CONFIG_KALLSYMS_ALL). So it follows from both calls: what is waited for, and whether the other
// call can end such a wait.

#pragma once

#include "calls.h"
#include "file.h"

#define ERROR_AGAIN 11
#define ERROR_TIMED_OUT 110

static __always_inline bool is_signal(__u32 number)
{
	return number == CALL_KILL || number == CALL_TKILL || number == CALL_TGKILL;
}

// A call that asks about the process or the machine, sleeps, or maps memory wakes nobody.
static __always_inline bool wakes(__u32 number)
{
	__u32 class = class_of(number);
	if (class)
		return !(class & MEMORY) && class != BYTES;
	return is_signal(number) || number == CALL_FUTEX || number == CALL_EXIT || number == CALL_EXIT_GROUP ||
	       number == CALL_SEMOP || number == CALL_SEMTIMEDOP || number == CALL_MSGSND || number == CALL_MSGRCV ||
	       number == CALL_SENDMMSG || number == CALL_RECVMMSG || number == CALL_IO_URING_ENTER;
}

// Whether a wait in call `number` on `file` can be ended by a call `by`.
static __always_inline bool may_end(__u32 number, const struct file_id *file, __u32 by)
{
	if (number == CALL_NANOSLEEP || number == CALL_CLOCK_NANOSLEEP)
		return is_signal(by);
	if (number == CALL_FUTEX)
		return by == CALL_FUTEX || by == CALL_EXIT || by == CALL_EXIT_GROUP || is_signal(by);
	__u32 kind = file->mode & 0170000;
	// What is on a disk comes from the disk; but for locks.
	if ((kind == 0100000 || kind == 0040000 || kind == 0060000) && number != CALL_FCNTL && number != CALL_FLOCK)
		return false;
	return wakes(by);
}

// Whether a call ended because its time was over.
static __always_inline bool timed_out(__u32 number, long result)
{
	return result == -ERROR_TIMED_OUT || result == -ERROR_AGAIN || (result == 0 && asks(number) && number != CALL_WAIT4);
}
