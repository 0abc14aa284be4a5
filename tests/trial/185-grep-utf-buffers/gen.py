import random
random.seed(18454)
words = ("der Übergang война мир соль naïve façade данные server größe Straße résumé list thread mail "
         "patch commit δοκιμή 日本語 メール テスト and the of please review über für ответ спасибо kernel").split()
names = "jörg anna petr иван söna li.wei otto marie józef k.ono dev build root ops".split()
hosts = ["mail%d.%s.%s" % (i, d, t) for i in range(40) for d in ("example", "köln-net", "почта", "lists-dev") for t in ("org", "com", "de", "рф")]
with open("chat.log", "wb") as f:
    n = 0
    while n < 28_000_000:
        line = "%02d:%02d:%02d " % (n // 3600 % 24, n // 60 % 60, n % 60)
        for _ in range(random.randint(6, 14)):
            r = random.random()
            if r < 0.06:
                line += "<%s@%s> " % (random.choice(names), random.choice(hosts))
            else:
                line += random.choice(words) + " "
        b = line.encode() 
        if random.random() < 0.0005:
            b += b"\xe9t\xe9"
        f.write(b + b"\n")
        n += len(b) + 1
