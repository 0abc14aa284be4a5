"""Letters from one template, which is read again for each."""
import hashlib, os, string, sys, tempfile

fixed = sys.argv[1:] == ["fixed"]
kept = {}


def template(path):
    if fixed and path in kept:
        return kept[path]
    with open(path) as file:
        kept[path] = string.Template(file.read())
    return kept[path]


folder = tempfile.mkdtemp()
path = os.path.join(folder, "letter.txt")
with open(path, "w") as file:
    file.write("Dear $name,\n" + "we thank you for your order of $what. " * 8 + "\n")
digest = hashlib.sha256()
for number in range(6000):
    text = template(path).substitute(name=f"customer {number}", what=f"part {number % 97}")
    digest.update(text.upper().encode())
print(digest.hexdigest())
os.remove(path)
os.rmdir(folder)
