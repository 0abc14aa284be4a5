#!/usr/bin/env python3
"""Makes data/library.db, a music library."""
import os
import random
import sqlite3

rnd = random.Random(8)
os.makedirs("data", exist_ok=True)
if os.path.exists("data/library.db"):
    os.remove("data/library.db")
db = sqlite3.connect("data/library.db")
db.executescript("""
CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, artist TEXT, album TEXT, track INT, year INT,
                    genre TEXT, length REAL, bitrate INT, path BLOB, added REAL);
CREATE TABLE item_attributes (id INTEGER PRIMARY KEY, entity_id INTEGER, key TEXT, value TEXT,
                              UNIQUE(entity_id, key) ON CONFLICT REPLACE);
CREATE INDEX item_attributes_by_entity ON item_attributes (entity_id);
""")
W = ["blue", "night", "river", "stone", "light", "dream", "winter", "road", "glass", "fire", "silver", "echo"]
G = ["rock", "jazz", "folk", "electronic", "classical", "metal", "pop"]
artists = ["The %s %ss" % (rnd.choice(W).title(), rnd.choice(W).title()) for _ in range(400)]
rows, attrs = [], []
for i in range(1, 16501):
    artist = artists[i // 55 % 400]
    album = "%s %s" % (W[i // 11 % 12].title(), W[i // 132 % 12].title())
    title = " ".join(rnd.choice(W) for _ in range(rnd.randint(1, 4))).title()
    year = 1960 + i // 11 * 7 % 64
    rows.append((i, title, artist, album, i % 11 + 1, year, rnd.choice(G), 90 + rnd.random() * 400,
                 rnd.choice([128, 192, 256, 320]) * 1000, ("/music/%s/%s/%02d.mp3" % (artist, album, i % 11 + 1)).encode(),
                 1.6e9 + i))
    if rnd.random() < 0.7:
        attrs.append((i, "play_count", str(int(rnd.expovariate(0.05)))))
    if rnd.random() < 0.4:
        attrs.append((i, "mood", rnd.choice(["calm", "happy", "dark", "wild"])))
    if rnd.random() < 0.5:
        attrs.append((i, "rating", "%.2f" % rnd.random()))
    if rnd.random() < 0.3:
        attrs.append((i, "bpm", str(rnd.randint(60, 180))))
rnd.shuffle(attrs)
db.executemany("INSERT INTO items VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
db.executemany("INSERT INTO item_attributes (entity_id, key, value) VALUES (?,?,?)", attrs)
db.commit()
