/* pkgtx: install the packages of a transaction file under a root directory.
 * The payload of a package is verified and unpacked; scriptlets are run by
 * an external interpreter, which gets the script on its standard input. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_FILES 32

struct pkgfile {
    char name[64];
    char digest[65];
    unsigned char *data;
    size_t len;
};

struct package {
    char name[64];
    char version[32];
    struct pkgfile files[MAX_FILES];
    int nfiles;
    char *post; /* %post scriptlet or NULL */
};

static const char *root = "root";
static int nfailed;

/* ---- the transaction file --------------------------------------------------
 * package NAME VERSION
 * file NAME DIGEST RAWSIZE PACKEDSIZE\n<bytes>\n
 * post SIZE\n<bytes>\n
 * end */

static void freePackage(struct package *p)
{
    for (int i = 0; i < p->nfiles; i++)
        free(p->files[i].data);
    free(p->post);
    memset(p, 0, sizeof(*p));
}

static int readFileEntry(FILE *f, const char *line, struct package *p)
{
    struct pkgfile *pf = &p->files[p->nfiles];
    size_t packed;
    if (p->nfiles == MAX_FILES ||
        sscanf(line, "file %63s %64s %zu %zu", pf->name, pf->digest, &pf->len, &packed) != 4)
        return -1;
    unsigned char *z = malloc(packed);
    uLongf len = pf->len;
    pf->data = malloc(pf->len);
    p->nfiles++;
    int ok = fread(z, 1, packed, f) == packed && getc(f) == '\n' &&
             uncompress(pf->data, &len, z, packed) == Z_OK && len == pf->len;
    free(z);
    return ok ? 0 : -1;
}

/* returns 1 for a package, 0 at the end of the file, -1 on errors */
static int readPackage(FILE *f, struct package *p)
{
    char line[512];
    size_t size;
    memset(p, 0, sizeof(*p));
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "package %63s %31s", p->name, p->version) == 2)
            continue;
        if (strncmp(line, "file ", 5) == 0) {
            if (readFileEntry(f, line, p))
                return -1;
        } else if (sscanf(line, "post %zu", &size) == 1) {
            p->post = calloc(1, size + 1);
            if (fread(p->post, 1, size, f) != size || getc(f) != '\n')
                return -1;
        } else if (strcmp(line, "end\n") == 0) {
            return 1;
        } else {
            return -1;
        }
    }
    return 0;
}

/* ---- payload ------------------------------------------------------------- */

static void hexDigest(const void *data, size_t len, char *out)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned int n;
    EVP_Digest(data, len, md, &n, EVP_sha256(), NULL);
    for (unsigned int i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", md[i]);
}

/* a reinstallation leaves the files alone that are as they should be */
static int isInstalled(const char *path, const struct pkgfile *pf)
{
    char digest[2 * EVP_MAX_MD_SIZE + 1];
    struct stat st;
    int same = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && (size_t)st.st_size == pf->len) {
        unsigned char *buf = malloc(pf->len);
        if (read(fd, buf, pf->len) == (ssize_t)pf->len) {
            hexDigest(buf, pf->len, digest);
            same = strcmp(digest, pf->digest) == 0;
        }
        free(buf);
    }
    close(fd);
    return same;
}

static int installFile(const char *dir, const struct pkgfile *pf)
{
    char digest[2 * EVP_MAX_MD_SIZE + 1], path[256], tmp[280];
    hexDigest(pf->data, pf->len, digest);
    if (strcmp(digest, pf->digest)) {
        fprintf(stderr, "%s: bad digest\n", pf->name);
        return -1;
    }
    snprintf(path, sizeof(path), "%s/%s", dir, pf->name);
    if (isInstalled(path, pf))
        return 0;
    snprintf(tmp, sizeof(tmp), "%s;new", path);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, pf->data, pf->len) != (ssize_t)pf->len)
        return -1;
    close(fd);
    return rename(tmp, path);
}

static int installPayload(const struct package *p)
{
    char dir[160];
    snprintf(dir, sizeof(dir), "%s/%s", root, p->name);
    if (mkdir(dir, 0755) && errno != EEXIST)
        return -1;
    for (int i = 0; i < p->nfiles; i++)
        if (installFile(dir, &p->files[i]))
            return -1;
    return 0;
}

