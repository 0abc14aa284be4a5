"""A shop's OpenAPI description, and the orders that a partner sent; a few are wrong."""

import json
import random

random.seed(1)
DESCRIPTION = r"""openapi: 3.0.3
info: {title: Shop, version: 1.2.0}
paths: {}
components:
  schemas:
    Order:
      type: object
      required: [id, customer, items, placed]
      properties:
        id: {type: string, pattern: '^ORD-[0-9]{8}-[A-Z]{2}$'}
        placed: {type: string, pattern: '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'}
        customer: {$ref: '#/components/schemas/Customer'}
        note: {type: string, maxLength: 300}
        items:
          type: array
          minItems: 1
          items: {$ref: '#/components/schemas/Item'}
    Customer:
      type: object
      required: [number, email, postcode]
      properties:
        number: {type: string, pattern: '^C[0-9]{6}$'}
        email: {type: string, pattern: '^[a-z0-9._+-]{1,40}@([a-z0-9-]+[.])+[a-z]{2,8}$'}
        postcode: {type: string, pattern: '^[0-9]{5}$'}
        phone: {type: string, pattern: '^[+][1-9][0-9 ]{6,18}$'}
    Item:
      type: object
      required: [article, amount, price]
      properties:
        article: {type: string, pattern: '^[A-Z]{3}-[0-9]{4}(-[a-z]{1,3})?$'}
        amount: {type: integer, minimum: 1, maximum: 500}
        price: {type: string, pattern: '^[0-9]{1,5}[.][0-9]{2} (EUR|CHF)$'}
"""
with open("shop.yaml", "w") as file:
    file.write(DESCRIPTION)
with open("orders.jsonl", "w") as file:
    for number in range(15_000):
        person = random.randrange(3000)
        items = [
            {
                "article": f"{random.choice(['TOY', 'BAG', 'CUP'])}-{random.randrange(1000, 9999)}" + random.choice(["", "-s", "-xl"]),
                "amount": random.choice([1, 1, 2, 5]),
                "price": f"{random.randrange(2, 90)}.{random.randrange(100):02} {random.choice(['EUR', 'EUR', 'CHF'])}",
            }
            for _ in range(random.randrange(1, 7))
        ]
        order = {
            "id": f"ORD-{number:08}-{random.choice(['DE', 'CH', 'AT'])}",
            "placed": f"2025-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}",
            "customer": {"number": f"C{person:06}", "email": f"person{person}@mail.example", "postcode": f"{random.randrange(10_000, 99_999)}", "phone": f"+49 221 {random.randrange(10_000, 99_999)}"},
            "items": items,
        }
        if number % 97 == 0:
            order["customer"]["postcode"] = "unknown"
        if number % 211 == 5:
            items[0]["price"] = "free"
        file.write(json.dumps(order) + "\n")
