"""A ledger in SQLite: one transaction for each row, or one for all."""
import os, sqlite3, sys, tempfile

fixed = sys.argv[1:] == ["fixed"]
folder = tempfile.mkdtemp(dir="/var/tmp")
path = os.path.join(folder, "ledger.db")
database = sqlite3.connect(path, isolation_level=None)
database.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, amount INTEGER, text TEXT)")
if fixed:
    database.execute("BEGIN")
for number in range(400):
    database.execute("INSERT INTO entry VALUES (?, ?, ?)", (number, number * 7 % 1000, f"entry {number}"))
if fixed:
    database.execute("COMMIT")
print(database.execute("SELECT sum(amount) FROM entry").fetchone()[0])
database.close()
for name in os.listdir(folder):
    os.remove(os.path.join(folder, name))
os.rmdir(folder)
