"""shiprates: works out what shipping costs for a file of orders, by the rates in an INI file, and prints a summary."""
import configparser
import csv
import hashlib
import os
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal, ROUND_HALF_UP

HERE = os.path.dirname(os.path.abspath(__file__))


class ShippingError(Exception):
    pass


@dataclass
class Order:
    number: str
    zone: str
    carrier: int
    kg: Decimal
    value: Decimal


@dataclass
class Totals:
    orders: int = 0
    refused: int = 0
    cost: Decimal = Decimal(0)
    per_carrier: dict = field(default_factory=lambda: defaultdict(Decimal))


def load_settings(path):
    """The parsed settings."""
    parser = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    with open(path) as f:
        parser.read_file(f)
    return parser


class RateBook:
    def __init__(self, path):
        self.path = path

    @property
    def settings(self):
        return load_settings(self.path)

    def get(self, section, option):
        try:
            return Decimal(self.settings.get(section, option))
        except configparser.NoSectionError:
            raise ShippingError(f"unknown zone {section}") from None
        except configparser.NoOptionError:
            raise ShippingError(f"no {option} in {section}") from None

    def price(self, order):
        section = "zone:" + order.zone
        if order.kg > self.get(section, "max_kg"):
            raise ShippingError("too heavy")
        cost = self.get(section, "base") + order.kg * self.get(section, "per_kg")
        cost *= self.get(section, f"carrier_{order.carrier}")
        cost *= 1 + self.get("general", "fuel_surcharge") / 100
        step = self.get("general", "round_to")
        return (cost / step).quantize(Decimal(1), ROUND_HALF_UP) * step


def read_orders(path):
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            yield Order(row["order"], row["zone"], int(row["carrier"]), Decimal(row["kg"]), Decimal(row["value"]))


def process(orders, book):
    zones = defaultdict(Totals)
    digest = hashlib.sha256()
    for order in orders:
        t = zones[order.zone]
        t.orders += 1
        try:
            cost = book.price(order)
        except ShippingError as e:
            t.refused += 1
            digest.update(f"{order.number} {e}\n".encode())
            continue
        if order.value > 500 and order.zone == "domestic":
            cost = Decimal(0)  # free of charge
        t.cost += cost
        t.per_carrier[order.carrier] += cost
        digest.update(f"{order.number} {cost:.2f}\n".encode())
    return zones, digest.hexdigest()


def print_report(zones, digest, out=sys.stdout):
    for name in sorted(zones):
        t = zones[name]
        best = max(t.per_carrier.items(), key=lambda kv: (kv[1], kv[0]))
        print(f"{name:<10} orders {t.orders:5} refused {t.refused:4} cost {t.cost:12.2f} top carrier {best[0]}", file=out)
    print("digest", digest[:16], file=out)


def main(argv):
    orders = argv[1] if len(argv) > 1 else os.path.join(HERE, "data", "orders.csv")
    book = RateBook(os.path.join(HERE, "data", "rates.ini"))
    zones, digest = process(read_orders(orders), book)
    print_report(zones, digest)


if __name__ == "__main__":
    main(sys.argv)
