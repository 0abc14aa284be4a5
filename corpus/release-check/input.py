"""A repository with the packages of a site: some code and the pictures that belong to it."""

import os
import random
import subprocess

random.seed(1)
os.mkdir("site")
for package in range(12):
    folder = f"site/package{package:02}"
    os.makedirs(f"{folder}/pictures")
    with open(f"{folder}/VERSION", "w") as file:
        file.write("1.4.0\n")
    for module in range(30):
        with open(f"{folder}/module{module}.js", "w") as file:
            for line in range(60):
                file.write(f"export const value{line} = {random.randrange(1000)} * scale + offset[{line}];\n")
    for picture in range(14):
        with open(f"{folder}/pictures/picture{picture}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + random.randbytes(random.randrange(300_000, 700_000)))
for folder, _, names in os.walk("site"):
    for name in names:
        # Older than the index, so that git trusts what the index says of them.
        os.utime(f"{folder}/{name}", (1_700_000_000, 1_700_000_000))
git = ["git", "-C", "site", "-c", "user.name=Site", "-c", "user.email=site@example.org", "-c", "core.autocrlf=false", "-c", "gc.auto=0"]
subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
subprocess.run([*git, "add", "."], check=True)
subprocess.run([*git, "commit", "--quiet", "--message=Release 1.4.0"], check=True)
