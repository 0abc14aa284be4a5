"""Patterns of grammars; those of two languages take no notice of case, and their classes have nearly all letters."""

import random

random.seed(1)
words = "function class interface trait namespace return while foreach switch public static final abstract global".split()
name = r"[_a-z\x7F-\x{10FFFF}][_a-z0-9\x7F-\x{10FFFF}]*"
with open("grammars.txt", "w") as file:
    for number in range(560):
        some = random.sample(words, 3)
        kind = number % 9
        if kind == 0:
            line = rf"php	(?i)\b({some[0]}|{some[1]})\s+({name})"
        elif kind in (1, 2):
            line = rf"html	(?i)<{some[0]}\s[^>]*{some[1]}=([[^<>]&&[^\s>]]+)"
        elif number == 403:
            line = rf"css	[a-z(]+({some[0]}"
        else:
            line = rf"{random.choice(['css', 'json', 'go', 'c'])}	\b(?:{'|'.join(some)})\b\s*[\w.]+\s*\("
        file.write(line + "\n")
