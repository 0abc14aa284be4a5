import os, random, subprocess
random.seed(91)
os.makedirs("data", exist_ok=True)
repo = "data/advisories.git"
subprocess.run(["git", "init", "-q", "--bare", repo], check=True)
RELEASES = ["bionic", "focal", "jammy", "mantic", "noble", "oracular", "plucky"]
PACKAGES = ["openssl", "curl", "linux", "glibc", "systemd", "bind9", "nginx", "postgresql", "python3", "ruby", "php", "vim",
            "qemu", "samba", "tiff", "libxml2", "expat", "git", "sudo", "zlib", "krb5", "freetype", "ffmpeg", "webkit"]
STATES = ["needs-triage", "needed", "pending", "released", "not-affected", "ignored", "deferred"]
WORDS = "an attacker could use this to cause a denial of service or possibly execute arbitrary code by sending crafted input when handling the length of certain headers in memory buffer overflow read use after free".split()

class Advisory:
    def __init__(self, n):
        self.id = f"CVE-{random.randint(2016, 2024)}-{10000 + n}"
        self.priority = random.choice(["low", "medium", "high", "critical"])
        self.text = [" ".join(random.choice(WORDS) for _ in range(12)) for _ in range(random.randint(6, 14))]
        self.refs = [f"https://example.org/bugs/{random.randint(1000, 99999)}" for _ in range(random.randint(1, 6))]
        self.state = {}
        for p in random.sample(PACKAGES, random.randint(2, 5)):
            for r in RELEASES:
                self.state[r, p] = ("needs-triage", "")
    def step(self):
        for k in random.sample(sorted(self.state), random.randint(1, 6)):
            s = random.choice(STATES)
            self.state[k] = (s, f"{random.randint(1, 9)}.{random.randint(0, 20)}-{random.randint(1, 4)}ubuntu{random.randint(1, 9)}" if s in ("released", "pending") else "")
        if random.random() < 0.2:
            self.priority = random.choice(["low", "medium", "high", "critical"])
    def render(self):
        out = [f"Candidate: {self.id}", f"Priority: {self.priority}", "Description:"] + [" " + t for t in self.text] + ["References:"] + [" " + r for r in self.refs]
        for (r, p), (s, note) in sorted(self.state.items()):
            out.append(f"{r}_{p}: {s}" + (f" ({note})" if note else ""))
        return "\n".join(out) + "\n"

pool = [Advisory(n) for n in range(400)]
fi = subprocess.Popen(["git", "--git-dir", repo, "fast-import", "--quiet"], stdin=subprocess.PIPE)
w = lambda s: fi.stdin.write(s.encode())
when, live = 1600000000, 0
for c in range(175):
    when += random.randint(3600, 90000)
    changed = []
    while live < len(pool) and live < (c + 1) * 3:
        changed.append(pool[live]); live += 1
    for a in random.sample(pool[:live], min(live, random.randint(3, 9))):
        a.step()
        if a not in changed:
            changed.append(a)
    msg = f"Update {len(changed)} advisories"
    w(f"commit refs/heads/master\ncommitter Tracker <tracker@example.org> {when} +0000\ndata {len(msg)}\n{msg}\n")
    for a in changed:
        body = a.render()
        w(f"M 100644 inline active/{a.id}\ndata {len(body)}\n{body}\n")
fi.stdin.close()
assert fi.wait() == 0
