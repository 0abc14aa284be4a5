"""The template of a page, and the sales of a year: some customers buy much."""

import random

random.seed(1)
with open("page.hbs", "w") as file:
    file.write(
        "<h1>Sales to {{name}}</h1>\n<table>\n{{#each sales}}"
        '<tr{{#if reduced}} class="reduced"{{/if}}><td>{{day}}</td><td>{{article}}</td><td>{{count}}</td><td>{{price}}</td></tr>\n'
        "{{/each}}</table>\n<p>{{total}}</p>\n"
    )
with open("sales.csv", "w") as file:
    for customer in range(70):
        for number in range(1_100 if customer % 20 == 0 else random.randrange(5, 150)):
            day = f"2024-{number % 12 + 1:02}-{random.randrange(28) + 1:02}"
            file.write(f"Customer {customer:02},{day},Article {random.randrange(900)},{random.randrange(1, 12)},{random.randrange(100, 90_000)}\n")
