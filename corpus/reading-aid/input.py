"""The words of a school book with the lesson of each, made of the 46 characters of a syllabary and 190 word characters, and stories."""

import random

random.seed(1)
syllables = [chr(code) for code in range(0x3041, 0x3041 + 92, 2)]
characters = [chr(code) for code in sorted(random.sample(range(0x4E00, 0x9FA0), 190))]
words = set()
while len(words) < 6_000:
    word = "".join(random.choice(characters) for _ in range(random.randrange(1, 4)))
    words.add(word + "".join(random.choice(syllables) for _ in range(random.randrange(3))))
words = sorted(words)
random.shuffle(words)
with open("words.txt", "w", encoding="utf-8") as file:
    for number, word in enumerate(words):
        file.write(f"{number // 80 + 1} {word}\n")
with open("stories.txt", "w", encoding="utf-8") as file:
    for _ in range(110_000):
        file.write("".join(random.choice(words) + random.choice(["", "", random.choice(syllables), "。"]) for _ in range(20)) + "\n")
