"""A long manuscript in verse and the edits of an afternoon."""

import random

random.seed(1)
words = "the sea and a light over hills where nobody went before us came slowly down to old quiet harbours".split()
size = 0
with open("manuscript.txt", "w") as file:
    for number in range(90_000):
        line = "" if number % 9 == 8 else " ".join(random.choice(words) for _ in range(random.randrange(3, 12)))
        line += random.choice(["", "", "", "", " "]) + "\n"
        size += len(line)
        file.write(line)
with open("edits.txt", "w") as file:
    for edit in range(300):
        file.write(f"{random.randrange(size)} {random.choice(words)} {random.choice(words)} \n")
        if edit % 10 == 9:
            file.write("\n")
