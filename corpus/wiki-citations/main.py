"""Says which sources the articles of a wiki cite, and how often. Usage: main.py ARTICLES"""

import collections
import pathlib
import sys

import mwparserfromhell


def count(folder):
    sites = collections.Counter()
    for path in sorted(pathlib.Path(folder).iterdir()):
        code = mwparserfromhell.parse(path.read_text())
        cited = [template for template in code.filter_templates() if template.name.matches("cite web")]
        links = code.filter_wikilinks()
        print(f"{path.name}: {len(cited)} sources, {len(links)} links, {len(code.strip_code().split())} words")
        for template in cited:
            if template.has("url"):
                sites[str(template.get("url").value).split("/")[2]] += 1
    return sites


for site, times in sorted(count(sys.argv[1]).items()):
    print(f"{site}: {times}")
