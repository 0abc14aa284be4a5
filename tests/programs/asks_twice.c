// Adds up the sizes of files under ever new paths: argv[1] times 100,000 of them. One function asks whether each is a file, another one how large it is.
// Expect: redundant-file-access in size_of. `clean` asks once; `links` asks whether each is a link before it follows it: nothing is to be found.

#include "support/program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS = 64, PATHS = 100000 };

static char root[] = "/tmp/asks-twice-XXXXXX";

// Each number gives another way to one of the files.
static void path_of(char *path, unsigned long number)
{
    snprintf(path, PATH_MAX, "%s/%lu/../%lu/../%lu/file", root, number % FOLDERS, number / FOLDERS % FOLDERS,
             number / FOLDERS / FOLDERS % FOLDERS);
}

static void make_files(void)
{
    if (!mkdtemp(root))
        die("mkdtemp");
    for (unsigned long i = 0; i < FOLDERS; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%lu", root, i);
        if (mkdir(path, 0700) != 0)
            die("mkdir");
        path_of(path, i * FOLDERS * FOLDERS);
        int file = open(path, O_CREAT | O_WRONLY, 0600);
        if (file < 0 || write(file, path, i) != (ssize_t)i || close(file) != 0)
            die(path);
    }
}

static void remove_files(void)
{
    for (unsigned long i = 0; i < FOLDERS; i++) {
        char path[PATH_MAX];
        path_of(path, i * FOLDERS * FOLDERS);
        unlink(path);
    }
    // Each path goes by way of the first folder.
    for (unsigned long i = 0; i < FOLDERS; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%lu", root, i);
        rmdir(path);
    }
    rmdir(root);
}

static __attribute__((noinline)) int is_file(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 && S_ISREG(state.st_mode);
}

static __attribute__((noinline)) int is_link(const char *path)
{
    struct stat state;
    return lstat(path, &state) == 0 && S_ISLNK(state.st_mode);
}

static __attribute__((noinline)) long size_of(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 && S_ISREG(state.st_mode) ? state.st_size : 0;
}

static __attribute__((noinline)) long add_up(unsigned long paths, const char *how)
{
    long sum = 0;
    for (unsigned long i = 0; i < paths; i++) {
        char path[PATH_MAX];
        path_of(path, i);
        if (strcmp(how, "links") == 0) {
            if (!is_link(path))
                sum += size_of(path);
        } else if (strcmp(how, "clean") == 0 || is_file(path)) {
            sum += size_of(path);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    make_files();
    printf("%ld bytes\n", add_up(scaled(PATHS, argc, argv), argc > 2 ? argv[2] : ""));
    remove_files();
    return 0;
}
