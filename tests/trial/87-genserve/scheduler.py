"""The requests that wait and those that run."""
import threading
from collections import deque


class Request:
    def __init__(self, ident, prompt, length):
        self.ident = ident
        self.remaining = length
        self.beams = [(0.0, prompt)]
        self.prompt_length = len(prompt)
        self.steps = 0
        self.finished = threading.Event()

    @property
    def text(self):
        return " ".join(self.beams[0][1][self.prompt_length:])

    @property
    def score(self):
        return self.beams[0][0]


class Scheduler:
    def __init__(self, max_batch=4):
        self.waiting = deque()
        self.running = []
        self.max_batch = max_batch
        self.lock = threading.Lock()

    def add_request(self, request):
        with self.lock:
            self.waiting.append(request)

    def has_requests(self):
        with self.lock:
            return bool(self.waiting or self.running)

    def schedule(self):
        """Fills the batch with waiting requests and returns it."""
        with self.lock:
            while self.waiting and len(self.running) < self.max_batch:
                self.running.append(self.waiting.popleft())
            return list(self.running)

    def finish(self, request):
        with self.lock:
            self.running.remove(request)
        request.finished.set()
