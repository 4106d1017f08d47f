"""One execution of a step by a worker, from its claim until the server has answered its report."""
from __future__ import annotations

import base64
import dataclasses
import decimal
import threading
import typing
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from keelson import _json
from keelson._errors import Cancelled, KeelsonError, StepDeferral, StepFailure
from keelson._types import WorkItem

Stop = Literal["budget_exceeded", "cancelled", "timed_out", "lost"]
Kind = Literal["complete", "continue", "fail", "release"]
Amount = decimal.Decimal | int | str
MAX_LINES = 1_000
MAX_ARTIFACT, MAX_ARTIFACTS = 1 << 20, 8 << 20


@dataclasses.dataclass(frozen=True)
class Gateway:
    """Address and token of the server's gateway to models. Calls are charged to the step. The token is not shown."""

    server: str
    token: str = dataclasses.field(repr=False)

    def openai(self) -> dict[str, str]:
        """Keyword arguments of `openai.OpenAI` and `openai.AsyncOpenAI`."""
        return {"base_url": f"{self.server}/gateway/openai/v1", "api_key": self.token}

    def anthropic(self) -> dict[str, str]:
        """Keyword arguments of `anthropic.Anthropic` and `anthropic.AsyncAnthropic`."""
        return {"base_url": f"{self.server}/gateway/anthropic", "api_key": self.token}

    def mcp(self) -> str:
        """Address of the step's tools over the Model Context Protocol, with the token as bearer."""
        return f"{self.server}/gateway/mcp"

    def environment(self) -> dict[str, str]:
        """Variables by which a program finds the gateway. They also switch off what would send the token to a provider's services."""
        return {"OPENAI_BASE_URL": self.openai()["base_url"], "OPENAI_API_KEY": self.token,
                "ANTHROPIC_BASE_URL": self.anthropic()["base_url"], "ANTHROPIC_API_KEY": self.token, "ANTHROPIC_AUTH_TOKEN": self.token,
                "KEELSON_MCP_URL": self.mcp(), "KEELSON_STEP_TOKEN": self.token, "OPENAI_AGENTS_DISABLE_TRACING": "1",
                "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


@dataclasses.dataclass(frozen=True)
class Result:
    """How an execution ended: the route that takes it, and the members of its report."""

    kind: Kind
    body: dict[str, Any]
    is_last: bool = False
    """Whether nothing else is reported when the server refuses this report"""

    @staticmethod
    def failed(failure: StepFailure, usage: Mapping[str, Any] | None = None) -> Result:
        """A failure, with the use so far."""
        body: dict[str, Any] = {**(usage or {}), "error_code": failure.code, "error_class": failure.error_class, "message": failure.message}
        if failure.retry_after is not None:
            body["retry_after_ms"] = round(failure.retry_after * 1000)
        return Result("fail", body)

    @staticmethod
    def refused(code: str, message: str) -> Result:
        """The failure of a step whose failure the server refuses, without all that it may have refused."""
        return Result("fail", {"error_code": code, "error_class": "permanent", "message": message}, is_last=True)

    @staticmethod
    def released() -> Result:
        """Handed back unfinished: it costs neither an attempt nor a failure."""
        return Result("release", {}, is_last=True)

    @staticmethod
    def deferred(deferral: StepDeferral) -> Result:
        """Handed back until a time."""
        body = {"retry_after_ms": round(deferral.delay * 1000), "message": deferral.message, "busy": deferral.busy,
                "error_code": deferral.code}
        return Result("release", {"deferral": {name: each for name, each in body.items() if each is not None}}, is_last=True)


class Continue:
    """Returned by a handler: this turn is done, and another one is needed; it comes a second later."""

    def __init__(self, output: Any = None) -> None:
        self.output = output


class Context:
    """What a handler knows of its step, and what it tells the server meanwhile."""

    def __init__(self, item: dict[str, Any], server: str, tell: Callable[[str, Any], None]) -> None:
        self._item = WorkItem(item)
        self._server = server
        self._tell = tell
        self._cancel = threading.Event()
        self._stop: Stop | None = None
        self.step_id: str = self._item.step_id
        self.run_id: str = self._item.run_id
        self.task_id: str = self._item.task_id
        self.tool: str = self._item.tool
        self.input: Any = _json.plain(item.get("input"))
        """The step's input, its expressions resolved"""
        self.attempt: int = self._item.attempt
        self.lease_epoch: int = self._item.lease_epoch
        self.deadline: datetime | None = self._item.deadline
        """When the server stops waiting"""
        self.effect_key: str = self._item.effect_key
        """Equal in every execution of the step: pass it to systems that deduplicate by key"""
        self.max_output_tokens: int | None = self._item.max_output_tokens
        self.traceparent: str | None = self._item.traceparent
        self.failure_context: Any = _json.plain(item.get("failure_context"))
        """The failure of the attempt before, and a verifier's feedback"""

    @property
    def details(self) -> Any:
        """What an earlier execution of the step kept; None if absent. Assign to keep something for the next one."""
        return _json.plain(self._item.raw.get("details"))

    @details.setter
    def details(self, value: Any) -> None:
        self._tell("details", value)

    @property
    def cancelled(self) -> bool:
        """True when the result is no longer needed, or the worker stops. `stop` says why."""
        return self._cancel.is_set()

    @property
    def stop(self) -> Stop | None:
        """Why the server no longer wants the work: `budget_exceeded`, `cancelled`, `timed_out` or `lost`; else None."""
        return self._stop

    def check(self) -> None:
        """Raises `Cancelled` when the result is no longer needed."""
        if self.cancelled:
            raise Cancelled(self._stop or "the worker stops")

    def wait(self, seconds: float) -> bool:
        """Waits, at most until the handler is cancelled; True if it is."""
        return self._cancel.wait(seconds)

    def progress(self, fraction: float, message: str = "") -> None:
        """Shows progress, within about a second; `fraction` is 0 to 1."""
        if isinstance(fraction, bool) or not isinstance(fraction, (int, float, decimal.Decimal)) or fraction != fraction:
            raise TypeError(f"the fraction of a progress is a number from 0 to 1, not {_json.kind(fraction)}")
        self._tell("progress", {"fraction": min(1.0, max(0.0, fraction)), "message": message})

    def log(self, line: str) -> None:
        """Adds a line to the step's log."""
        self._tell("log", str(line))

    def usage(self, *, tokens: int | Mapping[str, int] | None = None, cost: Amount | None = None,
              model: str | None = None) -> None:
        """What this execution has used in all so far. Heartbeats charge it, so call it after each purchase.

        `cost` in credits as `Decimal`, int or text; without it the server's prices of `model` decide. `tokens` is a
        number, or the parts `input`, `cache_read`, `cache_write`, `output`, `reasoning`.
        """
        if isinstance(cost, float):
            raise TypeError("money is no float: pass a Decimal or a text such as '0.002'")
        used: dict[str, Any] = {} if model is None else {"model": model}
        if tokens is not None:
            parts = isinstance(tokens, Mapping)
            for name, each in tokens.items() if isinstance(tokens, Mapping) else [("tokens", tokens)]:
                _check_count(f"tokens.{name}" if parts else name, each)
            used["usage" if parts else "tokens"] = tokens
        if cost is not None:
            used["cost"] = _cost(cost)
        self._tell("usage", used)

    def artifact(self, name: str, content: bytes | str, content_type: str = "application/octet-stream") -> None:
        """Stores a file with the result: at most 1 MiB each and 8 MiB together. `upload` takes larger ones."""
        data = content.encode() if isinstance(content, str) else content
        if len(data) > MAX_ARTIFACT:
            raise ValueError(f"artifact {name} has {len(data)} bytes; at most {MAX_ARTIFACT} are allowed")
        self._tell("artifact", {"name": name, "content_type": content_type, "content_base64": base64.b64encode(data).decode()})

    def upload(self, name: str, file: str, content_type: str = "application/octet-stream") -> None:
        """Uploads a file of any size at once, and stores it with the result."""
        self._tell("upload", {"name": name, "content_type": content_type, "file": str(file)})

    def propose(self, title: str, body: str | None = None, data: Any = None) -> None:
        """A proposal to people, with the result; no work waits for the answer."""
        proposal = {"title": title, "body": body, "data": data}
        self._tell("proposal", {name: each for name, each in proposal.items() if each is not None})

    @property
    def gateway(self) -> Gateway:
        """The server's gateway to models for this step."""
        token = (self._item.raw.get("gateway") or {}).get("token")
        if not token:
            raise KeelsonError("NO_GATEWAY", "this server gives the step no access to its gateway to models")
        return Gateway(self._server, token)

    def __repr__(self) -> str:
        return f"Context({self.tool!r}, step_id={self.step_id!r}, attempt={self.attempt})"


class Execution:
    """Working until it is reporting or lost, whichever comes first; the others then change nothing. Thread-safe."""

    def __init__(self, item: dict[str, Any], server: str, news: Callable[[], None],
                 upload: Callable[[Execution, dict[str, Any]], str]) -> None:
        self.context = Context(item, server, self.tell)
        self.key = (self.context.step_id, self.context.lease_epoch)
        self.on_stop: Callable[[], None] | None = None
        self.leased = self.signed = 0.0
        """When its lease has begun, and when the server got the last heartbeat since; of the monotonic clock"""
        self._news, self._upload = news, upload
        self._lock = threading.Lock()
        self._phase: Literal["working", "reporting", "lost"] = "working"
        self._notes: dict[str, Any] = {}
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._usage: dict[str, Any] = {}
        self._attached: dict[str, list[Any]] = {}
        self._bytes = 0

    @property
    def lost(self) -> bool:
        """Nothing is to be reported."""
        return self._phase == "lost"

    def finish(self) -> bool:
        """The handler is done; False when its result is to be dropped."""
        return self._leave("reporting")

    def stop(self, reason: Stop) -> bool:
        """The server does not want the work: cancels the handler. Its result counts after `budget_exceeded` only."""
        if reason == "budget_exceeded":
            return self._phase == "working" and self.context.stop is None and self._cancel(reason)
        return self._leave("lost") and self._cancel(reason)

    def abandon(self) -> bool:
        """The worker stops before the handler is done: cancels it, and the step is to be handed back."""
        return self._leave("reporting") and self._cancel(None)

    def _leave(self, phase: Literal["reporting", "lost"]) -> bool:
        with self._lock:
            if self._phase != "working":
                return False
            self._phase = phase
            return True

    def _cancel(self, reason: Stop | None) -> bool:
        self.context._stop = reason
        self.context._cancel.set()
        on_stop = self.on_stop
        if on_stop is not None:
            on_stop()
        return True

    def tell(self, what: str, value: Any) -> None:
        """Takes what a handler tells. Raises `KeelsonError` for a value that JSON lacks."""
        if what == "upload":
            value, what = {"upload_id": self._upload(self, value)}, "upload"
        else:
            try:
                value = _json.loads(_json.dumps(value))
            except KeelsonError as e:
                raise KeelsonError(e.code, f"{what} of {self.context.tool}: {e.message}", document=e.document) from e
        with self._lock:
            if what == "log":
                self._lines.append(value)
            elif what in ("progress", "details"):
                self._notes[what] = value
            elif what == "usage":
                self._usage = value
                self._notes["usage"] = value
            else:
                if what == "artifact":
                    self._bytes += len(value["content_base64"]) * 3 // 4
                    if self._bytes > MAX_ARTIFACTS:
                        raise ValueError(f"with {value['name']} the step's artifacts exceed {MAX_ARTIFACTS} bytes together")
                self._attached.setdefault(what + "s", []).append(value)
                return
        self._news()

    def take_notes(self, *, final: bool) -> dict[str, Any]:
        """The new notes as members of a report; a final report takes progress and log lines only."""
        with self._lock:
            taken = {name: self._notes.pop(name) for name in list(self._notes) if name == "progress" or not final}
            if self._lines:
                taken["logs"] = list(self._lines)
                self._lines.clear()
            return taken

    def put_back(self, notes: dict[str, Any]) -> None:
        """Notes that did not reach the server, before newer ones."""
        with self._lock:
            lines = notes.pop("logs", [])
            self._notes = {**notes, **self._notes}
            self._lines.extendleft(reversed(lines[:MAX_LINES - len(self._lines)]))

    @property
    def has_notes(self) -> bool:
        """Whether there is something that only a heartbeat can carry, or that is new."""
        with self._lock:
            return bool(self._notes or self._lines)

    def completed(self, output: Any, kind: Kind = "complete") -> Result:
        """The result, with all that was attached. An output that JSON lacks fails the step for good."""
        try:
            _json.dumps(output)
        except KeelsonError as e:
            return self.failed(StepFailure("OUTPUT_INVALID", "permanent", f"the output of {self.context.tool}: {e.message}"))
        return Result(kind, {**self._attached, **self._usage, "output": output})

    def failed(self, failure: StepFailure) -> Result:
        """A failure, with the use so far."""
        return Result.failed(failure, self._usage)

    def reference(self) -> dict[str, Any]:
        """The members that name this execution in every report."""
        return {"step_id": self.key[0], "lease_epoch": self.key[1]}


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"the number {name} of a use is whole, not {_json.kind(value)}")
    if value < 0:
        raise ValueError(f"the number {name} of a use is not negative: {value}")


def _cost(cost: Any) -> decimal.Decimal:
    if isinstance(cost, bool) or not isinstance(cost, (decimal.Decimal, int, str)):
        raise TypeError(f"the cost of a use is a Decimal or a text such as '0.002', not {_json.kind(cost)}")
    try:
        amount = decimal.Decimal(cost)
    except decimal.InvalidOperation:
        amount = decimal.Decimal("NaN")
    if not amount.is_finite():
        raise ValueError(f"the cost of a use is a decimal number, not {_json.kind(cost)}")
    if amount < 0:
        raise ValueError(f"the cost of a use is not negative: {amount}")
    return amount


def flat(notes: dict[str, Any]) -> dict[str, Any]:
    """Notes as members of a heartbeat: those of the use stand beside the others."""
    return {**{name: each for name, each in notes.items() if name != "usage"},
            **typing.cast("dict[str, Any]", notes.get("usage", {}))}
