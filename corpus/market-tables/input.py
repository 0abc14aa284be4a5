"""The price tables of a market, one page a day; each price has a line with a note below it."""

import random

random.seed(1)
GOODS = "Apples Barley Cocoa Dates Eggs Figs Ginger Hops Indigo Jute Kale Lemons Maize Nuts Oats Pepper Quinces Rice Sugar Tea".split()
for day in range(1, 4):
    with open(f"day{day}.html", "w") as file:
        file.write(f"<html><head><title>Prices</title></head><body><h1>Prices of 2025-03-{day:02}</h1>\n<table class='prices'>\n")
        file.write("<thead><tr><th>Article</th><th>Place</th><th>Unit</th><th>Price</th></tr></thead>\n<tbody>\n")
        for number in range(3600):
            good = random.choice(GOODS)
            file.write(
                f"<tr><td>{good} {number}</td><td>Hall {random.randrange(1, 9)}</td><td>100 kg</td><td>{random.randrange(1000, 900_000) / 100:,.2f}</td></tr>\n"
                f"<tr class='note'><td colspan='4'>seen by <a href='/traders/{random.randrange(10_000)}'>a trader</a></td></tr>\n"
            )
        file.write("</tbody></table></body></html>\n")
