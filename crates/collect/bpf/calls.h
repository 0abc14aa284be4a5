// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// System calls by number: what of each matters to the tracer.

#pragma once

// What of a call's arguments matters. The file that the descriptor in argument 0 (4 of mmap) is open on; a path in
// argument 0 or 1; bytes moved are the result; the result is a descriptor; an address of a socket; bytes that are mapped or given back are
// the argument that says most.
enum { FD = 1, PATH0 = 2, PATH1 = 4, BYTES = 8, NEW_FD = 16, ADDRESS = 32, PROCESS = 64, FD4 = 128, MEMORY = 256 };
enum { FUTEX = 202, EXIT_GROUP = 231, MMAP = 9, MUNMAP = 11, BRK = 12, MADVISE = 28 };

// Calls that succeed with 0 when there is nothing: poll, ppoll, select, pselect6, epoll_wait and its successors, wait4.
static __always_inline bool asks(__u32 number)
{
	switch (number) {
	case 7: case 271: case 23: case 270: case 232: case 281: case 441: case 61:
		return true;
	}
	return false;
}

static __always_inline __u32 class_of(__u32 number)
{
	switch (number) {
	case 0: case 1: // read, write
	case 17: case 18: case 19: case 20: // pread64, pwrite64, readv, writev
	case 44: case 45: case 46: case 47: // sendto, recvfrom, sendmsg, recvmsg
	case 40: // sendfile
	case 217: // getdents64
	case 295: case 296: case 327: case 328: // preadv, pwritev and their successors
		return FD | BYTES;
	case 3: case 5: case 8: // close, fstat, lseek
	case 16: case 72: // ioctl, fcntl
	case 43: case 288: // accept
	case 74: case 75: case 277: case 306: // fsync, fdatasync, sync_file_range, syncfs
	case 73: // flock
	case 77: // ftruncate
		return FD;
	case 318: // getrandom
		return BYTES;
	case MMAP:
		return FD4 | MEMORY;
	case MUNMAP: case BRK: case MADVISE:
		return MEMORY;
	case 2: case 85: // open, creat
		return PATH0 | NEW_FD;
	case 257: case 437: // openat, openat2
		return PATH1 | NEW_FD;
	case 4: case 6: case 21: case 89: // stat, lstat, access, readlink
	case 80: case 82: case 83: case 84: case 87: case 137: // chdir, rename, mkdir, rmdir, unlink, statfs
	case 191: case 192: // getxattr, lgetxattr
		return PATH0;
	case 262: case 332: // newfstatat, statx: without a path of the descriptor itself
		return PATH1 | FD;
	case 267: case 269: case 439: // readlinkat, faccessat, faccessat2
	case 258: case 263: // mkdirat, unlinkat
		return PATH1;
	case 59: // execve
		return PATH0 | PROCESS;
	case 322: // execveat
		return PATH1 | PROCESS;
	case 56: case 57: case 58: case 435: case 61: case 247: // clone, fork, vfork, clone3, wait4, waitid
		return PROCESS;
	case 42: // connect
		return FD | ADDRESS;
	}
	return 0;
}
