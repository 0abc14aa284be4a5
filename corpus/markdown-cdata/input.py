"""A document of ordinary sections, then a paragraph of a broken export: CDATA sections that are opened only."""

with open("notes.md", "w") as file:
    for section in range(2_000):
        file.write(f"## Part {section}\n\nSome *text* with a [link](https://example.com/{section}) and `code`.\n\n")
    file.write("The export:\n" + "\n".join(f"field {field}: <![CDATA[value {field}" for field in range(11_000)) + "\n")
