"""stockreport: prints what a warehouse's stock is worth. The quantities live in a key/value server (a child process here,
which speaks a small line protocol like Redis: GET, MGET, SET)."""
import collections
import os
import random
import socket
import sys


# ---- the server

class Server:
    def __init__(self, sock):
        self.sock = sock
        self.data = {}

    def execute(self, words):
        op, args = words[0], words[1:]
        if op == b"GET":
            return self.data.get(args[0], b"-") + b"\n"
        if op == b"MGET":
            return b" ".join([self.data.get(k, b"-") for k in args]) + b"\n"
        if op == b"SET":
            self.data[args[0]] = args[1]
            return b"OK\n"
        if op == b"LOAD":
            for pair in args:
                k, _, v = pair.partition(b"=")
                self.data[k] = v
            return b"%d\n" % len(args)
        return b"ERR unknown command\n"

    def run(self):
        rest = b""
        while True:
            chunk = self.sock.recv(1 << 16)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            reply = b"".join([self.execute(line.split()) for line in lines])
            if reply:
                self.sock.sendall(reply)


def start_server():
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        Server(theirs).run()
        os._exit(0)
    theirs.close()
    return ours, pid


# ---- the client

class Client:
    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")

    def command(self, *words):
        self.sock.sendall(b" ".join(words) + b"\n")
        reply = self.file.readline()
        if reply.startswith(b"ERR"):
            raise RuntimeError(reply.decode())
        return reply.rstrip(b"\n")

    def get(self, key):
        v = self.command(b"GET", key)
        return None if v == b"-" else v

    def mget(self, keys):
        return [None if v == b"-" else v for v in self.command(b"MGET", *keys).split(b" ")]

    def load(self, pairs):
        return int(self.command(b"LOAD", *[k + b"=" + v for k, v in pairs]))

    def close(self):
        self.file.close()
        self.sock.close()


Article = collections.namedtuple("Article", "number group price")


class Warehouse:
    """Knows which articles there are and where they lie."""

    def __init__(self, articles, shelves):
        rnd = random.Random(49)
        groups = ["tools", "paint", "garden", "light", "wood", "bath"]
        self.articles = [Article(i, rnd.choice(groups), rnd.randrange(50, 40000)) for i in range(articles)]
        self.shelves = collections.defaultdict(list)
        for a in self.articles:
            for s in rnd.sample(range(shelves), 2):
                self.shelves[s].append(a)

    def fill(self, client):
        rnd = random.Random(50)
        for shelf, articles in self.shelves.items():
            client.load([(key_of(shelf, a), b"%d" % rnd.randrange(80)) for a in articles if rnd.random() < 0.9])


def key_of(shelf, article):
    return b"stock:%d:%d" % (shelf, article.number)


class Report:
    def __init__(self):
        self.value = collections.Counter()
        self.pieces = collections.Counter()
        self.missing = 0
        self.checksum = 0

    def add(self, shelf, article, raw):
        if raw is None:
            self.missing += 1
            return
        n = int(raw)
        self.value[article.group] += n * article.price
        self.pieces[article.group] += n
        self.checksum = (self.checksum * 31 + n * article.number + shelf) & 0xFFFFFFFF

    def show(self):
        for g in sorted(self.value):
            print(f"{g:<8} pieces {self.pieces[g]:8} value {self.value[g] / 100:14.2f}")
        print(f"missing {self.missing} checksum {self.checksum:08x}")


def stock_of(client, shelf, articles):
    """The quantities of the articles on a shelf."""
    return [client.get(key_of(shelf, a)) for a in articles]


def count_shelves(client, warehouse):
    report = Report()
    for shelf in sorted(warehouse.shelves):
        articles = warehouse.shelves[shelf]
        for article, raw in zip(articles, stock_of(client, shelf, articles)):
            report.add(shelf, article, raw)
    return report


def main():
    sock, pid = start_server()
    client = Client(sock)
    warehouse = Warehouse(articles=30000, shelves=300)
    warehouse.fill(client)
    count_shelves(client, warehouse).show()
    client.close()
    os.waitpid(pid, 0)


if __name__ == "__main__":
    sys.exit(main())
