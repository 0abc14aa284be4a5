"""The thread that makes the steps of all running requests."""
import threading


class EngineCore(threading.Thread):
    def __init__(self, model, scheduler):
        super().__init__(name="engine", daemon=True)
        self.model = model
        self.scheduler = scheduler
        self.has_work = threading.Condition()
        self.shutdown = False
        self.tokens = 0

    def add_request(self, request):
        with self.has_work:
            self.scheduler.add_request(request)
            self.has_work.notify()

    def wait_for_requests(self):
        """Waits until there is something to do."""
        with self.has_work:
            self.has_work.wait_for(lambda: self.scheduler.has_requests() or self.shutdown)

    def execute_batch(self, batch):
        for request in batch:
            request.beams = self.model.step(request.beams)
            request.steps += 1
            request.remaining -= 1
            self.tokens += 1
            if request.remaining == 0 or request.beams[0][1][-1] == ".":
                self.scheduler.finish(request)

    def run_busy_loop(self):
        while not self.shutdown:
            self.wait_for_requests()
            batch = self.scheduler.schedule()
            if batch:
                self.execute_batch(batch)

    def run(self):
        self.run_busy_loop()

    def stop(self):
        with self.has_work:
            self.shutdown = True
            self.has_work.notify()
        self.join()
