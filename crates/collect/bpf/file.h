// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Which file a descriptor is open on: what tells it from others, and whether it has changed. When that is asked is the tracer's.

#pragma once

struct file_id {
	__u64 inode, size, mtime;
	__u32 device, mode, flags, magic;
}; // the size of a character device is its number

static __always_inline void read_mtime(struct inode *inode, struct file_id *id)
{
	struct inode___6_7 *newer = (void *)inode;
	struct inode___5 *older = (void *)inode;
	struct timespec64 mtime = {};
	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		mtime.tv_sec = BPF_CORE_READ(inode, i_mtime_sec);
		mtime.tv_nsec = BPF_CORE_READ(inode, i_mtime_nsec);
	} else if (bpf_core_field_exists(newer->__i_mtime)) {
		BPF_CORE_READ_INTO(&mtime, newer, __i_mtime);
	} else if (bpf_core_field_exists(older->i_mtime)) {
		BPF_CORE_READ_INTO(&mtime, older, i_mtime);
	}
	id->mtime = mtime.tv_sec * 1000000000ULL + mtime.tv_nsec;
}

// Where the kernel lets an address be read as what it is (6.2), its fields cost a load each.
static __always_inline void read_cast_file(struct file *file, struct file_id *id, bool whole)
{
	struct file *open = bpf_core_cast(file, struct file);
	struct inode *inode = open->f_inode;
	if (!inode)
		return;
	id->flags = open->f_flags;
	id->inode = inode->i_ino;
	id->mode = inode->i_mode;
	struct super_block *super = inode->i_sb;
	if (!super)
		return;
	id->device = super->s_dev;
	if ((id->mode & 0170000) == 0020000) {
		id->size = inode->i_rdev;
		return;
	}
	if (!whole)
		return;
	id->magic = super->s_magic;
	id->size = inode->i_size;
	if (bpf_core_field_exists(inode->i_mtime_sec) && bpf_core_field_exists(inode->i_mtime_nsec))
		id->mtime = inode->i_mtime_sec * 1000000000ULL + inode->i_mtime_nsec;
	else
		read_mtime(inode, id);
}

// Else fields are taken from one copy of each, since every read of kernel memory costs as much as all the rest. FIELD is for a
// copy that holds the field, which the kernel's own layout says when the object is loaded.
#define COPY 208
#define HOLDS(type, field) (bpf_core_field_exists(((type *)0)->field) && bpf_core_field_offset(type, field) <= COPY - 8)
#define FIELD(copy, type, field, as) (*(as *)((copy) + bpf_core_field_offset(type, field)))

static __noinline void read_copied_file(struct file *file, struct file_id *id, bool whole)
{
	if (!id)
		return;
	char copy[COPY];
	if (!HOLDS(struct file, f_inode) || !HOLDS(struct file, f_flags) || bpf_probe_read_kernel(copy, COPY, file))
		return;
	struct inode *inode = FIELD(copy, struct file, f_inode, struct inode *);
	id->flags = FIELD(copy, struct file, f_flags, __u32);
	if (!inode || bpf_probe_read_kernel(copy, whole ? COPY : 96, inode))
		return;
	struct super_block *super = FIELD(copy, struct inode, i_sb, struct super_block *);
	id->inode = FIELD(copy, struct inode, i_ino, __u64);
	id->mode = FIELD(copy, struct inode, i_mode, __u16);
	id->device = BPF_CORE_READ(super, s_dev);
	if ((id->mode & 0170000) == 0020000) {
		id->size = FIELD(copy, struct inode, i_rdev, __u32);
		return;
	}
	if (!whole)
		return;
	id->magic = BPF_CORE_READ(super, s_magic);
	id->size = FIELD(copy, struct inode, i_size, __u64);
	read_mtime(inode, id);
}

static __always_inline void read_file(struct file *file, struct file_id *id, bool whole)
{
	if (bpf_ksym_exists(bpf_rdonly_cast))
		read_cast_file(file, id, whole);
	else
		read_copied_file(file, id, whole);
}

static __always_inline void file_of(struct task_struct *task, __u32 fd, struct file_id *id, bool whole)
{
	// Typed pointers are followed without a call.
	struct files_struct *open = task->files;
	if (!open)
		return;
	struct fdtable *table = open->fdt;
	if (!table || fd >= table->max_fds)
		return;
	struct file **files = table->fd, *file = NULL;
	if (bpf_ksym_exists(bpf_rdonly_cast)) // as any struct whose first field is a pointer
		file = (struct file *)bpf_core_cast(&files[fd], struct llist_head)->first;
	else
		bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	if (file)
		read_file(file, id, whole);
}
