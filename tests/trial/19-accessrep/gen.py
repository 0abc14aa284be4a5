import random, os
random.seed(19)
os.makedirs("data", exist_ok=True)
with open("data/access.log", "w") as f:
    for i in range(900):
        p = random.choice(["/index.html", "//img//logo.png", "/api/v1/items?id=%d" % i, "/search?q=a//b", "/css/main.css", f"/item/{i%20}"])
        f.write(f"{1700000000+i*600} 10.0.0.{i%250} {random.choice(['GET','GET','POST','OPTIONS'])} {p} {random.choice([200,200,304,404,500])} {random.randrange(99999)}\n")
