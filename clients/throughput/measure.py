#!/usr/bin/env python3
"""Measures the workers of all clients on runs of ten steps, one after the other, several rounds in turns.

    python3 clients/throughput/measure.py --java-client CLASSPATH [--runs 300] [--rounds 3] [--slots 128] [WORKER …]

KEELSON_URL and KEELSON_API_KEY name the server, which no other work should use. WORKER is java, python (threads), python-async or typescript;
without one all are measured. CLASSPATH is that of the Java client, such as cli/target/keelson.jar. Each round begins with a tenth of the runs as a
warm-up. Prints the runs per second and the worker's processor time for a step: of each round, and the medians beside Java's.
"""
from __future__ import annotations

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 10
CREATORS = 4
PAGE = 500
ADDRESS = urllib.parse.urlsplit(os.environ["KEELSON_URL"])
LIMIT = 300.0


class Connection:
    """Calls of the measurement itself."""

    def __init__(self) -> None:
        self._http = http.client.HTTPConnection(ADDRESS.hostname or "", ADDRESS.port, timeout=60)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A call; returns the document of its answer."""
        headers = {"Authorization": f"Bearer {os.environ['KEELSON_API_KEY']}", "Content-Type": "application/json"}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        self._http.request(method, "/api/v1" + path, None if body is None else json.dumps(body), headers)
        answer = self._http.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {answer.status} {content.decode()}")
        return json.loads(content) if content else None

    def completed(self, name: str) -> int:
        """How many runs of a name have completed."""
        count, cursor = 0, ""
        while True:
            page = self.call("GET", f"/runs?name={name}&state=completed&fields=id&limit={PAGE}{cursor}")
            count += len(page["items"])
            if not page["next_cursor"]:
                return count
            cursor = "&cursor=" + page["next_cursor"]


def load(tool: str, runs: int) -> float:
    """Creates runs and waits for all; returns the seconds."""
    name = uuid.uuid4().hex
    mission = {"name": name, "start": True, "plan": {"tasks": [
        {"id": "ten", "steps": [{"name": f"s{n}", "tool": tool, "input": {"n": n}} for n in range(STEPS)]}]}}
    begun = time.monotonic()

    def create() -> None:
        connection = Connection()
        for _ in range(runs // CREATORS):
            connection.call("POST", "/runs", mission)

    creators = [threading.Thread(target=create) for _ in range(CREATORS)]
    for each in creators:
        each.start()
    for each in creators:
        each.join()
    connection = Connection()
    while connection.completed(name) < runs // CREATORS * CREATORS:
        if time.monotonic() > begun + LIMIT:
            raise SystemExit(f"the runs of {tool} have not ended in {LIMIT:g} s")
        time.sleep(0.05)
    return time.monotonic() - begun


def used(process: int) -> float:
    """Seconds of the processor that a process has used."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(command: list[str], slots: int, runs: int) -> tuple[float, float]:
    """Runs per second of a worker, and its milliseconds of the processor for a step."""
    tool = f"throughput.{uuid.uuid4().hex[:8]}"
    Connection().call("POST", "/dispatch/register", {"worker_id": "throughput", "tool_specs": [{"name": tool}]})
    parts = [{"TOOL": tool, "SLOTS": str(slots)}.get(part, part) for part in command]
    with subprocess.Popen(parts, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        if worker.stdout.readline().strip() != "serving":
            raise SystemExit(f"{parts} does not serve")
        load(tool, max(runs // 10, CREATORS))
        before = used(worker.pid)
        seconds = load(tool, runs)
        processor = used(worker.pid) - before
        worker.stdin.write("\n")
        worker.stdin.close()
        worker.wait()
    return runs / seconds, processor * 1000 / (runs * STEPS)


def main() -> None:
    """Measures in turns, so that the machine's other work meets all workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--java-client")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=128)
    parser.add_argument("workers", nargs="*")
    options = parser.parse_args()
    python = [sys.executable, str(HERE / "worker.py"), "TOOL", "SLOTS"]
    commands = {"java": ["java", "-cp", options.java_client or "", str(HERE / "Worker.java"), "TOOL", "SLOTS"], "python": [*python, "sync"],
                "python-async": [*python, "async"], "typescript": ["node", str(HERE / "worker.mjs"), "TOOL", "SLOTS"]}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in options.workers or commands}
    for i in range(options.rounds):
        for name, each in found.items():
            each.append(measure(commands[name], options.slots, options.runs))
            print(f"round {i + 1} {name}: {each[-1][0]:.1f} runs/s, {each[-1][1]:.2f} ms of the processor for a step", flush=True)
    base = statistics.median(rate for rate, _ in found["java"]) if "java" in found else None
    for name, each in found.items():
        rate, processor = (statistics.median(pair[i] for pair in each) for i in (0, 1))
        print(f"{name}: {rate:.1f} runs/s" + (f", {rate / base:.2f} of Java's" if base else "") + f", {processor:.2f} ms for a step")


if __name__ == "__main__":
    main()
