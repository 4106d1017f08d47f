"""A worker of Keelson with the standard library only: claims steps, keeps their leases, reports each result until it is answered.

Copy it and change it: the protocol is docs/reference/http-api.md#worker-protocol.
"""

import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

LEASE = 15.0  # seconds without a heartbeat after which another worker gets the step


class Failure(Exception):
    """The step did not work. The class decides about retries: infrastructure, quality or permanent."""

    def __init__(self, code, message, error_class="infrastructure"):
        super().__init__(message)
        self.code, self.error_class = code, error_class


class Stopped(Exception):
    """The server does not want the step any more: budget_exceeded, cancelled, timed_out or lost."""


class Step:
    """A claimed step, as its handler sees it."""

    def __init__(self, worker, item):
        self._worker, self._item = worker, item
        self._news, self._ended = threading.Event(), False
        self._said, self._used = {"logs": []}, {}
        self._lock = threading.Lock()
        self.stopped = None
        self.input, self.tool, self.attempt = item["input"], item["tool"], item["attempt"]
        self.effect_key = item["effect_key"]  # the same when the step is executed again: pass it to systems that you change
        self.details = item.get("details")  # that an earlier execution kept

    def usage(self, **members):
        """What this execution has used in all so far: tokens, usage, cost, model. The next heartbeat has it charged."""
        with self._lock:
            self._used = members
        self._news.set()

    def progress(self, fraction, message):
        with self._lock:
            self._said["progress"] = {"fraction": fraction, "message": message}
        self._news.set()

    def log(self, line):
        with self._lock:
            self._said["logs"].append(line)
        self._news.set()

    def keep(self, details):
        """For the next execution, if this one is lost."""
        with self._lock:
            self._said["details"] = details
        self._news.set()

    def check(self):
        """Raises Stopped if the server wants the step no more. Call it before anything that costs."""
        if self.stopped:
            raise Stopped(self.stopped)

    def _take(self):
        with self._lock:
            said, self._said = self._said, {"logs": []}
            return {**said, **self._used}

    def _reference(self):
        return {"step_id": self._item["step_id"], "lease_epoch": self._item["lease_epoch"]}

    def beat(self):
        """Extends the lease, and says what is new. Nothing is lost when it fails: the next one says it again."""
        news = self._take()
        try:
            answer = self._worker.post("heartbeat", {"items": [{**self._reference(), **news}]})["items"][0]
        except OSError:
            with self._lock:
                self._said = {**news, **self._said, "logs": news["logs"] + self._said["logs"]}
                for member in self._used:
                    self._said.pop(member, None)
            return
        if answer["status"] == "stop":
            self.stopped = answer["reason"]
        elif answer["status"] == "not_found":
            self.stopped = "lost"

    def _keep_lease(self):
        while not self._ended:
            self._news.wait(LEASE / 3)
            self._news.clear()
            if not self._ended:
                self.beat()
                time.sleep(0.2)  # what comes meanwhile goes together

    def run(self, handler):
        beats = threading.Thread(target=self._keep_lease, daemon=True)
        beats.start()
        route, result = "complete", {}
        try:
            result = {"output": handler(self)}
        except Stopped:
            route = "release" if self.stopped == "budget_exceeded" else None
        except Failure as failure:
            route = "fail"
            result = {"error_code": failure.code, "error_class": failure.error_class, "message": str(failure)}
        except Exception as error:  # any other one fails the step, never the worker
            route, result = "fail", {"error_code": "HANDLER_ERROR", "message": repr(error)}
        self._ended = True
        self._news.set()
        beats.join()
        if route == "release":
            self.beat()  # the last use: a release has none
        if route and self.stopped in (None, "budget_exceeded"):
            said = {} if route == "release" else self._take()
            said.pop("details", None)
            self._worker.report(route, {**self._reference(), **said, **result})


class Worker:
    def __init__(self, name=None):
        data = Path(os.environ.get("KEELSON_DATA_DIR") or Path.home() / ".keelson")
        self.url = (os.environ.get("KEELSON_URL") or (data / "url").read_text()).strip().rstrip("/")
        self._key = (os.environ.get("KEELSON_API_KEY") or (data / "api-key").read_text()).strip()
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._tools, self._specs = {}, []

    def tool(self, name, description=None, input_schema=None, effects=None):
        """Serves a tool by the decorated function, which takes a Step and returns the output."""

        def add(handler):
            self._tools[name] = handler
            self._specs.append({"name": name, "description": description, "input_schema": input_schema,
                                "effects": effects})
            return handler

        return add

    def post(self, route, body, timeout=40):
        request = urllib.request.Request(f"{self.url}/api/v1/dispatch/{route}", method="POST",
                                         data=json.dumps({"worker_id": self.name, **body}).encode(),
                                         headers={"Authorization": f"Bearer {self._key}",
                                                  "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)

    def report(self, route, item):
        """Repeats the report until it is answered: the server takes it once."""
        delay = 0.2
        while True:
            try:
                answer = self.post(route, {"items": [item]})["items"][0]
                if answer["status"] not in ("ok", "duplicate"):
                    print(f"{route} of step {item['step_id']}: {answer}", flush=True)
                return
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code != 429:
                    raise
            except OSError:
                pass
            time.sleep(delay)
            delay = min(5, delay * 2)

    def serve(self):
        """Claims and executes one step at a time, until the process ends. Start more threads or processes for more."""
        specs = [{name: value for name, value in spec.items() if value is not None} for spec in self._specs]
        print(f"worker {self.name} serves {', '.join(self._tools)}", flush=True)
        while True:
            try:
                items = self.post("claim", {"tools": list(self._tools), "tool_specs": specs, "max": 1, "wait_ms": 20000,
                                            "lease_ms": int(LEASE * 1000)})["items"]
            except OSError as error:
                print(f"cannot claim: {error}", flush=True)
                time.sleep(1)
                continue
            for item in items:
                Step(self, item).run(self._tools[item["tool"]])
