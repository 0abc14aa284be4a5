"""A client asks a server on this machine 20 questions: a header and a body by two sends, or by one."""
import socket, sys, threading

fixed = sys.argv[1:] == ["fixed"]
listener = socket.create_server(("127.0.0.1", 0))


def serve():
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as questions:
        while header := questions.readline():
            body = questions.read(int(header))
            connection.sendall(b"%d\n" % sum(body))


thread = threading.Thread(target=serve)
thread.start()
total = 0
with socket.create_connection(listener.getsockname()) as connection, connection.makefile("rb") as answers:
    for number in range(20):
        body = b"question %d" % number
        if fixed:
            connection.sendall(b"%d\n" % len(body) + body)
        else:
            connection.sendall(b"%d\n" % len(body))
            connection.sendall(body)
        total += int(answers.readline())
thread.join()
print(total)
