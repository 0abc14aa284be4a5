// Where each command of a job list lies: the path is searched for each, or once for each name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *names[] = { "make", "true", "sed", "awk", "tar", "ls", "cat", "cp" };
static char kept[8][128];

static const char *where(int name, int fixed)
{
	static const char *folders[] = { "/opt/tools/bin", "/usr/local/sbin", "/usr/local/games", "/opt/sbin", "/usr/sbin/local", "/opt/bin",
		"/usr/local/libexec", "/usr/bin", "/bin" };
	struct stat found;
	if (fixed && kept[name][0])
		return kept[name];
	for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(kept[name], sizeof kept[name], "%s/%s", folders[i], names[name]);
		if (!stat(kept[name], &found))
			return kept[name];
	}
	return "";
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed");
	unsigned long sum = 0;
	char line[256];
	for (int job = 0; job < 40000; job++) {
		const char *path = where(job % 8, fixed);
		int size = snprintf(line, sizeof line, "%d %s --jobs %d\n", job, path, job % 5);
		for (int i = 0; i < size; i++)
			sum = sum * 131 + (unsigned char) line[i];
	}
	printf("%lx\n", sum);
	return 0;
}
