import os, random, sqlite3
random.seed(83)
os.makedirs("data", exist_ok=True)
if os.path.exists("data/library.db"):
    os.remove("data/library.db")
db = sqlite3.connect("data/library.db")
db.executescript("""
create table albums (id integer primary key, album text, albumartist text, year integer, genre text, label text, country text);
create table items (id integer primary key, album_id integer, title text, artist text, track integer, disc integer,
                    length real, bitrate integer, format text, path text, added integer);
create table item_attributes (id integer primary key, entity_id integer, key text, value text, unique (entity_id, key));
create table album_attributes (id integer primary key, entity_id integer, key text, value text, unique (entity_id, key));
""")
words = "night river stone glass wild blue paper echo summer winter low high broken silver garden signal static velvet north line".split()
def name(n):
    return " ".join(random.choice(words).title() for _ in range(n))
genres = ["rock", "jazz", "folk", "electronic", "classical", "metal"]
moods = ["calm", "dark", "happy", "driving"]
artists = [name(2) for _ in range(700)]
item = attr = aattr = 0
for a in range(1, 12601):
    artist = random.choice(artists)
    db.execute("insert into albums values (?,?,?,?,?,?,?)", (a, name(random.randrange(1, 4)), artist, random.randrange(1960, 2024), random.choice(genres), name(1) + " Records", random.choice(["US", "GB", "DE", "JP"])))
    for key in random.sample(["data_source", "rating", "shelf"], random.randrange(0, 3)):
        aattr += 1
        db.execute("insert into album_attributes values (?,?,?,?)", (aattr, a, key, str(random.randrange(10))))
    for t in range(1, random.randrange(7, 16)):
        item += 1
        db.execute("insert into items values (?,?,?,?,?,?,?,?,?,?,?)", (item, a, name(random.randrange(1, 5)), artist if random.random() < 0.9 else random.choice(artists), t, 1,
                   round(random.uniform(90, 500), 2), random.choice([128, 192, 256, 320]) * 1000, random.choice(["MP3", "FLAC", "OGG"]), f"/m/{a}/{t:02}.x", 1500000000 + item * 37))
        for key, value in (("mood", random.choice(moods)), ("play_count", str(random.randrange(200))), ("bpm", str(random.randrange(60, 190)))):
            if random.random() < 0.75:
                attr += 1
                db.execute("insert into item_attributes values (?,?,?,?)", (attr, item, key, value))
db.commit()
db.close()
