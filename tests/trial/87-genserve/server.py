"""genserve: a server that continues texts, and sessions that talk to it over the loopback."""
import hashlib
import json
import socket
import socketserver
import sys
import threading

from model import Model
from scheduler import Request, Scheduler


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            message = json.loads(line)
            request = Request(message["id"], message["prompt"].split(), message["length"])
            self.server.engine.add_request(request)
            request.finished.wait()
            answer = {"id": request.ident, "text": request.text, "score": round(request.score, 4), "steps": request.steps}
            self.wfile.write(json.dumps(answer).encode() + b"\n")
            self.wfile.flush()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, engine):
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine = engine


class Session(threading.Thread):
    """Sends its turns one after the other, each with the end of the answer before it."""

    def __init__(self, name, turns, address):
        super().__init__(name=name)
        self.turns = turns
        self.address = address
        self.answers = []

    def run(self):
        with socket.create_connection(self.address) as conn, conn.makefile("rw") as stream:
            last = []
            for number, (length, prompt) in enumerate(self.turns):
                message = {"id": f"{self.name}/{number}", "prompt": " ".join(last[-2:] + prompt), "length": length}
                stream.write(json.dumps(message) + "\n")
                stream.flush()
                answer = json.loads(stream.readline())
                last = [w for w in answer["text"].split() if w != "."]
                self.answers.append(answer)


def load_sessions(path):
    sessions = {}
    with open(path) as f:
        for line in f:
            name, length, *prompt = line.split()
            sessions.setdefault(name, []).append((int(length), prompt))
    return sessions


def main():
    if "--fixed" in sys.argv:
        from engine_fixed import EngineCore
    else:
        from engine import EngineCore
    model = Model()
    model.train("data/corpus.txt")
    engine = EngineCore(model, Scheduler())
    engine.start()
    server = Server(engine)
    threading.Thread(target=server.serve_forever, name="accept", daemon=True).start()
    # one session after the other: each waits for its answers
    digest = hashlib.sha256()
    for name, turns in load_sessions("data/sessions.txt").items():
        session = Session(name, turns, server.server_address)
        session.start()
        session.join()
        for answer in session.answers:
            print(answer["id"], answer["steps"], answer["score"], answer["text"])
            digest.update(answer["text"].encode())
    engine.stop()
    server.shutdown()
    print(engine.tokens, "words,", digest.hexdigest())


if __name__ == "__main__":
    main()
