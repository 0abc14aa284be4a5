#!/usr/bin/env python3
"""billing - turn a day of usage records into invoice lines and a summary."""
import configparser
import csv
import hashlib
import os
import sys
import tempfile
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


class BillingError(Exception):
    pass


class Tariffs:
    def __init__(self, parser):
        self.parser = parser

    def price(self, plan, kind):
        section = "plan:" + plan
        if not self.parser.has_section(section):
            raise BillingError(f"no plan {plan}")
        return Decimal(self.parser.get(section, kind, fallback="0"))

    def vat(self, country):
        return Decimal(self.parser.get("vat", country, fallback="0.20"))

    def rounding(self):
        return self.parser.getint("general", "rounding_seconds", fallback=60)


def load_tariffs(path):
    parser = configparser.ConfigParser()
    with open(path, encoding="utf-8") as fh:
        parser.read_file(fh)
    if not parser.has_section("general"):
        raise BillingError(f"{path}: no [general] section")
    return Tariffs(parser)


class Biller:
    def __init__(self, tariff_path):
        self.tariff_path = tariff_path
        self.totals = defaultdict(Decimal)
        self.by_country = defaultdict(Decimal)
        self.rejected = 0

    def units(self, record, tariffs):
        amount = int(record["amount"])
        if record["kind"] == "voice":
            step = tariffs.rounding()
            return Decimal(-(-amount // step) * step) / 60
        if record["kind"] == "data":
            return Decimal(amount) / 1024
        return Decimal(amount)

    def rate(self, record):
        tariffs = load_tariffs(self.tariff_path)
        net = tariffs.price(record["plan"], record["kind"]) * self.units(record, tariffs)
        gross = net * (1 + tariffs.vat(record["country"]))
        return net.quantize(CENT, ROUND_HALF_UP), gross.quantize(CENT, ROUND_HALF_UP)

    def add(self, record):
        try:
            net, gross = self.rate(record)
        except (BillingError, ValueError):
            self.rejected += 1
            return None
        self.totals[record["customer"]] += gross
        self.by_country[record["country"]] += gross - net
        return [record["customer"], record["kind"], str(net), str(gross)]


def read_usage(path):
    with open(path, newline="", encoding="utf-8") as fh:
        yield from csv.DictReader(fh)


def write_lines(lines):
    fd, name = tempfile.mkstemp(prefix="billing-", suffix=".csv")
    with os.fdopen(fd, "w", newline="", encoding="utf-8") as fh:
        csv.writer(fh).writerows(lines)
    with open(name, "rb") as fh:
        digest = hashlib.sha256(fh.read()).hexdigest()
    os.unlink(name)
    return digest


def main(argv):
    base = argv[1] if len(argv) > 1 else "data"
    biller = Biller(os.path.join(base, "tariffs.ini"))
    lines = []
    for record in read_usage(os.path.join(base, "usage.csv")):
        line = biller.add(record)
        if line:
            lines.append(line)
    digest = write_lines(lines)
    top = sorted(biller.totals.items(), key=lambda kv: (-kv[1], kv[0]))[:10]
    for customer, total in top:
        print(f"{customer:<12} {total:>12}")
    for country, vat in sorted(biller.by_country.items()):
        print(f"vat {country}: {vat}")
    print(f"{len(lines)} lines, {biller.rejected} rejected, sha256 {digest[:16]}")


if __name__ == "__main__":
    main(sys.argv)
