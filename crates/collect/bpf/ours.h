// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Whose a task is. With capabilities slowpath may look at everything, and its user may not (`slowpath setup`): then what has other rights
// than the user is not looked at, whatever number it has.

#pragma once

// For whom slowpath records; set by `whoami`.
__u32 owner;
struct user_namespace *owners_namespace;
// That user is not root.
bool owned_only;

static __always_inline void know_owner(struct task_struct *task)
{
	owner = BPF_CORE_READ(task, cred, euid.val);
	owners_namespace = BPF_CORE_READ(task, cred, user_ns);
	owned_only = owner != 0;
}

// Whether a program has rights that its user has not: it is set-uid or set-gid, has capabilities of its own, or is another user's.
static __always_inline bool is_strangers(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);
	__u64 capabilities = 0;
	if (BPF_CORE_READ(cred, uid.val) != owner || BPF_CORE_READ(cred, euid.val) != owner ||
	    BPF_CORE_READ(cred, suid.val) != owner || BPF_CORE_READ(cred, fsuid.val) != owner)
		return true;
	__u32 gid = BPF_CORE_READ(cred, gid.val);
	if (BPF_CORE_READ(cred, egid.val) != gid || BPF_CORE_READ(cred, sgid.val) != gid)
		return true;
	// In a namespace of the user's own every program has all of them, and they reach no further.
	bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted);
	return capabilities && BPF_CORE_READ(cred, user_ns) == owners_namespace;
}

// Whether a task of this process is followed, and may be looked at. Asked of a task now and then, since numbers are given to others once a
// process has ended.
static __always_inline bool is_ours(struct task_struct *task, __u32 pid)
{
	return followed(pid) && !(owned_only && is_strangers(task));
}
