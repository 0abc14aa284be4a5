"""Records of a web server, one JSON object a line."""

import json
import random

random.seed(1)
agents = ["Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0", "Googlebot/2.1 (+http://www.google.com/bot.html)", "feed-reader 1.4"]
with open("access.jsonl", "w") as file:
    for number in range(110_000):
        record = {
            "time": f"2024-03-{number % 28 + 1:02}T{number % 24:02}:00:00Z",
            "path": f"/{random.choice(('shop', 'blog', 'api'))}/v{number % 3}/{number}",
            "agent": random.choice(agents),
        }
        file.write(json.dumps(record) + "\n")
