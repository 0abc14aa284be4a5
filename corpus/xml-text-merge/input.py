"""Articles; some hold a listing whose every line is a CDATA section of its own, as converters write them."""

import os

os.mkdir("articles")
for number in range(12):
    lines = 9_000 if number % 4 == 0 else 50
    with open(f"articles/{number:02}.xml", "w") as file:
        file.write("<article>")
        for section in range(300):
            file.write(f"<h>Section {section}</h><p>{'some words of a paragraph ' * 20}</p>\n")
        file.write("<listing>")
        for line in range(lines):
            file.write(f"<![CDATA[if (a < {line} && b > {line}) return {line};]]>\n")
        file.write("</listing></article>\n")
