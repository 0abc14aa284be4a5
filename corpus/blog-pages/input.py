"""A blog's templates and posts."""

import os
import random

random.seed(1)
WORDS = "the sea was calm and we went on to a small harbour where boats lay under old trees while rain came from west".split()
os.mkdir("templates")
with open("templates/post.html", "w") as file:
    file.write(
        "<html><head><title>{{ post.title }} - {{ blog }}</title></head><body>\n"
        "<p>Post {{ number }} of {{ posts | length }}, written {{ post.day }}</p>\n"
        "<h1>{{ post.title | upper }}</h1>\n"
        "{% for paragraph in post.paragraphs %}<p>{{ paragraph }}</p>\n{% endfor %}"
        "{% if number < posts | length %}<a href='{{ number + 1 }}.html'>next</a>{% endif %}\n"
        "<a href='{{ posts | length }}.html'>newest</a>\n"
        "</body></html>\n"
    )
with open("posts.txt", "w") as file:
    for number in range(1200):
        file.write(f"20{10 + number // 100}-{1 + number % 12:02}-{1 + number % 28:02}\t{' '.join(random.sample(WORDS, 4)).title()}\n")
        for _ in range(random.randrange(3, 9)):
            file.write(f"\t{' '.join(random.choices(WORDS, k=random.randrange(20, 60)))}.\n")
