import random, os
random.seed(8)
os.makedirs("data", exist_ok=True)
with open("data/requests.http", "w") as f:
    for i in range(270000):
        p = random.choice(["/", "/a/b.html", "/admin/users", "/img/x.png", "/../etc/passwd", f"/item/{i}"])
        f.write(f"{random.choice(['GET']*9+['TRACE'])} {p} HTTP/1.1\nHost: example.org\n")
        if i % 17: f.write(f"User-Agent: {random.choice(['Mozilla/5.0 (X11)', 'Googlebot/2.1'])}\n")
        f.write("Accept: text/html\nAccept-Language: en\n")
        if i % 3 == 0: f.write("Authorization: Bearer abcdef\n")
        f.write("\n")
