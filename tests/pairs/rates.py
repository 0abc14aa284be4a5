# Asks a server on the same machine for 1,500 exchange rates: `slow` over a connection each, `fixed` over one.
import os
import socket
import sys
import tempfile

folder = tempfile.mkdtemp()
path = os.path.join(folder, "rates")
listening = socket.socket(socket.AF_UNIX)
listening.bind(path)
listening.listen(64)
if os.fork() == 0:
    while True:
        connection, _ = listening.accept()
        while question := connection.recv(64):
            if question == b"end":
                os._exit(0)
            connection.sendall(question[::-1])


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def rate(connection, number):
    connection.sendall(b"%d" % number)
    return int(connection.recv(64))


total = 0
kept = connect() if sys.argv[1] == "fixed" else None
for number in range(1, 1501):
    connection = kept or connect()
    total += rate(connection, number)
    if not kept:
        connection.close()
(kept or connect()).sendall(b"end")
os.wait()
print(total)
os.unlink(path)
os.rmdir(folder)
