"""A list of suffixes of the size and the form of the public one, and the log of a mail server."""

import random

random.seed(1)
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(random.choice(letters) for _ in range(random.randrange(2, 9))) for _ in range(6_000)]
tops = sorted(set(words[:1_400]) | {"com", "org", "net"})
rules = list(tops)
for top in random.sample(tops, 900):
    rules += [f"{word}.{top}" for word in random.sample(words, random.randrange(1, 15))]
with open("suffixes.dat", "w") as file:
    file.write("// ===BEGIN ICANN DOMAINS===\n" + "".join(f"{rule}\n" for rule in dict.fromkeys(rules)) + "// ===END ICANN DOMAINS===\n")
domains = [f"{random.choice(words)}.{random.choice(rules)}" for _ in range(4_000)]
with open("mail.log", "w") as file:
    for number in range(40_000):
        domain = domains[min(random.randrange(4_000), random.randrange(4_000))]
        host = f"{random.choice(['mx1.', 'smtp.', 'out.eu.', ''])}{domain}"
        file.write(f"Mar  1 10:{number // 60 % 60:02}:{number % 60:02} mail smtpd[{number}]: from={random.choice(words)}@{host} size={random.randrange(400, 90_000)} nrcpt=1\n")
