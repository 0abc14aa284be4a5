"""Pages whose `font` elements carry generated attributes: a few each, on some pages very many."""

import os

os.mkdir("pages")
for number in range(12):
    count = 1_600 if number % 3 == 0 else 4
    attributes = " ".join(f"data-field-{field}='{field * 7}'" for field in range(count))
    parts = [f"<!doctype html><title>Page {number}</title><body>"]
    for section in range(40):
        parts.append(f"<p><font {attributes}>Section {section}, <a href='/{number}/{section}'>more</a>")
    with open(f"pages/{number:02}.html", "w") as file:
        file.write("".join(parts))
