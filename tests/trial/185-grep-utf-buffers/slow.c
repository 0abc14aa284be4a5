/* ugrep: search a UTF-8 text file for a Perl-compatible pattern, print the
 * matching parts grouped by file position, in the manner of "grep -P -o -b",
 * and a tally of the matched hosts.
 *
 * The input is read in large buffers that always end at a line end; the
 * matcher walks through one buffer at a time. */
#define PCRE2_CODE_UNIT_WIDTH 8
#define _GNU_SOURCE
#include <pcre2.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INITIAL_BUFSIZE (8 * 1024)
#define NSUB 8

/* ---- compiled pattern -------------------------------------------------- */

struct pcre_comp
{
  pcre2_code *cre;
  pcre2_match_data *data;
  pcre2_match_context *mcontext;
  pcre2_jit_stack *jit_stack;
};

static void
die (char const *what, char const *why)
{
  fprintf (stderr, "ugrep: %s: %s\n", what, why);
  exit (2);
}

static struct pcre_comp *
Pcompile (char const *pattern, uint32_t options)
{
  struct pcre_comp *pc = calloc (1, sizeof *pc);
  int e;
  PCRE2_SIZE off;
  pc->cre = pcre2_compile ((PCRE2_SPTR) pattern, PCRE2_ZERO_TERMINATED,
                           options | PCRE2_UTF, &e, &off, NULL);
  if (!pc->cre)
    {
      PCRE2_UCHAR msg[160];
      pcre2_get_error_message (e, msg, sizeof msg);
      die (pattern, (char *) msg);
    }
  pc->data = pcre2_match_data_create_from_pattern (pc->cre, NULL);
  pc->mcontext = pcre2_match_context_create (NULL);
  if (pcre2_jit_compile (pc->cre, PCRE2_JIT_COMPLETE) == 0)
    {
      pc->jit_stack = pcre2_jit_stack_create (32 << 10, 512 << 10, NULL);
      pcre2_jit_stack_assign (pc->mcontext, NULL, pc->jit_stack);
    }
  return pc;
}

static void
Pfree (struct pcre_comp *pc)
{
  pcre2_match_data_free (pc->data);
  if (pc->jit_stack)
    pcre2_jit_stack_free (pc->jit_stack);
  pcre2_match_context_free (pc->mcontext);
  pcre2_code_free (pc->cre);
  free (pc);
}

static int
jit_exec (struct pcre_comp *pc, char const *subject, size_t len,
          size_t start, uint32_t options)
{
  return pcre2_match (pc->cre, (PCRE2_SPTR) subject, len, start, options,
                      pc->data, pc->mcontext);
}

/* ---- tally of hosts ---------------------------------------------------- */

struct host
{
  struct host *next;
  size_t count;
  size_t len;
  char name[];
};

#define NBUCKETS 4096
static struct host *buckets[NBUCKETS];
static size_t nhosts;

static uint32_t
hash_bytes (char const *s, size_t n)
{
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < n; i++)
    h = (h ^ (unsigned char) s[i]) * 16777619u;
  return h;
}

static void
tally_host (char const *s, size_t n)
{
  struct host **b = &buckets[hash_bytes (s, n) % NBUCKETS];
  for (struct host *h = *b; h; h = h->next)
    if (h->len == n && memcmp (h->name, s, n) == 0)
      {
        h->count++;
        return;
      }
  struct host *h = malloc (sizeof *h + n + 1);
  h->count = 1;
  h->len = n;
  memcpy (h->name, s, n);
  h->name[n] = 0;
  h->next = *b;
  *b = h;
  nhosts++;
}

static int
by_count (void const *a, void const *b)
{
  struct host const *x = *(struct host *const *) a;
  struct host const *y = *(struct host *const *) b;
  if (x->count != y->count)
    return x->count < y->count ? 1 : -1;
  return strcmp (x->name, y->name);
}

static void
print_hosts (size_t limit)
{
  struct host **v = malloc ((nhosts + 1) * sizeof *v);
  size_t n = 0;
  for (size_t i = 0; i < NBUCKETS; i++)
    for (struct host *h = buckets[i]; h; h = h->next)
      v[n++] = h;
  qsort (v, n, sizeof *v, by_count);
  printf ("%zu hosts\n", n);
  for (size_t i = 0; i < n && i < limit; i++)
    printf ("%8zu %s\n", v[i]->count, v[i]->name);
  free (v);
}

/* ---- buffered input ---------------------------------------------------- */

