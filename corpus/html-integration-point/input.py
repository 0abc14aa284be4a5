"""Pages with formulas; some have a formula with a long annotation."""

import os

os.mkdir("pages")
for number in range(20):
    parts = [f"<!doctype html><title>Page {number}</title><body>"]
    for section in range(300):
        parts.append(f"<h2>Section {section}</h2><p>See <a href='/note/{number}/{section}'>the note</a> on this.</p>")
    size = 22_000 if number % 4 == 0 else 40
    terms = "".join(f"<mi>x{term}</mi><mo>+</mo>" for term in range(2_000))
    parts.append(f"<math><annotation-xml encoding='{'X' * size}'>{terms}</annotation-xml></math>")
    with open(f"pages/{number:02}.html", "w") as file:
        file.write("".join(parts))