/* ---- scriptlets ------------------------------------------------------------ */

static void setCloseOnExec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags != -1 && !(flags & FD_CLOEXEC))
        fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

/* none of our files may be inherited by the interpreter */
static void rpmSetCloseOnExec(void)
{
    DIR *dir = opendir("/proc/self/fd");
    if (dir) {
        struct dirent *d;
        while ((d = readdir(dir))) {
            int fd = atoi(d->d_name);
            if (fd > 2)
                setCloseOnExec(fd);
        }
        closedir(dir);
        return;
    }
    long open_max = sysconf(_SC_OPEN_MAX);
    if (open_max == -1)
        open_max = 1024;
    for (int fd = 3; fd < open_max; fd++)
        setCloseOnExec(fd);
}

static void doScriptExec(const struct package *p, int in, int out)
{
    char instdir[192];
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    rpmSetCloseOnExec();
    snprintf(instdir, sizeof(instdir), "%s/%s", root, p->name);
    setenv("PKG_NAME", p->name, 1);
    setenv("PKG_DIR", instdir, 1);
    setenv("PATH", "/sbin:/bin:/usr/sbin:/usr/bin", 1);
    execl("/bin/sh", "sh", "-s", "1", (char *)NULL);
    _exit(127);
}

/* feed the script, collect the output */
static size_t talk(int to, int from, const char *script, char *out, size_t size)
{
    size_t left = strlen(script), got = 0;
    fcntl(to, F_SETFL, O_NONBLOCK);
    while (from >= 0) {
        struct pollfd pfd[2] = { { from, POLLIN, 0 }, { to, POLLOUT, 0 } };
        if (poll(pfd, to >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
            break;
        if (to >= 0 && pfd[1].revents) {
            ssize_t n = write(to, script, left);
            if (n > 0) {
                script += n;
                left -= n;
            }
            if (left == 0 || (n < 0 && errno != EAGAIN)) {
                close(to);
                to = -1;
            }
        }
        if (pfd[0].revents) {
            ssize_t n = read(from, out + got, size - 1 - got);
            if (n <= 0)
                break;
            got += n;
        }
    }
    if (to >= 0)
        close(to);
    out[got] = 0;
    return got;
}

static int runScript(const struct package *p, char *out, size_t size)
{
    int in[2], res[2], status;
    if (pipe2(in, O_CLOEXEC) || pipe2(res, O_CLOEXEC))
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        doScriptExec(p, in[0], res[1]);
    close(in[0]);
    close(res[1]);
    talk(in[1], res[0], p->post, out, size);
    close(res[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- transaction ----------------------------------------------------------- */

static void processPackage(const struct package *p)
{
    char out[4096];
    size_t bytes = 0;
    if (installPayload(p)) {
        fprintf(stderr, "%s: unpacking failed: %s\n", p->name, strerror(errno));
        nfailed++;
        return;
    }
    for (int i = 0; i < p->nfiles; i++)
        bytes += p->files[i].len;
    printf("%s-%s: %d files, %zu bytes\n", p->name, p->version, p->nfiles, bytes);
    if (p->post) {
        int rc = runScript(p, out, sizeof(out));
        if (out[0])
            printf("%s", out);
        if (rc) {
            printf("warning: %%post(%s) scriptlet failed, exit status %d\n", p->name, rc);
            nfailed++;
        }
    }
}

/* a transaction may hold many files open */
static void raiseFileLimit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "update.tx";
    FILE *f = fopen(file, "rbe");
    struct package p;
    int n = 0, rc;
    if (!f) {
        perror(file);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    raiseFileLimit();
    mkdir(root, 0755);
    while ((rc = readPackage(f, &p)) > 0) {
        processPackage(&p);
        freePackage(&p);
        n++;
    }
    fclose(f);
    if (rc < 0) {
        fprintf(stderr, "%s: damaged\n", file);
        return 1;
    }
    printf("%d packages installed, %d failed scriptlets\n", n, nfailed);
    return 0;
}
