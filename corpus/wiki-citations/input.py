"""The articles of a wiki, as their authors typed them."""

import os
import random

random.seed(1)
WORDS = "the town lies on a river and has an old church with two towers since it was built by monks in winter of that year".split()
os.mkdir("articles")


def text(count):
    return " ".join(random.choice(WORDS) if random.random() < 0.9 else f"[[{random.choice(WORDS).title()}]]" for _ in range(count))


def source(number):
    return (
        f"<ref>{{{{cite web|url=http://{random.choice(['news', 'archive', 'town'])}.example/{number}|title=''{text(2).title()}''"
        f"|date={{{{date|2014|{random.randrange(1, 13)}}}}}|publisher=[[{random.choice(WORDS).title()}|the {random.choice(WORDS)}]]"
    )


for number in range(60):
    careless = random.choice([0, 3, 7, 8, 8, 8])
    with open(f"articles/{number:03}.wiki", "w") as file:
        file.write(f"{{{{infobox town|name=Town {number}|people={random.randrange(500, 90_000)}|river=[[Rill]]}}}}\n'''Town {number}''' {text(30)}.\n")
        for section in range(6):
            file.write(f"== {text(2).title()} ==\n")
            for line in range(random.randrange(4, 12)):
                file.write(f"* {text(random.randrange(10, 40))}.")
                if line == 1 and careless > section:
                    file.write(source(line) + "}" + "</ref>")
                elif line == 2 and careless > section + 6:
                    file.write(source(line) + "</ref>")
                elif random.random() < 0.6:
                    file.write(source(line) + "}}</ref>")
                file.write("\n")
