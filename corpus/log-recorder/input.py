"""A log of some services, about 20 MB."""

import random

random.seed(1)
levels = ["info", "info", "info", "warning", "error"]
with open("services.log", "w") as file:
    for number in range(260_000):
        service = random.choice(("web", "web", "web", "mail", "search"))
        file.write(f"{service} 2024-03-01T10:{number // 60 % 60:02}:{number % 60:02} {random.choice(levels)} request {number} took {random.randrange(900)} ms\n")
