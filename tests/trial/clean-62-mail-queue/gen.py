import random
random.seed(250)
w = "meeting report tomorrow invoice server update please find attached minutes budget review draft thanks regards".split()
with open("spool.txt", "w") as f:
    for i in range(1000):
        f.write("%%from user%d@example.org\n" % random.randrange(50))
        for _ in range(random.randint(1, 3)):
            f.write("%%to box%d@example.net\n" % random.randrange(200))
        for h in range(random.randint(1, 4)):
            f.write("Received: from mx%d.example.org\n\tby relay%d\n" % (h, i % 9))
        f.write("Subject: %s\nMessage-ID: <%d@example.org>\n\n" % (" ".join(random.choices(w, k=4)), i))
        for _ in range(random.randint(20, 400)):
            f.write(("." if random.random() < .01 else "") + " ".join(random.choices(w, k=random.randint(3, 11))) + "\n")
        f.write("%end\n")
