#!/usr/bin/env python3
"""The fault proxy of the contract suite: a reverse proxy that breaks chosen requests, and counts what reached the server.

    fault_proxy.py --upstream http://127.0.0.1:7331     prints {"url": …} as its first line, ends when its input ends
    fault_proxy.py --cases                              prints missions and cases of the suite as JSON (needs PyYAML)

README.md beside this file describes faults, control routes and cases. Needs only the standard library of Python 3.10.
"""
from __future__ import annotations

import contextlib
import fnmatch
import http.client
import json
import pathlib
import select
import socket
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"}
ACTIONS = {"cut", "delay_ms", "stall", "half_close", "answer", "merge"}
CUTS = {"request", "before", "in", "after"}
PIECE = 65536


class Cut(Exception):
    """The connection to the client ends here."""


class Fault:
    """One entry of a case's `faults`."""

    def __init__(self, document: dict[str, Any]) -> None:
        unknown = set(document) - ACTIONS - {"route", "skip", "times", "after_events"}
        if unknown or not ACTIONS & set(document) or document.get("cut", "in") not in CUTS:
            raise ValueError(f"not a fault: {document}")
        self.document = document
        self.method, self.path = document["route"].split(" ", 1)
        self.skip = document.get("skip", 0)
        self.times = document.get("times", 1)

    def takes(self, method: str, path: str) -> bool:
        """True if this request is broken; counts it."""
        if method != self.method or not fnmatch.fnmatchcase(path, self.path) or self.times == 0:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class State:
    """Faults and log of the present case."""

    def __init__(self, upstream: str) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.upstream = urllib.parse.urlsplit(upstream)
        self.faults: list[Fault] = []
        self.log: list[dict[str, Any]] = []

    def begin(self, document: dict[str, Any]) -> None:
        """Starts a case: new faults, an empty log."""
        faults = [Fault(each) for each in document.get("faults", [])]
        with self.lock:
            self.faults = faults
            self.log = []
            if "upstream" in document:
                self.upstream = urllib.parse.urlsplit(document["upstream"])

    def note(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Logs a request and returns the fault for it, or an empty document."""
        with self.changed:
            self.log.append(entry)
            self.changed.notify_all()
            for fault in self.faults:
                if fault.takes(entry["method"], entry["path"]):
                    entry["fault"] = fault.document
                    return fault.document
        return {}

    def entries(self, method: str, path: str, at_least: int, wait: float) -> list[dict[str, Any]]:
        """Returns the logged requests of a route as soon as there are so many, or after the wait."""
        def found() -> list[dict[str, Any]]:
            return [e for e in self.log if method in ("", e["method"]) and fnmatch.fnmatchcase(e["path"], path)]

        with self.changed:
            self.changed.wait_for(lambda: len(found()) >= at_least, wait)
            return [dict(entry) for entry in found()]


def merged(value: Any, patch: Any) -> Any:
    """JSON Merge Patch, where the member `*` is about each element of an array."""
    if isinstance(value, list) and isinstance(patch, dict) and set(patch) == {"*"}:
        return [merged(each, patch["*"]) for each in value]
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for name, member in patch.items():
        if member is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), member)
    return result


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: the log is for the runner."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (Cut, OSError):
            self.close_connection = True

    def do_GET(self) -> None:
        """All methods."""
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if path.startswith("/-/"):
            return self.control(path, dict(urllib.parse.parse_qsl(query)), body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        shown = {**headers, **({"authorization": "Bearer …"} if "authorization" in headers else {})}
        entry = {"method": self.command, "path": path, "query": dict(urllib.parse.parse_qsl(query)), "headers": shown,
                 "body": parsed(body), "reached": False, "status": None}
        fault = self.state.note(entry)
        if fault.get("cut") == "request":
            raise self.cut()
        if fault.get("half_close"):
            # Sends its end, and reads on until the client closes, too.
            self.connection.shutdown(socket.SHUT_WR)
            while self.connection.recv(PIECE):
                pass
            raise Cut
        if "answer" in fault:
            if "delay_ms" in fault:
                self.wait(fault["delay_ms"] / 1000)
            return self.send_scripted(fault["answer"], entry)
        self.forward(headers, body, entry, fault)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

    def forward(self, headers: dict[str, str], body: bytes, entry: dict[str, Any], fault: dict[str, Any]) -> None:
        upstream = http.client.HTTPConnection(self.state.upstream.netloc, timeout=120)
        try:
            sent = {name: value for name, value in headers.items() if name not in HOP_BY_HOP and name != "host"}
            if "merge" in fault:
                sent.pop("accept-encoding", None)
            upstream.request(self.command, self.path, body or None, sent)
            entry["reached"] = True
            response = upstream.getresponse()
            entry["status"] = response.status
            self.relay(response, fault)
        except (OSError, http.client.HTTPException) as e:
            raise self.cut() from e
        finally:
            upstream.close()

    def relay(self, response: http.client.HTTPResponse, fault: dict[str, Any]) -> None:
        headers = [(name, value) for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP]
        if (response.getheader("Content-Type") or "").startswith("text/event-stream"):
            return self.relay_stream(response, headers, fault)
        content = response.read()
        if "merge" in fault:
            content = json.dumps(merged(json.loads(content), fault["merge"])).encode()
        if fault.get("cut") == "before":
            raise self.cut()
        if "delay_ms" in fault:
            self.wait(fault["delay_ms"] / 1000)
        self.head(response.status, headers, len(content))
        if fault.get("cut") == "in" or fault.get("stall"):
            self.wfile.write(content[:len(content) // 2])
            if fault.get("stall"):
                self.wait(60)
            raise self.cut()
        self.wfile.write(content)
        if fault.get("cut") == "after":
            raise self.cut()

    def relay_stream(self, response: http.client.HTTPResponse, headers: list[tuple[str, str]],
                     fault: dict[str, Any]) -> None:
        if fault.get("cut") == "before":
            raise self.cut()
        self.head(response.status, [*headers, ("Connection", "close")], None)
        left = fault.get("after_events", 0)
        for line in response:
            if line.startswith(b"data:"):
                left -= 1
                if left < 0 and fault.get("cut") == "in":
                    self.wfile.write(line[:len(line) // 2])
                    raise self.cut()
            self.wfile.write(line)
            if line == b"\n" and left <= 0 and (fault.get("cut") == "after" or fault.get("stall")):
                if fault.get("stall"):
                    self.wait(60)
                raise self.cut()
        self.close_connection = True

    def head(self, status: int, headers: list[tuple[str, str]], length: int | None) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if length is not None and status not in (204, 304):
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def send_scripted(self, answer: dict[str, Any], entry: dict[str, Any]) -> None:
        body = answer.get("body", "")
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        headers = {"Content-Type": "application/json", **answer.get("headers", {})}
        entry["status"] = answer["status"]
        self.head(answer["status"], [(name, str(value)) for name, value in headers.items()], len(content))
        self.wfile.write(content)

    def wait(self, seconds: float) -> None:
        """Waits, or until the client has closed the connection."""
        if select.select([self.connection], [], [], seconds)[0]:
            raise Cut

    def cut(self) -> Cut:
        """Closes the connection without the end that its protocol expects."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        return Cut()

    def control(self, path: str, query: dict[str, str], body: bytes) -> None:
        try:
            if path == "/-/case":
                self.state.begin(json.loads(body))
                answer: Any = {}
            elif path == "/-/log":
                method, _, route = query.get("route", " *").partition(" ")
                answer = self.state.entries(method, route, int(query.get("at_least", 0)),
                                            int(query.get("wait_ms", 0)) / 1000)
            else:
                raise ValueError(f"no control route {path}")
            self.send_scripted({"status": 200, "body": answer}, {})
        except (ValueError, KeyError) as e:
            self.send_scripted({"status": 400, "body": {"detail": str(e)}}, {})


def parsed(body: bytes) -> Any:
    """The body as JSON with exact text of numbers with a fraction, or its size."""
    try:
        return json.loads(body, parse_float=str) if body else None
    except ValueError:
        return {"bytes": len(body)}


def cases() -> dict[str, Any]:
    """All files of the suite as one document."""
    import yaml  # of Debian's python3-yaml; a runner in another language reads this program's output

    folder = pathlib.Path(__file__).parent
    every = []
    for file in sorted(folder.glob("*.yaml")):
        if file.name != "missions.yaml":
            every += [{"group": file.stem, **case} for case in yaml.safe_load(file.read_text("utf-8"))]
    return {"missions": yaml.safe_load((folder / "missions.yaml").read_text("utf-8")), "cases": every}


class Server(ThreadingHTTPServer):
    """Threads end with the program; broken connections are what it is for."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing."""


def main(arguments: list[str]) -> None:
    if arguments == ["--cases"]:
        json.dump(cases(), sys.stdout)
        return
    if len(arguments) != 2 or arguments[0] != "--upstream":
        sys.exit(__doc__)
    handler = type("Bound", (Handler,), {"state": State(arguments[1])})
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main(sys.argv[1:])
