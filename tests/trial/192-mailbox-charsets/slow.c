/* mboxindex: read a mailbox in mbox format, decode the headers (RFC 2047),
 * thread the messages and print an index with some statistics. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *C_Charset = "UTF-8";

struct Email {
    char *from;
    char *subject;
    char *real_subj; /* points into subject, after "Re:" */
    char *message_id;
    char *in_reply_to;
    struct Email *parent;
    int index, lines, replies;
};

static void *mutt_mem_realloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static char *mutt_strn_dup(const char *s, size_t n)
{
    char *p = mutt_mem_realloc(NULL, n + 1);
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

/* ---- character sets ------------------------------------------------------- */

static const struct {
    const char *key, *pref;
} PreferredMimeNames[] = {
    { "ansi_x3.4-1968", "us-ascii" }, { "ascii", "us-ascii" },       { "latin1", "iso-8859-1" },
    { "8859-1", "iso-8859-1" },       { "latin2", "iso-8859-2" },    { "sjis", "Shift_JIS" },
    { "ujis", "EUC-JP" },             { "x-euc-kr", "EUC-KR" },      { "cp1252", "windows-1252" },
    { "cp1251", "windows-1251" },     { "koi8r", "koi8-r" },         { "utf8", "utf-8" },
};

static void mutt_ch_canonical_charset(char *buf, size_t buflen, const char *name)
{
    for (size_t i = 0; i < sizeof(PreferredMimeNames) / sizeof(*PreferredMimeNames); i++) {
        if (strcasecmp(PreferredMimeNames[i].key, name) == 0) {
            snprintf(buf, buflen, "%s", PreferredMimeNames[i].pref);
            return;
        }
    }
    snprintf(buf, buflen, "%s", name);
    for (char *p = buf; *p; p++)
        *p = tolower((unsigned char)*p);
}

static iconv_t mutt_ch_iconv_open(const char *tocode, const char *fromcode)
{
    char to[64], from[64];
    mutt_ch_canonical_charset(to, sizeof(to), tocode);
    mutt_ch_canonical_charset(from, sizeof(from), fromcode);
    return iconv_open(to, from);
}

/* convert a string to the display character set; what cannot be converted
   becomes a question mark */
static char *mutt_ch_convert_string(const char *s, size_t len, const char *from)
{
    iconv_t cd = mutt_ch_iconv_open(C_Charset, from);
    if (cd == (iconv_t)-1)
        return mutt_strn_dup(s, len);
    size_t olen = len * 4 + 16;
    char *out = mutt_mem_realloc(NULL, olen + 1), *ob = out, *ib = (char *)s;
    size_t ibl = len, obl = olen;
    while (ibl) {
        if (iconv(cd, &ib, &ibl, &ob, &obl) != (size_t)-1 || obl == 0)
            break;
        *ob++ = '?';
        obl--;
        ib++;
        ibl--;
    }
    iconv(cd, NULL, NULL, &ob, &obl);
    iconv_close(cd);
    *ob = 0;
    return out;
}

/* ---- RFC 2047 ---------------------------------------------------------------- */

static size_t decode_q(const char *s, size_t n, char *out)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '_') {
            out[o++] = ' ';
        } else if (s[i] == '=' && i + 2 < n && isxdigit((unsigned char)s[i + 1])) {
            char hex[3] = { s[i + 1], s[i + 2], 0 };
            out[o++] = strtol(hex, NULL, 16);
            i += 2;
        } else {
            out[o++] = s[i];
        }
    }
    return o;
}

static size_t decode_b(const char *s, size_t n, char *out)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t acc = 0;
    int bits = 0;
    size_t o = 0;
    for (size_t i = 0; i < n && s[i] != '='; i++) {
        const char *c = strchr(set, s[i]);
        if (!c)
            continue;
        acc = acc << 6 | (c - set);
        if ((bits += 6) >= 8)
            out[o++] = acc >> (bits -= 8);
    }
    return o;
}

/* decode the word "=?charset?enc?text?=" at s; returns its length or 0 */
static size_t decode_word(const char *s, char **text)
{
    const char *charset = s + 2;
    const char *q = strchr(charset, '?');
    if (!q || !q[1] || q[2] != '?' || q - charset >= 40)
        return 0;
    const char *body = q + 3, *end = strstr(body, "?=");
    if (!end)
        return 0;
    char name[48], *raw = mutt_mem_realloc(NULL, end - body + 1);
    snprintf(name, sizeof(name), "%.*s", (int)(q - charset), charset);
    size_t n = tolower((unsigned char)q[1]) == 'b' ? decode_b(body, end - body, raw) : decode_q(body, end - body, raw);
    *text = mutt_ch_convert_string(raw, n, name);
    free(raw);
    return end + 2 - s;
}

