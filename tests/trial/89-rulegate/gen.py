import os, random, urllib.parse
random.seed(89)
os.makedirs("data", exist_ok=True)
verbs = "select union insert update delete drop exec alter create merge".split()
tags = "script iframe object embed svg form meta link base style".split()
funcs = "eval system passthru popen assert include require base64_decode fopen phpinfo".split()
paths = "etc proc windows boot root var wp-admin .git .env cgi-bin".split()
words = "order customer page color size price name title summer shoes blue list view item sort date filter city street phone note comment hello thanks".split()
rules = []
for i in range(150):
    kind = i % 5
    if kind == 0:
        p = rf"\b{random.choice(verbs)}\b\s+(?:all\s+|distinct\s+)?[\w,*\s]{{1,40}}\b(?:from|into|table|set)\b\s+\w{{{random.randrange(1, 4)},}}"
    elif kind == 1:
        p = rf"<\s*{random.choice(tags)}\b[^>]{{0,{random.randrange(20, 90)}}}(?:src|href|on(?:load|error|click))\s*=\s*[\"']?"
    elif kind == 2:
        p = rf"(?:^|[;&|`]\s*){random.choice(funcs)}\s*\(\s*(?:\$_(?:GET|POST|COOKIE)|[\"'][^\"']{{1,{random.randrange(10, 60)}}}[\"'])"
    elif kind == 3:
        p = rf"(?:\.\.[/\\]){{{random.randrange(1, 4)},}}(?:{random.choice(paths)}|{random.choice(paths)})(?:[/\\]|$)"
    else:
        p = rf"(?:['\"]\s*(?:or|and)\s+['\"]?\d{{1,{random.randrange(2, 6)}}}['\"]?\s*=\s*['\"]?\d+|--\s*$|/\*.{{0,{random.randrange(5, 50)}}}\*/)"
    target = random.choice(["ARGS", "ARGS", "URI", "AGENT"])
    rules.append(f"{900000 + i}\t{target}\t{random.randrange(2, 6)}\t{p}\n")
open("data/rules.conf", "w").writelines(rules)
bad = ["1' or '1'='1", "union select name from users", "<script src=//x>", "../../etc/passwd", "system('ls -la')", "1 /* x */ --"]
agents = ["Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/115.0", "curl/7.88.1", "Mozilla/5.0 (iPhone; CPU iPhone OS 16_5) AppleWebKit/605.1"]
with open("data/requests.log", "w") as f:
    for r in range(9500):
        args = {random.choice(words) + str(random.randrange(9)): " ".join(random.choice(words) for _ in range(random.randrange(1, 12))) for _ in range(random.randrange(1, 5))}
        if random.random() < 0.06:
            args["q"] = random.choice(bad)
        f.write(f"10.0.{random.randrange(4)}.{random.randrange(1, 60)}\tGET\t/{random.choice(words)}/{random.choice(words)}?{urllib.parse.urlencode(args)}\t{random.choice(agents)}\n")
