"""The packages of a small distribution and what each needs."""

import random

random.seed(1)
count = 1_100
names = [f"{random.choice(['lib', 'py3-', 'go-', ''])}{random.choice(['json', 'net', 'crypt', 'ui', 'store'])}{number}" for number in range(count)]
with open("packages.txt", "w") as file:
    for number in random.sample(range(count), count):
        needs = {names[min(random.randrange(number), random.randrange(number))] for _ in range(random.randrange(5))} if number else set()
        if number % 150 == 149 and number + 1 < count:
            needs.add(names[number + 1])
        if number % 150 == 0 and number:
            needs.add(names[number - 1])
        file.write(f"{names[number]}: {' '.join(sorted(needs))}\n")
