"""Executes the contract suite with this client: clients/contract/README.md describes cases and expectations.

    python3 tests/contract.py --server URL --key KEY [GROUP/NAME …]     prints a JSON line for each execution of a case
"""
from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import decimal
import fnmatch
import inspect
import json
import logging
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback
import urllib.parse
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src")]

import keelson  # noqa: E402

CONTRACT = HERE.parent.parent / "contract"
AWAY = "http://127.0.0.1:9"
LONG = 20.0
LEASE_THREADS = 6
logged = logging.getLogger("keelson")


class Unserializable:
    """A value that JSON lacks."""


class Mismatch(AssertionError):
    """An expectation that does not hold."""


def http(url: str, body: Any = None, key: str | None = None) -> Any:
    """A call that is not the client's."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as answer:
        return json.loads(answer.read() or b"null", parse_float=decimal.Decimal)


def filled(value: Any, names: dict[str, str]) -> Any:
    """A part of a case with its placeholders replaced."""
    if isinstance(value, str):
        return re.sub(r"\$(KEY|TOOL|AGENT)", lambda found: names[found[1]], value)
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    if isinstance(value, dict):
        if "$repeat" in value:
            return value["$repeat"] * value["times"]
        if "$unserializable" in value:
            return Unserializable()
        return {filled(name, names): filled(each, names) for name, each in value.items()}
    return value


def shown(value: Any) -> Any:
    """A value of the client as cases write it."""
    if isinstance(value, decimal.Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    return value


def member(value: Any, name: str) -> Any:
    """A member of a result."""
    if isinstance(value, dict):
        return value.get(name)
    with contextlib.suppress(AttributeError):
        return getattr(value, {"undo": "undoing"}.get(name, name))
    return value[name] if name in value else None


def compare(wanted: Any, value: Any, where: str) -> None:
    """Raises unless the value is as wanted."""
    if isinstance(wanted, dict):
        for name, each in wanted.items():
            compare(each, member(value, name), f"{where}.{name}")
    elif isinstance(wanted, list):
        if not isinstance(value, list) or len(value) != len(wanted):
            raise Mismatch(f"{where} is {value!r}, not {len(wanted)} elements")
        for i, each in enumerate(wanted):
            compare(each, value[i], f"{where}[{i}]")
    elif isinstance(wanted, str) and wanted.startswith("~"):
        if not re.search(wanted[1:], str(value)):
            raise Mismatch(f"{where} is {value!r}, without {wanted[1:]}")
    elif shown(value) != wanted or isinstance(value, bool) != isinstance(wanted, bool):
        raise Mismatch(f"{where} is {str(shown(value))[:200]!r}, not {str(wanted)[:200]!r}")


class Proxy:
    """The fault proxy, in a process of its own."""

    def __init__(self, server: str) -> None:
        self._process = subprocess.Popen([sys.executable, CONTRACT / "fault_proxy.py", "--upstream", server],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.url = json.loads(self._process.stdout.readline())["url"]

    def begin(self, faults: list[Any]) -> None:
        """Begins a case."""
        http(self.url + "/-/case", {"faults": faults})

    def log(self, route: str) -> Any:
        """Logged requests of a route."""
        return http(f"{self.url}/-/log?route={urllib.parse.quote(route)}")

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Handlers:
    """Handlers by script, and their counters."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.counters: dict[str, dict[str, int]] = {}
        self.left: dict[str, list[Any]] = {}

    def count(self, name: str, what: str) -> None:
        """Counts."""
        with self.changed:
            counter = self.counters.setdefault(name, {})
            counter[what] = counter.get(what, 0) + 1
            self.changed.notify_all()

    def script(self, name: str) -> list[dict[str, Any]]:
        """The actions of the next execution."""
        self.count(name, "begun")
        with self.changed:
            scripts = self.left[name]
            script: list[dict[str, Any]] = scripts.pop(0) if len(scripts) > 1 else scripts[0]
            return script

    def await_count(self, name: str, wanted: dict[str, int]) -> None:
        """Waits for counters."""
        with self.changed:
            if not self.changed.wait_for(lambda: all(
                    self.counters.get(name, {}).get(what, 0) >= number for what, number in wanted.items()), LONG):
                raise Mismatch(f"{name} has {self.counters.get(name)}, not {wanted}")

    def act(self, name: str, action: dict[str, Any], ctx: keelson.Context, turn: keelson.Turn | None) -> Any:
        """An action that does not wait; returns a tuple with the value at the end."""
        (what, value), = action.items()
        if what == "return":
            return (value,)
        if what == "echo":
            return (ctx.input[value],)
        if what == "return_details":
            return (ctx.details,)
        if what == "fail":
            raise keelson.StepFailure(value["code"], value["error_class"], value["message"])
        if what == "raise":
            raise RuntimeError(value)
        if what == "busy_ms":
            end = time.monotonic() + value / 1000
            while time.monotonic() < end:
                sum(range(1000))
        elif what == "details":
            ctx.details = value
        elif what == "log":
            ctx.log(value)
        elif what == "progress":
            ctx.progress(*value)
        elif what == "usage":
            ctx.usage(tokens=value["tokens"], cost=value["cost"])
        elif what == "artifact":
            ctx.artifact(value["name"], value["text"], value["content_type"])
        elif turn is not None and what == "call_tool":
            return (turn.call(value["tool"], value["input"]),)
        elif turn is not None and what == "done_with_error":
            return (turn.done(turn.results[-1].error),)
        elif turn is not None and what == "done_with_result":
            return (turn.done(turn.results[-1].output),)
        else:
            raise ValueError(f"no action {what}")
        return None

    def call(self, name: str, ctx: keelson.Context, turn: keelson.Turn | None = None) -> Any:
        """A handler in a thread."""
        for action in self.script(name):
            if "hold" in action:
                ctx.wait(LONG)
                self.count(name, "cancelled")
            elif "wait_ms" in action:
                ctx.wait(action["wait_ms"] / 1000)
            elif ended := self.act(name, action, ctx, turn):
                self.count(name, "returned")
                return ended[0]

    async def call_async(self, name: str, ctx: keelson.Context, turn: keelson.Turn | None = None) -> Any:
        """A handler as a task."""
        for action in self.script(name):
            if "hold" in action or "wait_ms" in action:
                try:
                    await asyncio.sleep(action.get("wait_ms", LONG * 1000) / 1000)
                except asyncio.CancelledError:
                    if "hold" not in action:
                        raise
                    self.count(name, "cancelled")
            elif ended := self.act(name, action, ctx, turn):
                self.count(name, "returned")
                return ended[0]


