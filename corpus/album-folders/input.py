"""A collection of photos: years, months, albums. The photos are empty files here. And a list of what to say about it."""

import os

years = range(2012, 2022)
for year in years:
    for month in range(1, 13):
        for album in range(month % 3 + 1):
            folder = f"photos/{year}/{month:02}/album-{album}"
            os.makedirs(folder)
            for number in range(450):
                with open(f"{folder}/{number:04}.jpg", "w"):
                    pass
with open("list.txt", "w") as file:
    file.write("all **/*/\n")
    for year in years:
        file.write(f"{year} {year}/**/*/\n")
    for month in range(1, 13):
        file.write(f"month-{month:02} */{month:02}/**/*/\n")
    for season, months in (("winter", "0[12]"), ("spring", "0[345]"), ("summer", "0[678]"), ("autumn", "09"), ("late-autumn", "1[012]")):
        file.write(f"{season} */{months}/**/*/\n")
    file.write("even 20[12][02468]/**/*/\n")
    file.write("odd 20[12][13579]/**/*/\n")
    file.write("without-years */**/*/\n")
    file.write("without-months */*/**/*/\n")
