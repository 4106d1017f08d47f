"""Tests of missions and workers with pytest, against `keelson test-server`: throwaway data, a clock that the test moves.

In `conftest.py`: `from keelson.testing import keelson, keelson_server`. A test takes the fixture `keelson`, a `TestKeelson` with a
workspace of its own. The server is one per session. The command is `keelson`, or what `KEELSON_COMMAND` says.
"""
from __future__ import annotations

import datetime
import json
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from keelson import _core, _types
from keelson._errors import StepFailure
from keelson._execution import Context
from keelson._http import Settings, SyncDriver
from keelson.client import Keelson, Run
from keelson.worker import Worker

try:
    import pytest
except ImportError:  # without pytest there are no fixtures
    pytest = None  # type: ignore[assignment]

_LIMIT = 30.0


class TestServer:
    """A `keelson test-server` in a process, which ends with this one."""

    __test__ = False

    def __init__(self, command: str | None = None) -> None:
        words = shlex.split(command if command is not None else os.environ.get("KEELSON_COMMAND", "keelson"))
        environment = {name: value for name, value in os.environ.items() if name != "KEELSON_COMMAND"}
        try:
            self._process = subprocess.Popen([*words, "test-server", "--port", "0", "--json", "--until-input-ends"],
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        except FileNotFoundError:
            raise FileNotFoundError(f"the command '{words[0]}' does not start: set KEELSON_COMMAND to the path of keelson") from None
        assert self._process.stdout is not None
        text = b""
        for line in self._process.stdout:
            text += line
            if line.startswith(b"}"):
                self.url: str = json.loads(text)["url"]
                return
        raise RuntimeError(f"{words[0]} test-server did not start: exit code {self._process.wait()}")

    def stop(self) -> None:
        """Ends the server."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> TestServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class Call:
    """One execution of a step by a scripted tool."""

    def __init__(self, input_: Any, effect_key: str, attempt: int) -> None:
        self.input, self.effect_key, self.attempt = input_, effect_key, attempt

    def __repr__(self) -> str:
        return f"Call({self.input!r}, attempt={self.attempt})"


class ScriptedTool:
    """A tool whose answers a test scripts. A call without an answer fails its step for good with `NOT_SCRIPTED`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[Call] = []
        self._queue: list[Callable[[Context], Any]] = []
        self._function: Callable[[Context], Any] | None = None
        self._lock = threading.Lock()

    def returns(self, *outputs: Any) -> ScriptedTool:
        """Adds outputs to the queue, one for each call."""
        for output in outputs:
            self._queue.append(lambda ctx, output=output: output)  # type: ignore[misc]
        return self

    def fails(self, code: str, error_class: Any = "infrastructure") -> ScriptedTool:
        """Adds a failure to the queue."""
        def fail(ctx: Context) -> Any:
            raise StepFailure(code, error_class, "a failure of the test")
        self._queue.append(fail)
        return self

    def answers(self, function: Callable[[Context], Any]) -> ScriptedTool:
        """Answers calls for which the queue has no answer."""
        self._function = function
        return self

    @property
    def effects(self) -> set[str]:
        """The effect keys of the calls: an external system that knows them executes each once."""
        return {call.effect_key for call in self.calls}

    def _call(self, ctx: Context) -> Any:
        with self._lock:
            self.calls.append(Call(ctx.input, ctx.effect_key, ctx.attempt))
            handler = self._queue.pop(0) if self._queue else self._function
        if handler is None:
            raise StepFailure("NOT_SCRIPTED", "permanent", f"the test has scripted no answer of {self.name} to {ctx.input!r}")
        return handler(ctx)


class TestKeelson:
    """Keelson for one test: a workspace of its own. Waits last at most 30 s of real time; the test's time moves by `advance`."""

    __test__ = False

    def __init__(self, server: TestServer, name: str = "test") -> None:
        self._driver = SyncDriver(Settings(server.url, None, _LIMIT, _LIMIT))
        made = self._test("POST", "workspaces", {"name": name})
        self.url: str = server.url
        self.api_key: str = made["api_key"]
        self.client = Keelson(self.url, self.api_key)
        self._tools: dict[str, ScriptedTool] = {}
        self._workers: list[Worker] = []

    def _test(self, method: str, path: str, body: Any = None) -> Any:
        send = _core.request(method, "", body)
        return self._driver.run(_core.call(_core.Send(method, f"/test/{path}", send.body, send.headers)))

    def start(self, mission: Any, **inputs: Any) -> Run:
        """Creates and starts a run."""
        return self.client.runs.create(mission, inputs=inputs)

    def now(self) -> datetime.datetime:
        """The server's time."""
        return datetime.datetime.fromisoformat(self._test("GET", "clock")["now"].replace("Z", "+00:00"))

    def advance(self, time_: datetime.timedelta) -> None:
        """Moves the server's clock: timers, schedules, retries, leases and expiry are due when this returns."""
        self._test("POST", "clock", {"advance_ms": round(time_ / datetime.timedelta(milliseconds=1))})

    def fault(self, fault: str, tool: str | None = None, times: int = 1) -> None:
        """Breaks a worker's next requests (`crash_after_claim`, `crash_before_report`, `report_lost` or `report_answer_lost`), or
        those to the model (`provider_500`, without a tool)."""
        self._test("POST", "faults", {"fault": fault, "tool": tool, "times": times})

    def model(self, *answers: Any) -> None:
        """Adds answers of the model `scripted`: texts, or an answer of a rule of `keelson dev-model` such as `{"status": 500}`."""
        self._test("POST", "model", {"answers": [each if isinstance(each, dict) else {"text": each} for each in answers]})

    def questions(self) -> list[Any]:
        """Requests to the model."""
        return list(self._test("GET", "model")["items"])

    def tool(self, name: str) -> ScriptedTool:
        """The tool of this name, served by a worker of the test from now on."""
        if name not in self._tools:
            tool = self._tools[name] = ScriptedTool(name)

            def handler(ctx: Context) -> Any:
                return tool._call(ctx)
            self.serve(Worker(self.client, poll=0.5, grace=0.0), name)(handler)
        return self._tools[name]

    def serve(self, worker: Worker, name: str) -> Callable[[Callable[..., Any]], None]:
        """Serves a function as a tool by a worker, which the test starts and stops."""
        def decorate(function: Callable[..., Any]) -> None:
            worker.tool(name, input_schema={"type": "object"})(function)
            self.client.request("POST", "/dispatch/register", {"worker_id": "test", "tool_specs": [{"name": name}]})
            self._workers.append(worker.start())
        return decorate

    def step(self, run: Run, name: str, state: str) -> _types.Step:
        """Waits until a step is in a state, such as `waiting`."""
        def found() -> _types.Step | None:
            return next((step for step in run.steps() if step.name == name and step.state == state), None)
        def problem() -> str:
            there = ", ".join(f"{step.name} {step.state}" for step in run.steps()) or "none"
            return f"step {name} is not {state}; the run is {run.refresh().state}, its steps: {there}"
        step: _types.Step = self.until(found, problem)
        return step

    def event(self, run: Run, type_: str) -> Any:
        """Waits until a run has an event of a type, such as `step_deferred`."""
        def found() -> Any:
            page = self.client.request("GET", f"/runs/{run.id}/events?limit=500")
            return next((event for event in page["items"] if event["event_type"] == type_), None)
        return self.until(found, f"there is no event {type_}")

    def until(self, condition: Callable[[], Any],
              problem: str | Callable[[], str] = "the condition does not hold") -> Any:
        """Waits until a function returns something, and returns that."""
        end = time.monotonic() + _LIMIT
        while not (found := condition()):
            if time.monotonic() > end:
                raise AssertionError(problem if isinstance(problem, str) else problem())
            time.sleep(0.01)
        return found

    def end(self, run: Run) -> Run:
        """Waits for the end of a run."""
        return run.wait(_LIMIT)

    def close(self) -> None:
        """Stops the workers of the test, in the background."""
        for worker in self._workers:
            threading.Thread(target=worker.stop, daemon=True).start()
        self.client.close()


if pytest is not None:
    @pytest.fixture(scope="session")
    def keelson_server() -> Iterator[TestServer]:
        """The test server of the session."""
        with TestServer() as server:
            yield server

    @pytest.fixture
    def keelson(keelson_server: TestServer, request: pytest.FixtureRequest) -> Iterator[TestKeelson]:
        """Keelson for one test."""
        kit = TestKeelson(keelson_server, request.node.name)
        yield kit
        kit.close()
