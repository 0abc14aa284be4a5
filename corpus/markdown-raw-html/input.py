"""Notes; some hold a long paragraph of arrows that look like opened comments."""

import os

os.mkdir("notes")
for number in range(12):
    arrows = 900 if number % 4 == 0 else 10
    with open(f"notes/{number:02}.md", "w") as file:
        for section in range(200):
            file.write(f"## Part {section}\n\nSome *text* with a [link](https://example.com/{section}) and `code`.\n\n")
        file.write("\n".join(f"a<!-- b{step}" for step in range(arrows)) + "\n")
