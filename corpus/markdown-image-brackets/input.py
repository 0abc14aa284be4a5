"""A document of ordinary sections, then a table of contents whose images are written wrongly: never closed."""

with open("notes.md", "w") as file:
    for section in range(2_000):
        file.write(f"## Part {section}\n\nSome *text* with a [link](https://example.com/{section}) and `code`.\n\n")
    file.write("".join(f"![label {image} was " for image in range(19_000)) + "\n")
