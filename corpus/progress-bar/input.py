"""Many short lines of words."""

import random

random.seed(1)
words = [f"word{number}" for number in range(500)]
with open("words.txt", "w") as file:
    for _ in range(2_500_000):
        file.write(random.choice(words) + "\n")
