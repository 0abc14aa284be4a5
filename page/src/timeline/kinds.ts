// Kinds of system calls, by what they have to do with: each has a colour and a name.

import { type Outside, show } from "../shared/outside";

export type Kind = "file" | "network" | "process" | "wait" | "memory" | "other";

export const KINDS: readonly Kind[] = ["file", "network", "process", "wait", "memory", "other"];

const BY_NAME: [Kind, RegExp][] = [
  [
    "network",
    /^(socket|connect|accept|bind|listen|send|recv|getpeername|getsockname|setsockopt|getsockopt|shutdown)/,
  ],
  [
    "process",
    /^(v?fork|clone|exec|exit|wait|kill|tkill|tgkill|rt_sig|setpgid|getpid|gettid|prctl|arch_prctl)/,
  ],
  [
    "wait",
    /^(p?poll|p?select|epoll|futex|nanosleep|clock_nanosleep|pause|io_getevents|fsync|fdatasync|sync|msync|flock)/,
  ],
  ["memory", /^(mmap|munmap|mremap|mprotect|madvise|brk|mlock)/],
  [
    "file",
    /^(p?read|p?write|open|creat|close|.?stat|.*stat$|statx|access|faccess|lseek|getdents|rename|unlink|mkdir|rmdir|link|symlink|readlink|chmod|chown|dup|pipe|fcntl|ioctl|truncate|ftruncate|sendfile|splice|copy_file|utime|getcwd|chdir|fallocate|newfstatat)/,
  ],
];

/** The kind of a system call. */
export function kindOf(name: Outside): Kind {
  const shown = show(name);
  return BY_NAME.find(([, pattern]) => pattern.test(shown))?.[0] ?? "other";
}
