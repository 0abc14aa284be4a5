"""Configuration files: ordinary ones, and some with deeply nested lists."""

import os

os.mkdir("config")
for number in range(120):
    lines = [f"name: service-{number}", "ports:"]
    lines += [f"  - {{name: port-{port}, number: {8000 + port}}}" for port in range(200)]
    depth = 9_500 if number % 4 == 0 else 5
    lines.append("rules: " + "[" * depth + "allow" + "]" * depth)
    with open(f"config/{number:02}.yaml", "w") as file:
        file.write("\n".join(lines) + "\n")
