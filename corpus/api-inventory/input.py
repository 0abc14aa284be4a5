"""Examples of a documentation: short pieces of Rust."""

import random

random.seed(1)
verbs = ["open", "read", "write", "merge", "split", "count", "check", "close"]
things = ["file", "table", "index", "order", "user", "page", "event", "report"]
examples = []
for number in range(29_000):
    code = [f"page{number % 60:02}"]
    name = f"{random.choice(verbs)}_{random.choice(things)}"
    code.append(f"{random.choice(['pub ', ''])}fn {name}(path: &str) -> usize {{")
    for line in range(random.randrange(1, 4)):
        code.append(f"    let value{line} = {random.choice(verbs)}(path, {random.randrange(100)});")
    code.append("    value0\n}\n")
    examples.append("\n".join(code))
with open("snippets.txt", "w") as file:
    file.write("----\n".join(examples))
