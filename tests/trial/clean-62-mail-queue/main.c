/* mailqd: takes messages from one SMTP peer and puts them into a queue
 * directory.  A message is acknowledged with "250" only when it would survive
 * a crash of the machine; the peer may forget it then.
 *
 * The peer is a child process that replays a mailbox over a socket pair, one
 * message at a time, as SMTP wants it: the next message is sent when the last
 * one was acknowledged. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *queue_dir = "queue";
static int queue_fd;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the queue ----------------------------------------------------------------- */

static void queue_open(void)
{
    struct dirent *e;
    if (mkdir(queue_dir, 0700) && errno != EEXIST)
        die(queue_dir);
    queue_fd = open(queue_dir, O_RDONLY | O_DIRECTORY);
    DIR *d = opendir(queue_dir);
    if (queue_fd < 0 || !d)
        die(queue_dir);
    while ((e = readdir(d)))
        if (strncmp(e->d_name, "tmp.", 4) == 0 || strncmp(e->d_name, "msg.", 4) == 0)
            unlinkat(queue_fd, e->d_name, 0);
    closedir(d);
}

static void write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno != EINTR)
            die("write");
        if (w > 0) {
            p += w;
            n -= w;
        }
    }
}

/* The file is complete on disk before it gets its name, and the name is on
   disk before the message is acknowledged. */
static void queue_commit(const char *id, const char *data, size_t len)
{
    char tmp[80], name[80];
    snprintf(tmp, sizeof tmp, "tmp.%s", id);
    snprintf(name, sizeof name, "msg.%s", id);
    int fd = openat(queue_fd, tmp, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        die(tmp);
    write_all(fd, data, len);
    if (fsync(fd) || close(fd) || renameat(queue_fd, tmp, queue_fd, name) || fsync(queue_fd))
        die(name);
}

/* ---- messages --------------------------------------------------------------------- */

struct message {
    char sender[128];
    char rcpt[8][128];
    int nrcpt;
    char *data;
    size_t len, size;
    int headers, received;
};

struct totals {
    unsigned long accepted, rejected, bytes, recipients;
};

static void message_reset(struct message *m)
{
    m->sender[0] = 0;
    m->nrcpt = 0;
    m->len = 0;
    m->headers = m->received = 0;
}

static void message_add(struct message *m, const char *p, size_t n)
{
    if (m->len + n > m->size) {
        m->size = (m->len + n) * 2;
        m->data = realloc(m->data, m->size);
        if (!m->data)
            die("realloc");
    }
    memcpy(m->data + m->len, p, n);
    m->len += n;
}

static bool address(const char *line, char *out, size_t size)
{
    const char *a = strchr(line, '<'), *b = a ? strchr(a, '>') : NULL;
    if (!b || (size_t)(b - a) > size)
        return false;
    memcpy(out, a + 1, b - a - 1);
    out[b - a - 1] = 0;
    for (char *p = out; *p; p++)
        *p = tolower((unsigned char)*p);
    return b == a + 1 || strchr(out, '@');
}

static void queue_id(const struct message *m, unsigned long seq, char *out, size_t size)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned int n;
    EVP_Digest(m->data, m->len, md, &n, EVP_sha256(), NULL);
    snprintf(out, size, "%05lu.%02x%02x%02x%02x%02x%02x", seq, md[0], md[1], md[2], md[3], md[4], md[5]);
}

/* ---- SMTP, receiving ------------------------------------------------------------------ */

/* the text up to the lone dot, dots at line begins undone */
static bool receive_data(FILE *in, struct message *m)
{
    char line[2048];
    bool header = true;
    while (fgets(line, sizeof line, in)) {
        size_t n = strlen(line);
        const char *p = line;
        if (line[0] == '.') {
            if (strcmp(line, ".\r\n") == 0)
                return true;
            p++;
            n--;
        }
        if (header && p[0] == '\r')
            header = false;
        if (header && !isspace((unsigned char)p[0])) {
            m->headers++;
            m->received += strncasecmp(p, "Received:", 9) == 0;
        }
        if (n >= 2 && p[n - 2] == '\r') {
            message_add(m, p, n - 2);
            message_add(m, "\n", 1);
        } else {
            message_add(m, p, n);
        }
    }
    return false;
}

