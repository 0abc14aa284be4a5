"""A ledger: the bookings of some accounts."""

import random
import sqlite3

random.seed(1)
database = sqlite3.connect("ledger.db")
database.execute("CREATE TABLE booking (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, day INTEGER NOT NULL, cents INTEGER NOT NULL)")
database.executemany(
    "INSERT INTO booking (account, day, cents) VALUES (?, ?, ?)",
    ((random.randrange(200), number // 500, random.randrange(-90_000, 100_000)) for number in range(1_200_000)),
)
database.commit()
database.close()
