# Asks a warehouse, a process of its own behind a socket, for the stock of 4,000 articles: `slow` one by one, `fixed` all in one message.
import os
import socket
import sys

here, there = socket.socketpair()
if os.fork() == 0:
    here.close()
    lines = there.makefile("rwb")
    for line in lines:
        articles = line.split()
        lines.write(b" ".join(b"%d" % (int(article) * 7 % 100) for article in articles) + b"\n")
        lines.flush()
    os._exit(0)
there.close()
lines = here.makefile("rwb")


def ask(articles):
    lines.write(" ".join(map(str, articles)).encode() + b"\n")
    lines.flush()
    return [int(level) for level in lines.readline().split()]


articles = range(4000)
if sys.argv[1] == "fixed":
    levels = ask(articles)
else:
    levels = [ask([article])[0] for article in articles]
print(sum(levels))
lines.close()
here.close()
os.wait()