static void envelope(const struct message *m, char *out, size_t size)
{
    size_t n = snprintf(out, size, "X-Sender: %s\n", m->sender);
    for (int i = 0; i < m->nrcpt && n < size; i++)
        n += snprintf(out + n, size - n, "X-Rcpt: %s\n", m->rcpt[i]);
}

static void serve(int sock, struct totals *t)
{
    FILE *in = fdopen(dup(sock), "r"), *out = fdopen(sock, "w");
    struct message m = { { 0 } };
    char line[2048], id[64], env[1400];
    unsigned long seq = 0;
    fprintf(out, "220 mailqd\r\n");
    fflush(out);
    while (fgets(line, sizeof line, in)) {
        if (strncasecmp(line, "MAIL FROM:", 10) == 0) {
            message_reset(&m);
            fprintf(out, address(line, m.sender, sizeof m.sender) ? "250 ok\r\n" : "501 bad address\r\n");
        } else if (strncasecmp(line, "RCPT TO:", 8) == 0) {
            bool ok = m.nrcpt < 8 && address(line, m.rcpt[m.nrcpt], sizeof m.rcpt[0]);
            m.nrcpt += ok;
            fprintf(out, ok ? "250 ok\r\n" : "501 bad address\r\n");
        } else if (strncasecmp(line, "DATA", 4) == 0) {
            fprintf(out, "354 go ahead\r\n");
            fflush(out);
            envelope(&m, env, sizeof env);
            message_add(&m, env, strlen(env));
            if (!receive_data(in, &m))
                break;
            if (m.received > 25 || !m.nrcpt) {
                t->rejected++;
                fprintf(out, "554 not accepted\r\n");
            } else {
                queue_id(&m, ++seq, id, sizeof id);
                queue_commit(id, m.data, m.len);
                t->accepted++;
                t->bytes += m.len;
                t->recipients += m.nrcpt;
                fprintf(out, "250 queued as %s\r\n", id);
            }
        } else {
            fprintf(out, strncasecmp(line, "QUIT", 4) ? "502 unknown\r\n" : "221 bye\r\n");
        }
        fflush(out);
    }
    free(m.data);
    fclose(in);
    fclose(out);
}

/* ---- the peer --------------------------------------------------------------------------- */

static void expect(FILE *in, const char *code)
{
    char line[512];
    if (!fgets(line, sizeof line, in) || strncmp(line, code, strlen(code))) {
        fprintf(stderr, "peer: unexpected reply %s", line);
        exit(1);
    }
}

static void command(FILE *in, FILE *out, const char *cmd, const char *code)
{
    fprintf(out, "%s\r\n", cmd);
    fflush(out);
    expect(in, code);
}

/* the spool: "%from ADDR", "%to ADDR", text lines, "%end" */
static int peer(int sock, const char *spool)
{
    FILE *in = fdopen(dup(sock), "r"), *out = fdopen(sock, "w"), *f = fopen(spool, "r");
    char line[2048], cmd[2100];
    bool text = false;
    if (!f)
        die(spool);
    expect(in, "220");
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "%from ", 6) == 0) {
            snprintf(cmd, sizeof cmd, "MAIL FROM:<%s>", line + 6);
            command(in, out, cmd, "250");
        } else if (strncmp(line, "%to ", 4) == 0) {
            snprintf(cmd, sizeof cmd, "RCPT TO:<%s>", line + 4);
            command(in, out, cmd, "250");
        } else if (strcmp(line, "%end") == 0) {
            command(in, out, ".", "250");
            text = false;
        } else {
            if (!text)
                command(in, out, "DATA", "354");
            text = true;
            fprintf(out, "%s%s\r\n", line[0] == '.' ? "." : "", line);
        }
    }
    command(in, out, "QUIT", "221");
    return 0;
}

int main(int argc, char **argv)
{
    int sv[2], status;
    struct totals t = { 0 };
    queue_open();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
        die("socketpair");
    pid_t pid = fork();
    if (pid == 0) {
        close(sv[0]);
        exit(peer(sv[1], argc > 1 ? argv[1] : "spool.txt"));
    }
    close(sv[1]);
    serve(sv[0], &t);
    waitpid(pid, &status, 0);
    printf("%lu accepted, %lu rejected, %lu recipients, %lu bytes, peer status %d\n", t.accepted, t.rejected,
           t.recipients, t.bytes, status);
    return 0;
}