class Execution:
    """One execution of a case: with the blocking or the asynchronous client and handlers."""

    def __init__(self, case: dict[str, Any], missions: dict[str, Any], options: argparse.Namespace, proxy: Proxy,
                 asynchronous: bool) -> None:
        self.asynchronous, self.proxy, self.server, self.key = asynchronous, proxy, options.server, options.key
        unique = uuid.uuid4().hex[:12]
        names = {"KEY": f"case {case['name']} {unique}", "TOOL": f"contract.{unique}", "AGENT": f"agent-{unique}"}
        self.names = names
        self.case, self.missions = filled(case, names), filled(missions, names)
        self.needs = {name for name in names if f"${name}" in json.dumps([case, [
            missions[call["mission"]] for call in case["when"] if "mission" in call]])}
        self.handlers = Handlers()
        self.worker: keelson.Worker | None = None
        self.run: Any = None
        self.trigger: Any = None
        self.texts: list[str] = []

    def execute(self) -> None:
        """Executes it. Raises if an expectation does not hold."""
        given, then = self.case.get("given", {}), self.case["then"]
        self.proxy.begin([])
        if "TOOL" in self.needs:
            http(f"{self.server}/api/v1/dispatch/register", {"worker_id": "contract", "tool_specs": [{"name": self.names["TOOL"]}]}, self.key)
        if "AGENT" in self.needs:
            http(f"{self.server}/api/v1/agents", {"slug": self.names["AGENT"], "tools": ["echo"]}, self.key)
        self.proxy.begin(given.get("faults", []))
        wanted = given.get("client", {})
        arguments = {"timeout": wanted.get("timeout_ms", 30_000) / 1000, "silence": wanted.get("silence_ms", 20_000) / 1000}
        kind = keelson.AsyncKeelson if self.asynchronous else keelson.Keelson
        client = kind(AWAY if wanted.get("server") == "away" else self.proxy.url, wanted.get("api_key", self.key), **arguments)
        try:
            outcome = asyncio.run(self.calls(client)) if self.asynchronous else self.calls_blocking(client)
        finally:
            if self.worker is not None:
                self.worker.stop()
        self.judge(outcome, then, client)

    def calls_blocking(self, client: Any) -> tuple[Any, float]:
        """All calls with the blocking client."""
        flow = self.flow(client)
        value: Any = None
        with client:
            while True:
                try:
                    make = flow.send(value)
                except StopIteration as end:
                    return end.value  # type: ignore[no-any-return]
                try:
                    value = make()
                except keelson.KeelsonError as e:
                    value = e

    async def calls(self, client: Any) -> tuple[Any, float]:
        """All calls with the asynchronous client."""
        flow = self.flow(client)
        value: Any = None
        async with client:
            while True:
                try:
                    make = flow.send(value)
                except StopIteration as end:
                    return end.value  # type: ignore[no-any-return]
                try:
                    value = make()
                    if inspect.isawaitable(value):
                        value = await value
                except keelson.KeelsonError as e:
                    value = e

    def flow(self, client: Any) -> Any:
        """The calls of the case; yields functions that call the client, and gets their values."""
        value: Any = None
        took = 0.0
        for i, call in enumerate(self.case["when"]):
            begun = time.monotonic()
            value = yield from self.one(client, dict(call))
            took = time.monotonic() - begun
            if isinstance(value, keelson.KeelsonError):
                if i < len(self.case["when"]) - 1:
                    raise value
            elif call["call"] in ("create", "fork"):
                self.run = value
            elif call["call"] == "trigger":
                self.trigger = value
        return value, took

    def one(self, client: Any, call: dict[str, Any]) -> Any:
        """One call; its result, or the client's error."""
        what = call.pop("call")
        if what == "create":
            mission = self.missions[call.pop("mission")]
            return (yield lambda: client.runs.create(mission, **call))
        if what == "get":
            return (yield lambda: client.runs.get(call.get("id") or self.run.id))
        if what == "list":
            return (yield lambda: self.items(client.runs.list(name=call.get("name"), archived=call.get("archived", False), page=call.get("limit", 100))))
        if what == "request":
            return (yield lambda: client.request(call["method"], call["path"], call["body"]))
        if what == "trigger":
            return (yield lambda: client.triggers.create(self.missions[call["mission"]]))
        if what == "trigger_off":
            return (yield lambda: client.triggers.disable(self.trigger.id))
        if what == "deliveries":
            return (yield lambda: self.items(client.triggers.deliveries(self.trigger.id)))
        if what == "send_event":
            return (yield lambda: self.receipts(client.send_event(call["name"], call["event_id"], call["data"])))
        if what in ("inbox", "step"):
            return (yield lambda: self.decide(client, what, **call))
        if what in ("start_worker", "stop_worker", "await_tool"):
            return (yield lambda: asyncio.to_thread(getattr(self, what), **call) if self.asynchronous else getattr(self, what)(**call))
        if what in ("await_run", "await_undo"):
            end = time.monotonic() + LONG
            while time.monotonic() < end:
                run = yield lambda: client.runs.get(self.run.id)
                if isinstance(run, keelson.KeelsonError):
                    return run
                now = run.undoing if what == "await_undo" else run
                if now is not None and all(member(now, name) == each for name, each in call.items()):
                    return run
            raise Mismatch(f"the run has not become {call}")
        run = self.run
        if "id" in call:
            run = type(self).handle(client, call.pop("id"))
        if what == "wait":
            return (yield lambda: run.wait(call.get("timeout_ms", 30_000) / 1000))
        if what == "events":
            return (yield lambda: self.events(run.events(call.get("after", 0)), call.get("after", 0), call.get("take")))
        if what in ("steps", "artifacts", "logs"):
            return (yield lambda: self.items(getattr(run, what)()))
        if what == "retry":
            return (yield lambda: run.retry(call.get("from", "failed")))
        return (yield lambda: getattr(run, what)(**call))

    @staticmethod
    def handle(client: Any, id_: str) -> Any:
        """A run that was not read."""
        module = keelson.aio if isinstance(client, keelson.AsyncKeelson) else keelson.client
        return module.Run({"id": id_}, client)

    def items(self, items: Any) -> Any:
        """All items of an iteration."""
        async def all_() -> Any:
            return {"items": [each async for each in items]}
        return all_() if self.asynchronous else {"items": list(items)}

    def receipts(self, sent: Any) -> Any:
        """The receipts of an event."""
        async def all_() -> Any:
            return {"items": await sent}
        return all_() if self.asynchronous else {"items": sent}

    def events(self, events: Any, after: int, take: int | None) -> Any:
        """The summary of a stream."""
        def summary(seen: list[Any]) -> Any:
            numbers = [each.seq for each in seen]
            return {"count": len(seen), "gapless": numbers == list(range(after + 1, after + 1 + len(seen))),
                    **({"first_seq": numbers[0], "first": seen[0].event_type, "last": seen[-1].event_type} if seen else {})}

        async def asynchronous() -> Any:
            seen = []
            async with contextlib.aclosing(events):
                async for each in events:
                    seen.append(each)
                    if len(seen) == take:
                        break
            return summary(seen)

        if self.asynchronous:
            return asynchronous()
        seen = []
        with contextlib.closing(events):
            for each in events:
                seen.append(each)
                if len(seen) == take:
                    break
        return summary(seen)

    def decide(self, client: Any, what: str, answer: str, reason: str | None = None) -> Any:
        """A decision about the only item of the inbox, or the only step."""
        def items() -> Any:
            return client.inbox.list(run_id=self.run.id) if what == "inbox" else self.run.steps()

        decide = getattr(client.inbox if what == "inbox" else client.steps, answer)
        if not self.asynchronous:
            return decide(next(items()).id, reason)

        async def asynchronous() -> Any:
            return await decide([each.id async for each in items()][0], reason)
        return asynchronous()

    def start_worker(self) -> None:
        """Starts a worker with the handlers of the case."""
        given = self.case["given"]["worker"]
        self.worker = keelson.Worker(keelson.Keelson(self.proxy.url, self.key), lease=given.get("lease_ms", 30_000) / 1000,
                                     grace=given.get("grace_ms", 5_000) / 1000, slots=given.get("slots", 8), poll=0.5, chain=given.get("chain_ms", 20) / 1000)
        handlers, asynchronous = self.handlers, self.asynchronous
        for name, scripts in given.get("tools", {}).items():
            handlers.left.setdefault(name, list(scripts))
            effects = given.get("effects", {}).get(name)
            if asynchronous:
                async def tool_async(ctx: keelson.Context, *, name_: str = name, value: Any = None) -> Any:
                    return await handlers.call_async(name, ctx)
                self.worker.tool(name, effects=effects)(tool_async)
            else:
                def tool(ctx: keelson.Context, *, name_: str = name, value: Any = None) -> Any:
                    return handlers.call(name, ctx)
                self.worker.tool(name, effects=effects)(tool)
        for slug, scripts in given.get("agents", {}).items():
            handlers.left.setdefault(slug, list(scripts))
            if asynchronous:
                async def agent_async(turn: keelson.Turn) -> Any:
                    return await handlers.call_async(slug, turn.ctx, turn)
                self.worker.agent(slug)(agent_async)
            else:
                self.worker.agent(slug)(lambda turn: handlers.call(slug, turn.ctx, turn))
        self.worker.start()

    def stop_worker(self) -> None:
        """Drains the worker."""
        assert self.worker is not None
        self.worker.stop()

    def await_tool(self, **wanted: int) -> None:
        """Waits for the tool's counters."""
        self.handlers.await_count(self.names["TOOL"], wanted)

    def judge(self, outcome: tuple[Any, float], then: dict[str, Any], client: Any) -> None:
        """Compares with the expectations."""
        value, took = outcome
        failed = isinstance(value, keelson.KeelsonError)
        if failed != ("error" in then):
            raise value if failed else Mismatch(f"the last call gave {value!r}, not {then['error']}")
        if failed:
            compare({name: each for name, each in then["error"].items() if name != "problems"}, value, "error")
            compare(then["error"].get("problems", []), value.problems if "problems" in then["error"] else [], "problems")
        compare(then.get("result", {}), value, "result")
        for name, kind in then.get("types", {}).items():
            typed = member(value, name)
            if kind == "decimal" and type(typed) is not decimal.Decimal or kind == "time" and typed.tzinfo is None:
                raise Mismatch(f"{name} is {typed!r}, not a {kind}")
        for bound, right in then.get("took_ms", {}).items():
            if (took * 1000 < right) if bound == "at_least" else (took * 1000 > right):
                raise Mismatch(f"the call took {took:.3f} s, not {bound} {right} ms")
        self.judge_run(then)
        for route, wanted in then.get("requests", {}).items():
            log = self.proxy.log(route)
            compare(wanted, {"sent": len(log), "reached": sum(each["reached"] for each in log)}, route)
        for route, header in then.get("same_header", {}).items():
            values = {each["headers"].get(header) for each in self.proxy.log(route)}
            if len(values) != 1 or None in values:
                raise Mismatch(f"{route} has {header} {values}")
        for name, wanted in then.get("tools", {}).items():
            compare(wanted, self.handlers.counters.get(name, {}), name)
        texts = [repr(client), str(client), repr(value), str(value), *self.texts]
        if failed:
            texts += traceback.format_exception(value)
        for secret in [self.key, *then.get("hidden", [])]:
            if any(secret in text for text in texts):
                raise Mismatch("a secret is shown")

    def judge_run(self, then: dict[str, Any]) -> None:
        """Compares the run as the server has it; a worker's last report may be under way."""
        end = time.monotonic() + 10
        while "run" in then:
            run = http(f"{self.server}/api/v1/runs/{self.run.id}", key=self.key)
            try:
                return compare(then["run"], run, "run")
            except Mismatch:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)


