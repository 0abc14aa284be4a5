"""A letter of some paragraphs, each one line, and the keys of a user: letters, and < ^ _ | for backspace, up, down and enter."""

import random

random.seed(1)
words = "we were glad to hear from you again after so long and hope that all is well at the house by the lake this summer".split()


def sentence() -> str:
    return " ".join(random.choice(words) for _ in range(random.randrange(6, 18))).capitalize() + "."


with open("letter.txt", "w") as file:
    for _ in range(8):
        file.write(" ".join(sentence() for _ in range(random.randrange(6, 11))) + "\n")
with open("keys.txt", "w") as file:
    for _ in range(2):
        file.write("^" * random.randrange(0, 4) + sentence() + "<" * random.randrange(0, 8) + sentence() + random.choice(["", "|"]) + "_")
    file.write("\n")
