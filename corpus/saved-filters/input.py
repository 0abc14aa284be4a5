"""The schema of a shop's filters, and filters that users have saved, one a line; a few are wrong."""

import json
import random

random.seed(1)
FIELDS = "amount city country customer date discount paid price sent state stock weight".split()


def group(name):
    return {
        "type": "object",
        "properties": {"op": {"const": name}, "args": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/filter"}}},
        "required": ["op", "args"],
        "additionalProperties": False,
    }


condition = {
    "type": "object",
    "properties": {"op": {"enum": ["eq", "lt", "gt", "like"]}, "field": {"enum": FIELDS}, "value": {"type": ["string", "number"]}},
    "required": ["op", "field", "value"],
    "additionalProperties": False,
}
schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$ref": "#/$defs/filter",
    "$defs": {"filter": {"oneOf": [condition, group("and"), group("or"), group("not")]}},
}


def make(depth):
    if depth == 0 or random.random() < 0.15:
        return {"op": random.choice(["eq", "lt", "gt", "like"]), "field": random.choice(FIELDS), "value": random.choice([random.randrange(100), "open", "A-12"])}
    name = random.choice(["and", "and", "or", "not"])
    return {"op": name, "args": [make(depth - 1) for _ in range(1 if name == "not" else random.choice([1, 2, 2, 3]))]}


with open("schema.json", "w") as file:
    json.dump(schema, file, indent=1)
with open("filters.jsonl", "w") as file:
    for number in range(6000):
        saved = make(random.choice([1, 2, 2, 3, 4, 5, 6]))
        if number % 101 == 7:
            saved["name"] = "mine"
        file.write(json.dumps(saved) + "\n")
