"""The events that a code host sent to a web hook."""

import json
import random

random.seed(1)
WORDS = "fix add remove the a test for cache of reader when file is empty again speed up build on new machine".split()


def person(number: int) -> dict:
    name = f"person{number}"
    return {"login": name, "id": number * 7919, "url": f"https://code.example/api/users/{name}", "avatar": f"https://code.example/avatars/{number}.png", "admin": number % 9 == 0}


with open("events.jsonl", "w") as file:
    for number in range(34_000):
        files = [{"path": f"src/part{random.randrange(30)}/file{random.randrange(200)}.c", "added": random.randrange(90), "removed": random.randrange(60), "hunks": [[random.randrange(900), random.randrange(20), random.randrange(20)] for _ in range(random.randrange(9))]} for _ in range(random.randrange(4, 24))]
        event = {
            "id": number,
            "action": random.choice(["opened", "merged", "closed", "commented"]),
            "request": {
                "number": number * 3 % 5000, "title": " ".join(random.choices(WORDS, k=7)), "author": person(random.randrange(200)),
                "reviewers": [person(random.randrange(200)) for _ in range(random.randrange(4))], "files": files, "draft": random.random() < 0.1,
                "text": " ".join(random.choices(WORDS, k=random.randrange(20, 90))),
            },
            "repository": {"name": f"tool{random.randrange(25)}", "owner": person(3), "stars": random.randrange(4000), "private": False},
            "sender": person(random.randrange(200)),
            "sent": f"2021-05-{1 + number // 1250:02}T{number % 24:02}:{random.randrange(60):02}:00Z",
        }
        event["totals"] = {"added": sum(one["added"] for one in files), "removed": sum(one["removed"] for one in files), "files": len(files)}
        file.write(json.dumps(event) + "\n")
