"""Notices of a payment service, signed by some shops' keys with ECDSA on secp256k1; a few are forged."""

import hashlib
import random

random.seed(1)
P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798, 0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(number, point):
    result = None
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def sign(key, digest):
    nonce = random.randrange(1, N)
    r = multiply(nonce, G)[0] % N
    s = pow(nonce, -1, N) * (int.from_bytes(digest, "big") + r * key) % N
    return r, min(s, N - s)


keys = [random.randrange(1, N) for _ in range(8)]
publics = [multiply(key, G) for key in keys]
with open("notices.txt", "w") as file:
    for number in range(300):
        shop = random.randrange(len(keys))
        digest = hashlib.sha256(f"notice {number}: shop {shop} gets {random.randrange(90_000)}".encode()).digest()
        r, s = sign(keys[shop] + (number % 50 == 17), digest)
        x, y = publics[shop]
        file.write(f"shop-{shop} {digest.hex()} {2 + y % 2:02x}{x:064x} {r:064x}{s:064x}\n")
