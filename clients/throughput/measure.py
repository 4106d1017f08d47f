#!/usr/bin/env python3
"""Measures the workers of all clients on runs of ten steps, one after the other, several rounds in turns.

    python3 clients/throughput/measure.py [--runs 600] [--rounds 3] [--slots 128] [--java-client CLASSPATH] [WORKER …]

Starts a server of its own with ./keelson, with a data folder that is removed, and builds the TypeScript client if it is not built. With KEELSON_URL and
KEELSON_API_KEY it uses that server, which should have no other work. WORKER is java, python (threads), python-async or typescript; without one all
are measured. CLASSPATH is that of the Java client, cli/target/keelson.jar if absent. Each round begins with a tenth of the runs as a warm-up. Prints the runs
per second and the worker's processor time for a step: of each round, and a table of the medians beside Java's. Takes two minutes.
"""
from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TYPESCRIPT = HERE.parent / "typescript"
STEPS = 10
CREATORS = 4
PAGE = 500
LIMIT = 300.0
START_LIMIT = 300.0


class Connection:
    """Calls of the measurement itself."""

    def __init__(self) -> None:
        address = urllib.parse.urlsplit(os.environ["KEELSON_URL"])
        self._http = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)

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


@contextlib.contextmanager
def server() -> Iterator[None]:
    """The server that the environment names, else one of its own."""
    if "KEELSON_URL" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="keelson-throughput-") as name:
        folder = pathlib.Path(name)
        environment = {**os.environ, "KEELSON_DATA_DIR": name, "KEELSON_HTTP_PORT": "0"}
        with open(folder / "server.log", "w", encoding="utf-8") as log, \
                subprocess.Popen([str(ROOT / "keelson"), "server"], env=environment, stdout=log, stderr=log) as process:
            try:
                begun = time.monotonic()
                while not (folder / "url").exists():
                    if process.poll() is not None or time.monotonic() > begun + START_LIMIT:
                        raise SystemExit("the server does not start: " + (folder / "server.log").read_text("utf-8"))
                    time.sleep(0.2)
                os.environ["KEELSON_URL"] = (folder / "url").read_text("utf-8").strip()
                os.environ["KEELSON_API_KEY"] = (folder / "api-key").read_text("utf-8").strip()
                yield
            finally:
                process.terminate()
                process.wait(60)


def build_typescript() -> None:
    """Compiles the TypeScript client if it is not compiled."""
    if not (TYPESCRIPT / "dist/index.js").exists():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=TYPESCRIPT, check=True, stdout=sys.stderr)
        subprocess.run(["npm", "run", "build"], cwd=TYPESCRIPT, check=True, stdout=sys.stderr)


def table(found: dict[str, list[tuple[float, float]]]) -> None:
    """Prints the medians of all rounds."""
    base = statistics.median(rate for rate, _ in found["java"]) if "java" in found else None
    print("\n| worker | runs/s | lowest to highest | of Java's | ms of the processor for a step |\n|---|---|---|---|---|")
    for name, each in found.items():
        rate, processor = (statistics.median(pair[i] for pair in each) for i in (0, 1))
        rates = [pair[0] for pair in each]
        print(f"| {name} | {rate:.1f} | {min(rates):.1f} to {max(rates):.1f} | {f'{rate / base:.2f}' if base else ''} | {processor:.2f} |")


def main() -> None:
    """Measures in turns, so that the machine's other work meets all workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--java-client", default=str(ROOT / "cli/target/keelson.jar"))
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=128)
    parser.add_argument("workers", nargs="*")
    options = parser.parse_args()
    jdk = subprocess.run([str(ROOT / "scripts/find-jdk")], check=True, capture_output=True, text=True).stdout.strip()
    debian = "/usr/bin/python3"  # whose packages the client needs; another Python may be the first on the path
    python = [debian if pathlib.Path(debian).exists() else sys.executable, str(HERE / "worker.py"), "TOOL", "SLOTS"]
    commands = {"java": [f"{jdk}/bin/java", "-cp", options.java_client, str(HERE / "Worker.java"), "TOOL", "SLOTS"], "python": [*python, "sync"],
                "python-async": [*python, "async"], "typescript": ["node", str(HERE / "worker.mjs"), "TOOL", "SLOTS"]}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in options.workers or commands}
    if "typescript" in found:
        build_typescript()
    with server():
        for i in range(options.rounds):
            for name, each in found.items():
                each.append(measure(commands[name], options.slots, options.runs))
                print(f"round {i + 1} {name}: {each[-1][0]:.1f} runs/s, {each[-1][1]:.2f} ms of the processor for a step", flush=True)
    table(found)


if __name__ == "__main__":
    main()
