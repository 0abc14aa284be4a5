"""New tickets of a help desk."""

import random

random.seed(1)
words = "printer screen does not start after update login mail calendar is slow since monday please help".split()
with open("tickets.txt", "w") as file:
    for _ in range(60):
        text = " ".join(random.choices(words, k=random.randrange(8, 60)))
        file.write(f"{random.choice(['hardware', 'mail', 'accounts'])}\t{text}\n")
