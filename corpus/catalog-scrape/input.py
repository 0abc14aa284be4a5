"""The pages of a shop's catalog."""

import os
import random

random.seed(1)
os.mkdir("catalog")
for page in range(400):
    with open(f"catalog/page{page:03}.html", "w") as file:
        file.write(f"<html><head><title>Page {page}</title></head><body><ul>\n")
        for _ in range(100):
            more = random.choice(["", "", "<em class='offer'>offer</em>", "<small class='delivery'>today</small>"])
            price = random.randrange(100, 90_000)
            file.write(
                f"<li class='article'><a class='{random.choice(['name', 'name new'])}'>Article {random.randrange(5000)}</a>"
                f"<b class='maker'>Maker {random.randrange(30):02}</b>"
                f"<span class='{random.choice(['price', 'price reduced'])}'>{price // 100}.{price % 100:02} EUR</span>"
                f"<i class='stock'>{random.choice(['in stock', 'in stock', 'sold out'])}</i>{more}</li>\n"
            )
        file.write("</ul></body></html>\n")