static char *rfc2047_decode(const char *s)
{
    size_t len = 0, size = strlen(s) * 4 + 1;
    char *out = mutt_mem_realloc(NULL, size);
    bool after_word = false;
    while (*s) {
        char *text;
        size_t n;
        const char *t = s + strspn(s, " \t");
        if (after_word && t[0] == '=' && t[1] == '?')
            s = t; /* white space between encoded words is not shown */
        if (s[0] == '=' && s[1] == '?' && (n = decode_word(s, &text))) {
            size_t tl = strlen(text);
            memcpy(out + len, text, tl);
            len += tl;
            free(text);
            s += n;
            after_word = true;
            continue;
        }
        after_word = false;
        out[len++] = *s++;
    }
    out[len] = 0;
    return mutt_mem_realloc(out, len + 1);
}

/* ---- the mailbox ---------------------------------------------------------------- */

struct Mailbox {
    struct Email **emails;
    int count, alloc;
};

static char *skip_re(char *subject)
{
    while (strncasecmp(subject, "re:", 3) == 0 || strncasecmp(subject, "aw:", 3) == 0)
        subject += 3 + strspn(subject + 3, " ");
    return subject;
}

static void parse_header(struct Email *e, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return;
    char *value = colon + 1 + strspn(colon + 1, " \t");
    *colon = 0;
    if (strcasecmp(line, "From") == 0 && !e->from) {
        e->from = rfc2047_decode(value);
    } else if (strcasecmp(line, "Subject") == 0 && !e->subject) {
        e->subject = rfc2047_decode(value);
        e->real_subj = skip_re(e->subject);
    } else if (strcasecmp(line, "Message-ID") == 0 && !e->message_id) {
        e->message_id = mutt_strn_dup(value, strlen(value));
    } else if (strcasecmp(line, "In-Reply-To") == 0 && !e->in_reply_to) {
        e->in_reply_to = mutt_strn_dup(value, strlen(value));
    }
}

static struct Email *mailbox_new_email(struct Mailbox *m)
{
    if (m->count == m->alloc) {
        m->alloc = m->alloc ? m->alloc * 2 : 256;
        m->emails = mutt_mem_realloc(m->emails, m->alloc * sizeof(*m->emails));
    }
    struct Email *e = calloc(1, sizeof(*e));
    e->index = m->count;
    m->emails[m->count++] = e;
    return e;
}

static bool mbox_read(struct Mailbox *m, const char *path)
{
    FILE *fp = fopen(path, "r");
    char *line = NULL, header[4096] = "";
    size_t size = 0;
    ssize_t n;
    bool in_header = false;
    struct Email *e = NULL;
    if (!fp) {
        perror(path);
        return false;
    }
    while ((n = getline(&line, &size, fp)) > 0) {
        if (line[n - 1] == '\n')
            line[--n] = 0;
        if (!in_header && strncmp(line, "From ", 5) == 0) {
            e = mailbox_new_email(m);
            in_header = true;
            header[0] = 0;
        } else if (in_header && (line[0] == ' ' || line[0] == '\t')) {
            strncat(header, line, sizeof(header) - strlen(header) - 1);
        } else if (in_header) {
            if (header[0])
                parse_header(e, header);
            snprintf(header, sizeof(header), "%s", line);
            if (n == 0)
                in_header = false;
        } else if (e) {
            e->lines++;
        }
    }
    free(line);
    fclose(fp);
    return true;
}

/* ---- threads --------------------------------------------------------------------- */

static int by_message_id(const void *a, const void *b)
{
    return strcmp((*(struct Email *const *)a)->message_id, (*(struct Email *const *)b)->message_id);
}

static int thread_emails(struct Mailbox *m)
{
    int roots = 0;
    struct Email **v = mutt_mem_realloc(NULL, m->count * sizeof(*v));
    memcpy(v, m->emails, m->count * sizeof(*v));
    qsort(v, m->count, sizeof(*v), by_message_id);
    for (int i = 0; i < m->count; i++) {
        struct Email *e = m->emails[i], key = { .message_id = e->in_reply_to }, *kp = &key;
        struct Email **p = e->in_reply_to ? bsearch(&kp, v, m->count, sizeof(*v), by_message_id) : NULL;
        if (p && *p != e)
            e->parent = *p;
        else
            roots++;
        for (struct Email *a = e->parent; a && a->index < e->index; a = a->parent)
            a->replies++;
    }
    free(v);
    return roots;
}

static void print_index(const struct Mailbox *m)
{
    for (int i = 0; i < m->count; i++) {
        const struct Email *e = m->emails[i];
        printf("%5d %3d %3d  %-.40s  %s%s\n", e->index + 1, e->lines, e->replies, e->from,
               e->parent ? "`-> " : "", e->real_subj);
    }
}

int main(int argc, char **argv)
{
    struct Mailbox m = { 0 };
    if (!mbox_read(&m, argc > 1 ? argv[1] : "list.mbox"))
        return 1;
    int roots = thread_emails(&m);
    print_index(&m);
    printf("%d messages in %d threads\n", m.count, roots);
    return 0;
}
