// Strange ways to use the kernel, one by name: `strange MODE`. Each says what it saw, which must not change by being watched.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// A path of the greatest length, and one that is no UTF-8.
static void paths(void)
{
	char path[4096];
	memset(path, '/', sizeof(path));
	strcpy(path + 4095 - 9, "dev/null");
	memcpy(path, "/", 1);
	path[4095 - 1] = 0;
	int fd = open(path, O_RDONLY);
	printf("long %s\n", fd >= 0 ? "opened" : strerror(errno));
	close(fd);
	fd = open("/tmp/\xff\xfe\x80", O_RDONLY);
	printf("bytes %s\n", fd >= 0 ? "opened" : strerror(errno));
	char too_long[5000];
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[4999] = 0;
	printf("too long %s\n", open(too_long, O_RDONLY) < 0 ? strerror(errno) : "opened");
	printf("bad pointer %s\n", open((const char *)1, O_RDONLY) < 0 ? strerror(errno) : "opened");
}

static void many_files(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	int count = 0;
	while (count < 100000 && open("/dev/null", O_RDONLY) >= 0)
		count++;
	printf("%s\n", count == 100000 || (rlim_t)count + 16 > limit.rlim_cur ? "all opened" : strerror(errno));
}

static void *exec_in_thread(void *arguments)
{
	execv("/proc/self/exe", arguments);
	return NULL;
}

// Exec from a thread that is not the first: the process keeps its number.
static void thread_exec(void)
{
	char number[16];
	snprintf(number, sizeof(number), "%d", getpid());
	char *arguments[] = { "strange", "same", number, NULL };
	pthread_t thread;
	pthread_create(&thread, NULL, exec_in_thread, arguments);
	pthread_join(thread, NULL);
}

// A filter that refuses getppid with an error of its own.
static void filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	long parent = syscall(SYS_getppid);
	printf("%ld %s\n", parent, strerror(errno));
}

// One process traces another, as a debugger does.
static void traced(void)
{
	pid_t child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		exit(7);
	}
	int status;
	waitpid(child, &status, 0);
	int stopped = WIFSTOPPED(status), calls = 0;
	while (!WIFEXITED(status)) {
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
		calls++;
	}
	printf("stopped %d, exit %d, %s\n", stopped, WEXITSTATUS(status), calls > 1 ? "calls seen" : "no calls");
}

static void vforked(void)
{
	pid_t child = vfork();
	if (!child)
		_exit(5);
	int status;
	waitpid(child, &status, 0);
	printf("exit %d\n", WEXITSTATUS(status));
}

// Lives on after its parent is gone.
static void daemonized(void)
{
	if (fork())
		exit(0);
	setsid();
	if (fork())
		exit(0);
	close(1);
	close(2);
	sleep(40);
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";
	if (!strcmp(mode, "paths"))
		paths();
	else if (!strcmp(mode, "many-files"))
		many_files();
	else if (!strcmp(mode, "thread-exec"))
		thread_exec();
	else if (!strcmp(mode, "same"))
		printf("%s\n", atoi(arguments[2]) == getpid() ? "same number" : "another number");
	else if (!strcmp(mode, "filtered"))
		filtered();
	else if (!strcmp(mode, "traced"))
		traced();
	else if (!strcmp(mode, "vforked"))
		vforked();
	else if (!strcmp(mode, "daemonized"))
		daemonized();
	else
		return 2;
	return 0;
}
