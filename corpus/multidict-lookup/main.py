"""Sums up the amounts of every field of submitted forms; a field may come several times."""

import sys
from pathlib import Path
from urllib.parse import parse_qsl

from multidict import MultiDict


def sums(form: MultiDict) -> dict[str, int]:
    result = {}
    for name in sorted(set(form)):
        result[name] = sum(int(value) for value in form.getall(name))
    return result


for path in sorted(Path(sys.argv[1]).iterdir()):
    form = MultiDict(parse_qsl(path.read_text().strip()))
    totals = sums(form)
    last = max(totals, key=totals.get)
    print(f"{path}: {len(form)} values, {len(totals)} fields, most in {last}: {totals[last]}")
