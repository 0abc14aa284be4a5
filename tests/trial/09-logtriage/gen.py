import random, os
random.seed(9)
os.makedirs("data", exist_ok=True)
R = [("ssh-fail", 5, r"sshd\[\d+\]: Failed password for (invalid user )?\S+ from (\d{1,3}\.){3}\d{1,3}"),
 ("ssh-ok", 2, r"Accepted (publickey|password) for \w+"),
 ("oom", 7, r"out of memory: kill(ed)? process \d+ \(([^)]+)\)"),
 ("segv", 6, r"segfault at [0-9a-f]+ ip [0-9a-f]+ sp [0-9a-f]+ error \d"),
 ("disk", 6, r"(I/O error|Buffer I/O).*dev \w+, sector \d+"),
 ("cron", 1, r"CRON\[\d+\]: \((\w+)\) CMD \((.*)\)"),
 ("http5xx", 4, r"\"(GET|POST|PUT) [^\"]+ HTTP/1\.[01]\" 5\d\d"),
 ("http4xx", 3, r"\"(GET|POST|PUT) [^\"]+ HTTP/1\.[01]\" 4\d\d"),
 ("http", 1, r"\"(GET|POST|PUT|HEAD) [^\"]+ HTTP/1\.[01]\" [123]\d\d"),
 ("fw", 4, r"\[UFW (BLOCK|AUDIT)\].*SRC=(\S+) DST=(\S+).*DPT=\d+")]
L = ["sshd[{n}]: Failed password for invalid user admin from 10.1.2.{b} port {n}", "sshd[{n}]: Accepted publickey for deploy",
 "kernel: app[{n}]: segfault at {n} ip 00007f sp 00007f error 4", "CRON[{n}]: (root) CMD (run-parts /etc/cron.hourly)",
 'nginx: 10.0.0.{b} "GET /x/{n} HTTP/1.1" 200 512', 'nginx: 10.0.0.{b} "POST /y HTTP/1.1" 503 0', 'nginx: 10.0.0.{b} "GET /z HTTP/1.1" 404 9',
 "systemd[1]: Started session {n} of user deploy.", "kernel: [UFW BLOCK] IN=eth0 SRC=1.2.3.{b} DST=5.6.7.8 LEN=40 DPT=23"]
with open("data/rules.tsv", "w") as f:
    for n, s, p in R: f.write(f"{n}\t{s}\t{p}\n")
with open("data/syslog.txt", "w") as f:
    for i in range(160000):
        f.write(f"2024-03-0{random.randrange(1,9)}T{random.randrange(24):02}:{random.randrange(60):02}:00 host{random.randrange(9)} " + random.choice(L).format(n=random.randrange(30000), b=random.randrange(255)) + "\n")
