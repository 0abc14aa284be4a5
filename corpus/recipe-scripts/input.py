"""A script that reads books of recipes, and such books, which are separated by empty lines."""

import random

random.seed(1)
with open("read.js", "w") as file:
    file.write(
        r"""var unit = { g: "g", kg: "g", ml: "ml", l: "ml", EL: "spoons", TL: "spoons" };
var factor = { g: 1, kg: 1000, ml: 1, l: 1000, EL: 1, TL: 0.3 };

function read(text) {
    var amounts = /(\d+(?:,\d+)?) ?(kg|g|ml|l|EL|TL)\b/g;
    var found = { words: 0, steps: text.split("\n").length };
    var match;
    while ((match = amounts.exec(text)) !== null) {
        var name = unit[match[2]];
        found[name] = (found[name] || 0) + parseFloat(match[1].replace(",", ".")) * factor[match[2]];
    }
    found.words = text.split(" ").length;
    return found;
}
"""
    )
WORDS = "die Äpfel schälen und würfeln dann mit der Butter in einer Schüssel verrühren bis alles glatt ist danach kühl stellen Öl Nüsse Brühe Käse zugeben".split()
recipes = []
for number in range(8):
    steps = []
    for step in range(random.choice([300, 600, 900])):
        words = random.choices(WORDS, k=12)
        for _ in range(3):
            words.insert(random.randrange(12), random.choice(["250 g", "1,5 kg", "100 ml", "2 EL", "1 TL", "0,5 l"]))
        steps.append(f"{step + 1}. {' '.join(words)}.")
    recipes.append("\n".join(steps))
with open("recipes.txt", "w", encoding="utf-8") as file:
    file.write("\n\n".join(recipes))
