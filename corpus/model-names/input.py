"""The schemas of a large API: names of models, and of their properties with types."""

import json
import random

random.seed(1)
WORDS = "account address amount api balance billing card client code config country currency customer data default delivery device domain event file group host http id image invoice ip item key label limit link list mail max message method min mode name network node number option order page path payment phone plan policy port price project query rate region request role rule scope server service session size source start state status stop store tag task tax team time token total tracking transfer type unit update uri url user uuid value version zone".split()


def name(style):
    words = random.sample(WORDS, random.randrange(1, 5))
    if style == "snake":
        return "_".join(words)
    if style == "kebab":
        return "-".join(words)
    return words[0] + "".join(word.title() for word in words[1:])


schemas = []
for number in range(2600):
    style = random.choice(["snake", "camel", "camel", "kebab"])
    properties = {name(style): random.choice(["string", "string", "integer", "number", "boolean"]) for _ in range(random.randrange(6, 40))}
    schemas.append({"name": f"{name('camel')}{number}", "properties": properties})
with open("schemas.json", "w") as file:
    json.dump(schemas, file)
