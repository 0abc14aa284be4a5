#!/usr/bin/env python3
"""pagedates - export the pages of a bare wiki repository as one site bundle with their dates."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import datetime, timezone

SECTIONS = ["guide", "reference", "howto", "blog"]


def git(repo, *args, stdin=None):
    proc = subprocess.run(["git", "-C", repo, *args], input=stdin, stdout=subprocess.PIPE, check=True)
    return proc.stdout.decode()


def page_text(section, number, revision):
    words = [f"{section}{(number * k + revision) % 97}" for k in range(1, 60)]
    return f"# {section.title()} page {number}\n\n" + " ".join(words) + f"\n\nrev *{revision}*\n"


def import_history(repo, pages, commits):
    """Make the documentation repository with one fast-import stream."""
    git(repo, "init", "-q", "--bare")
    out = []
    for c in range(commits):
        out.append(f"commit refs/heads/main\ncommitter Docs <docs@example.org> {1700000000 + c * 86400} +0000\n")
        message = f"update {c}"
        out.append(f"data {len(message)}\n{message}\n")
        for n in range(pages):
            if c and (n * 7 + c * 13) % 10 > 2:
                continue
            text = page_text(SECTIONS[n % 4], n, c)
            out.append(f"M 100644 inline {SECTIONS[n % 4]}/page-{n:04d}.md\ndata {len(text)}\n{text}\n")
    git(repo, "fast-import", "--quiet", stdin="".join(out).encode())


def list_pages(repo):
    return [line for line in git(repo, "ls-tree", "-r", "--name-only", "main").splitlines() if line.endswith(".md")]


def read_pages(repo, paths):
    """Yield (path, text) of all pages from one cat-file process."""
    names = "".join(f"main:{p}\n" for p in paths).encode()
    proc = subprocess.run(["git", "-C", repo, "cat-file", "--batch"], input=names, stdout=subprocess.PIPE, check=True)
    data, pos = proc.stdout, 0
    for path in paths:
        end = data.index(b"\n", pos)
        size = int(data[pos:end].split()[2])
        yield path, data[end + 1:end + 1 + size].decode()
        pos = end + size + 2


def last_modified(repo, path):
    stamp = git(repo, "log", "-1", "--format=%ct", "main", "--", path).strip()
    return int(stamp) if stamp else 0


def render(text):
    text = html.escape(text)
    text = re.sub(r"^# (.*)$", r"<h1>\1</h1>", text, flags=re.M)
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    return "".join(f"<p>{p}</p>\n" for p in text.split("\n\n"))


def word_index(text, index, number):
    for word in set(re.findall(r"[a-z]+[0-9]*", text.lower())):
        index.setdefault(word, []).append(number)


def build_page(repo, path, text):
    date = datetime.fromtimestamp(last_modified(repo, path), timezone.utc).date().isoformat()
    return date, render(text) + f"<footer>Last update: {date}</footer>\n"


def build_site(repo, out):
    per_date = Counter()
    index, pages = {}, []
    for path, text in read_pages(repo, list_pages(repo)):
        date, body = build_page(repo, path, text)
        word_index(text, index, len(pages))
        pages.append({"path": path[:-3] + ".html", "date": date, "body": body})
        per_date[date] += 1
    with open(out, "w", encoding="utf-8") as fh:
        json.dump({"pages": pages, "index": index}, fh, sort_keys=True)
    return per_date, len(index), os.path.getsize(out)


def main():
    with tempfile.TemporaryDirectory(prefix="pagedates-") as tmp:
        repo = os.path.join(tmp, "wiki.git")
        os.makedirs(repo)
        import_history(repo, pages=int(sys.argv[1]) if len(sys.argv) > 1 else 800, commits=12)
        per_date, words, size = build_site(repo, os.path.join(tmp, "site.json"))
    for date, n in sorted(per_date.items()):
        print(date, n)
    print(sum(per_date.values()), "pages,", words, "words,", size, "bytes")


if __name__ == "__main__":
    main()
