"""A repository with two branches: one moves a folder of many files, the other changes some of them."""

import subprocess

FILES = 9_000


def commit(branch: str, mark: int, parent: str, changes: list[str]) -> str:
    who = "A <a@example.com> 1600000000 +0000"
    head = f"commit refs/heads/{branch}\nmark :{mark}\nauthor {who}\ncommitter {who}\ndata 4\nwork{parent}\n"
    return head + "".join(changes) + "\n"


def blob(path: str, text: str) -> str:
    return f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"


names = [f"part{number % 30}/file{number}.c" for number in range(FILES)]
base = [blob(f"src/{name}", f"int f_{name.replace('/', '_')};\n") for name in names]
stream = commit("base", 1, "", base)
stream += commit("ours", 2, "\nfrom :1", ["R src lib\n"])
stream += commit("theirs", 3, "\nfrom :1", [blob(f"src/{name}", "int changed;\n") for name in names[:20]])
subprocess.run(["git", "init", "--quiet", "--bare", "repo.git"], check=True)
subprocess.run(["git", "-C", "repo.git", "fast-import", "--quiet"], input=stream, text=True, check=True)