def main() -> None:
    """Executes cases side by side, each thread with a proxy of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--kinds", default="sync,async")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    suite = json.loads(subprocess.run([sys.executable, CONTRACT / "fault_proxy.py", "--cases"], check=True, capture_output=True).stdout)
    exceptions = json.loads((HERE / "exceptions.json").read_text("utf-8"))
    proxies = threading.local()
    opened: list[Proxy] = []
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    logged.addHandler(Keep())
    logged.propagate = False
    printing = threading.Lock()

    def execute(case: dict[str, Any], kind: str) -> bool:
        if not hasattr(proxies, "one"):
            proxies.one = Proxy(options.server)
            opened.append(proxies.one)
        name = f"{case['group']}/{case['name']}"
        begun = time.monotonic()
        failure = None
        try:
            Execution(case, suite["missions"], options, proxies.one, kind == "async").execute()
        except Exception as e:
            failure = str(e) if isinstance(e, Mismatch) else "".join(traceback.format_exception(e))
        with printing:
            print(json.dumps({"case": name, "kind": kind, "seconds": round(time.monotonic() - begun, 3), "failure": failure,
                              "exception": exceptions.get(name)}), flush=True)
        return failure is None or name in exceptions

    wanted = [case for case in suite["cases"] if not options.cases or any(
        fnmatch.fnmatch(f"{case['group']}/{case['name']}", pattern) for pattern in options.cases)]
    # The longest first, so that none is left at the end. Those about short leases come last and few at a time: their threads share a lock.
    wanted.sort(key=lambda case: bool(case["group"] != "worker"))
    passed: list[bool] = []
    for leases in (False, True):
        with ThreadPoolExecutor(min(LEASE_THREADS, options.threads) if leases else options.threads) as pool:
            passed += pool.map(lambda pair: execute(*pair), [
                (case, kind) for case in wanted if leases == ("lease_ms" in case.get("given", {}).get("worker", {}))
                for kind in options.kinds.split(",")])
    for each in opened:
        each.close()
    if any(options.key in line for line in lines):
        print(json.dumps({"case": "log lines", "kind": "all", "seconds": 0, "failure": "a secret is in the log", "exception": None}))
        passed.append(False)
    sys.exit(0 if passed and all(passed) else 1)


if __name__ == "__main__":
    main()