static char *buffer;
static size_t bufalloc;
static size_t carry;            /* bytes of an unfinished line at the front */
static size_t buflen;           /* bytes in the buffer */

/* Read the next buffer.  Set *END to the number of bytes that are complete
   lines.  Return false at the end of the input.  */
static bool
fillbuf (int fd, size_t *end)
{
  for (;;)
    {
      if (carry == bufalloc)
        {
          bufalloc = bufalloc ? bufalloc * 2 : INITIAL_BUFSIZE;
          buffer = realloc (buffer, bufalloc);
          if (!buffer)
            die ("memory", "exhausted");
        }
      ssize_t r = read (fd, buffer + carry, bufalloc - carry);
      if (r < 0)
        {
          if (errno == EINTR)
            continue;
          die ("read", strerror (errno));
        }
      buflen = carry + r;
      if (r == 0)
        {
          *end = buflen;
          return buflen != 0;
        }
      char *nl = memrchr (buffer, '\n', buflen);
      if (nl)
        {
          *end = nl + 1 - buffer;
          return true;
        }
      carry = buflen;
    }
}

static void
consumebuf (size_t end)
{
  carry = buflen - end;
  memmove (buffer, buffer + end, carry);
}

/* ---- searching --------------------------------------------------------- */

struct totals
{
  size_t bytes;
  size_t lines;
  size_t matches;
  size_t matching_lines;
  size_t badlines;
};

static size_t
count_lines (char const *p, char const *lim)
{
  size_t n = 0;
  while ((p = memchr (p, '\n', lim - p)))
    {
      n++;
      p++;
    }
  return n;
}

static void
print_match (struct totals const *t, size_t line, size_t pos,
             char const *s, size_t n)
{
  printf ("%zu:%zu:", t->lines + line + 1, t->bytes + pos);
  fwrite (s, 1, n, stdout);
  putchar ('\n');
}

/* Blank out the bytes at POS that are no UTF-8, so that the search of the
   buffer can go on. */
static void
zap_invalid (char *p, size_t pos, size_t len)
{
  do
    p[pos++] = '?';
  while (pos < len && ((unsigned char) p[pos] & 0xc0) == 0x80);
}

/* Search the LEN bytes at P, whole lines all of them.  */
static void
search_buffer (struct pcre_comp *pc, char *p, size_t len, struct totals *t)
{
  size_t start = 0;
  size_t line = 0, counted = 0;
  size_t last_line = SIZE_MAX;
  while (start < len)
    {
      int e = jit_exec (pc, p, len, start, 0);
      if (e == PCRE2_ERROR_NOMATCH)
        break;
      if (e <= PCRE2_ERROR_UTF8_ERR1 && e >= PCRE2_ERROR_UTF8_ERR21)
        {
          zap_invalid (p, pcre2_get_startchar (pc->data), len);
          t->badlines++;
          continue;
        }
      if (e < 0)
        die ("search", "matcher failed");
      PCRE2_SIZE *sub = pcre2_get_ovector_pointer (pc->data);
      line += count_lines (p + counted, p + sub[0]);
      counted = sub[0];
      if (line != last_line)
        {
          t->matching_lines++;
          last_line = line;
        }
      print_match (t, line, sub[0], p + sub[0], sub[1] - sub[0]);
      tally_host (p + sub[4], sub[5] - sub[4]);
      t->matches++;
      start = sub[1] > sub[0] ? sub[1] : sub[1] + 1;
    }
  t->lines += line + count_lines (p + counted, p + len);
  t->bytes += len;
}

int
main (int argc, char **argv)
{
  char const *file = argc > 1 ? argv[1] : "chat.log";
  char const *pattern = argc > 2 ? argv[2]
    : "([\\p{L}\\p{N}_.+-]+)@((?:[\\p{L}\\p{N}-]+\\.)+[\\p{L}]{2,})";
  static char outbuf[1 << 16];
  setvbuf (stdout, outbuf, _IOFBF, sizeof outbuf);

  int fd = open (file, O_RDONLY);
  if (fd < 0)
    die (file, strerror (errno));
  struct pcre_comp *pc = Pcompile (pattern, PCRE2_UCP);
  struct totals t = { 0 };
  size_t end;
  while (fillbuf (fd, &end))
    {
      search_buffer (pc, buffer, end, &t);
      consumebuf (end);
    }
  close (fd);
  Pfree (pc);
  print_hosts (25);
  printf ("%zu bytes, %zu lines, %zu matches in %zu lines, %zu repaired\n",
          t.bytes, t.lines, t.matches, t.matching_lines, t.badlines);
  return t.matches == 0;
}
