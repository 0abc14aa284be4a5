"""A log of requests: tokens signed with two keys, and headers that are no tokens but long rows of dots."""

import base64
import hashlib
import hmac
import json


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(user: int, key: bytes) -> str:
    head = part(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    body = part(json.dumps({"sub": f"user-{user}"}).encode())
    return f"{head}.{body}." + part(hmac.new(key, f"{head}.{body}".encode(), hashlib.sha256).digest())


with open("requests.log", "w") as file:
    for request in range(10_000):
        key = b"another key" if request % 10 == 0 else b"the key of the service"
        file.write(f"Authorization: Bearer {token(request, key)}\n")
        if request % 50 == 0:
            file.write(f"Authorization: Bearer {'.' * 500_000}\n")
