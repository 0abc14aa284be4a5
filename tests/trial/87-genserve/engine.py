"""The thread that makes the steps of all running requests."""
import threading
import time


class EngineCore(threading.Thread):
    def __init__(self, model, scheduler, poll_interval=0.05):
        super().__init__(name="engine", daemon=True)
        self.model = model
        self.scheduler = scheduler
        self.poll_interval = poll_interval
        self.shutdown = False
        self.tokens = 0

    def add_request(self, request):
        self.scheduler.add_request(request)

    def wait_for_requests(self):
        """Waits until there is something to do."""
        while not self.scheduler.has_requests() and not self.shutdown:
            time.sleep(self.poll_interval)

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
        self.shutdown = True
        self.join()
