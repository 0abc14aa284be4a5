import random
random.seed(332)
syl = "an ar be co da el fi go ha in jo ka li ma no or pa qu ri sa to un va we xi yo ze st ch ing er ment".split()
vocab = sorted({"".join(random.choice(syl) for _ in range(random.randint(2, 4))) for _ in range(6000)})
random.shuffle(vocab)
w = lambda: vocab[min(int(random.expovariate(1 / 500.0)), len(vocab) - 1)]
hosts = ["%s.%s" % (w(), random.choice(["com", "org", "net", "io", "de"])) for _ in range(900)]
with open("history.tsv", "w") as f:
    for _ in range(3000):
        h = hosts[min(int(random.expovariate(1 / 150.0)), 899)]
        path = "/".join(w() for _ in range(random.randint(1, 4)))
        url = "%s://%s%s/%s%s" % (random.choice(["http", "https"]), random.choice(["", "www."]), h, path,
                                  random.choice(["", "?q=%s%%20%s&id=%d" % (w(), w(), random.randint(1, 9999))]))
        title = " ".join(w().capitalize() for _ in range(random.randint(3, 8)))
        f.write("%s\t%s\t%d\t%d\t%d\n" % (url, title, int(random.expovariate(0.2)) + 1, int(random.expovariate(1)), 16000 - int(random.expovariate(1 / 60.0))))
with open("queries.txt", "w") as f:
    for _ in range(680):
        f.write(" ".join(w() for _ in range(random.randint(1, 3))) + "\n")
