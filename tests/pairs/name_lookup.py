"""Asks two name servers: the first does not answer, and is asked first each time or left out once it failed."""
import socket, struct, sys, threading

fixed = sys.argv[1:] == ["fixed"]
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 0))
alive = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
alive.bind(("127.0.0.1", 0))


def answer():
    while True:
        question, who = alive.recvfrom(512)
        if question == b"end":
            return
        alive.sendto(question[:2] + b"\x81\x80" + question[4:], who)


thread = threading.Thread(target=answer)
thread.start()
servers = [silent.getsockname(), alive.getsockname()]
answers = 0
for number in range(8):
    question = struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + b"\x04host\x00" + struct.pack(">HH", 1, 1)
    for server in list(servers):
        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asking.settimeout(0.25)
        asking.connect(server)
        asking.send(question)
        try:
            answers += len(asking.recv(512)) > 0
            break
        except TimeoutError:
            if fixed:
                servers.remove(server)
        finally:
            asking.close()
alive.sendto(b"end", alive.getsockname())
thread.join()
print(answers)
