"""Replays the history of a tracker of security advisories: for every package and release, when did each advisory change its state?

The tracker is a git repository with one text file for each advisory. The tool lists every commit with the files it touched, parses
each of these versions, compares it with the version before, and prints how long advisories stayed open.
"""
import re
import subprocess
import sys
import zlib
from collections import Counter, defaultdict

OPEN_STATES = {"needs-triage", "needed", "pending", "deferred"}
STATE_LINE = re.compile(r"^(?P<release>[a-z]+)_(?P<package>[a-z0-9.+-]+):\s+(?P<state>[a-z-]+)(?:\s+\((?P<note>[^)]*)\))?$")
VERSION = re.compile(r"(\d+)\.(\d+)-(\d+)ubuntu(\d+)")


class Advisory:
    __slots__ = ("name", "priority", "description", "references", "states")

    def __init__(self, name):
        self.name = name
        self.priority = "untriaged"
        self.description = []
        self.references = []
        self.states = {}


def parse_version(note):
    found = VERSION.search(note or "")
    return tuple(int(x) for x in found.groups()) if found else ()


def parse_advisory(name, text):
    advisory = Advisory(name)
    section = None
    for line in text.splitlines():
        if line.startswith(" "):
            if section == "Description":
                advisory.description.append(line.strip())
            elif section == "References":
                advisory.references.append(line.strip())
            continue
        found = STATE_LINE.match(line)
        if found:
            key = (found["release"], found["package"])
            advisory.states[key] = (found["state"], parse_version(found["note"]))
            continue
        field, _, value = line.partition(":")
        section = field
        if field == "Priority":
            advisory.priority = value.strip()
    return advisory


class Repository:
    """Reads from a bare git repository."""

    def __init__(self, path):
        self.git = ["git", f"--git-dir={path}"]
        self.batch = subprocess.Popen(self.git + ["cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def changes(self, branch, folder):
        """Yields (commit, time, [paths]) from the oldest commit on."""
        out = subprocess.run(
            self.git + ["log", "--reverse", "--format=commit %H %ct", "--name-only", branch, "--", folder],
            check=True, capture_output=True, text=True).stdout
        commit, when, paths = None, 0, []
        for line in out.splitlines():
            if line.startswith("commit "):
                if commit:
                    yield commit, when, paths
                _, commit, when = line.split()
                when, paths = int(when), []
            elif line:
                paths.append(line)
        if commit:
            yield commit, when, paths

    def read_file(self, commit, path):
        self.batch.stdin.write(f"{commit}:{path}\n".encode("utf-8"))
        self.batch.stdin.flush()
        header = self.batch.stdout.readline().split()
        if len(header) != 3:
            raise KeyError(f"{commit}:{path}")
        body = self.batch.stdout.read(int(header[2]))
        self.batch.stdout.read(1)
        return body.decode("utf-8")

    def close(self):
        self.batch.stdin.close()
        self.batch.wait()


class Timeline:
    """Collects what happened to every (advisory, release, package)."""

    def __init__(self):
        self.opened = {}
        self.closed_after = defaultdict(list)
        self.transitions = Counter()
        self.reopened = Counter()
        self.priority_changes = Counter()
        self.words = Counter()
        self.version_steps = 0

    def record_transition(self, advisory, key, before, after, when):
        release, package = key
        self.transitions[before, after] += 1
        slot = (advisory.name, release, package)
        if after in OPEN_STATES:
            if before is not None and before not in OPEN_STATES:
                self.reopened[package] += 1
            self.opened.setdefault(slot, when)
        elif slot in self.opened:
            self.closed_after[package].append(when - self.opened.pop(slot))

    def apply(self, previous, advisory, when):
        old = previous.states if previous else {}
        for key, (state, version) in advisory.states.items():
            before, old_version = old.get(key, (None, ()))
            if state != before:
                self.record_transition(advisory, key, before, state, when)
            elif version != old_version:
                self.version_steps += 1
        if previous and previous.priority != advisory.priority:
            self.priority_changes[previous.priority, advisory.priority] += 1
        if previous is None:
            for line in advisory.description:
                self.words.update(line.split())


def shingles(advisory, length=3):
    words = " ".join(advisory.description).split()
    return {tuple(words[i:i + length]) for i in range(len(words) - length + 1)}


def similar_pairs(latest, threshold=0.012):
    """Pairs of advisories whose descriptions share many runs of words; they are often about the same bug."""
    sets = [(name, shingles(latest[name])) for name in sorted(latest)]
    pairs = []
    for i, (name, mine) in enumerate(sets):
        for other, theirs in sets[:i]:
            common = len(mine & theirs)
            if common and common / (len(mine) + len(theirs) - common) >= threshold:
                pairs.append((common, other, name))
    return sorted(pairs, key=lambda p: (-p[0], p[1:]))


def days(seconds):
    return seconds / 86400


def summarise(values):
    values = sorted(values)
    return values[len(values) // 2], values[-1], sum(values) / len(values)


def print_report(timeline, latest, versions, checksum, out=sys.stdout):
    print(f"{versions} versions of {len(latest)} advisories, checksum {checksum:08x}", file=out)
    print("days until closed (median, longest, mean), reopened:", file=out)
    for package in sorted(timeline.closed_after):
        median, longest, mean = summarise(timeline.closed_after[package])
        print(f"  {package:<12} {days(median):7.1f} {days(longest):7.1f} {days(mean):7.1f} {timeline.reopened[package]:5d}", file=out)
    still_open = Counter(latest[name].priority for name, _, _ in timeline.opened)
    print("still open:", ", ".join(f"{p} {n}" for p, n in sorted(still_open.items())), file=out)
    print("most frequent transitions:", file=out)
    for (before, after), n in sorted(timeline.transitions.items(), key=lambda x: (-x[1], str(x[0])))[:12]:
        print(f"  {before or '-':>14} -> {after:<14} {n}", file=out)
    print("versions changed", timeline.version_steps, "priorities changed", sum(timeline.priority_changes.values()), file=out)
    pairs = similar_pairs(latest)
    print(len(pairs), "similar pairs:", ", ".join(f"{a}/{b}" for _, a, b in pairs[:4]), file=out)
    print("words:", ", ".join(w for w, _ in sorted(timeline.words.items(), key=lambda x: (-x[1], x[0]))[:10]), file=out)


def replay(repository, branch, folder):
    timeline = Timeline()
    latest = {}
    versions = checksum = 0
    for commit, when, paths in repository.changes(branch, folder):
        for path in sorted(paths):
            text = repository.read_file(commit, path)
            checksum = zlib.crc32(text.encode("utf-8"), checksum)
            name = path.rsplit("/", 1)[-1]
            advisory = parse_advisory(name, text)
            timeline.apply(latest.get(name), advisory, when)
            latest[name] = advisory
            versions += 1
    return timeline, latest, versions, checksum


def main():
    repository = Repository(sys.argv[1] if len(sys.argv) > 1 else "data/advisories.git")
    try:
        print_report(*replay(repository, "master", "active"))
    finally:
        repository.close()


if __name__ == "__main__":
    main()
