#!/usr/bin/env python3
"""salesrep - join sales with stores and products and print monthly figures and outliers."""
import csv
import os
import statistics
import sys
from collections import defaultdict
from datetime import date
from operator import itemgetter


def read_table(path, key):
    with open(path, newline="", encoding="utf-8") as fh:
        return {row[key]: row for row in csv.DictReader(fh)}


def read_sales(path, stores, products):
    with open(path, newline="", encoding="utf-8") as fh:
        reader = csv.reader(fh)
        next(reader)
        for day, store, product, qty, discount in reader:
            item = products.get(product)
            shop = stores.get(store)
            if item is None or shop is None:
                continue
            gross = int(qty) * float(item["price"])
            yield date.fromisoformat(day), shop["region"], item["group"], gross * (1 - float(discount))


def aggregate(sales):
    monthly = defaultdict(float)
    groups = defaultdict(list)
    weekday = [0.0] * 7
    for day, region, group, value in sales:
        monthly[day.year, day.month, region] += value
        groups[group].append(value)
        weekday[day.weekday()] += value
    return monthly, groups, weekday


def outliers(values, factor=3.5):
    median = statistics.median(values)
    mad = statistics.median(abs(v - median) for v in values) or 1.0
    return [v for v in values if abs(v - median) / (1.4826 * mad) > factor]


def moving_average(series, width):
    out, total = [], 0.0
    for i, v in enumerate(series):
        total += v
        if i >= width:
            total -= series[i - width]
        out.append(total / min(i + 1, width))
    return out


def main(argv):
    base = argv[1] if len(argv) > 1 else "data"
    stores = read_table(os.path.join(base, "stores.csv"), "store")
    products = read_table(os.path.join(base, "products.csv"), "product")
    sales = read_sales(os.path.join(base, "sales.csv"), stores, products)
    monthly, groups, weekday = aggregate(sales)
    regions = sorted({key[2] for key in monthly})
    for region in regions:
        series = [v for _, v in sorted(((k, v) for k, v in monthly.items() if k[2] == region), key=itemgetter(0))]
        smooth = moving_average(series, 3)
        print(f"{region:<8}", " ".join(f"{v:12.2f}" for v in smooth[-4:]))
    for group, values in sorted(groups.items()):
        far = outliers(values)
        q = statistics.quantiles(values, n=10)
        print(f"{group:<10} n={len(values)} median={statistics.median(values):.2f} p90={q[8]:.2f} outliers={len(far)}")
    print("weekdays", " ".join(f"{v:.0f}" for v in weekday))


if __name__ == "__main__":
    main(sys.argv)
