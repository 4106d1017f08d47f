"""The client without I/O: requests, retries, waits and streams as generators of commands.

A driver of `_http` executes each command and sends its result back, once with blocking and once with asynchronous I/O.
"""
from __future__ import annotations

import dataclasses
import random
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from keelson import _json, schema
from keelson._errors import CHECK_URL, KeelsonError

T = TypeVar("T")
M = TypeVar("M")
TRIES = 4
FIRST_DELAY, LONGEST_DELAY = 0.1, 2.0
LONGEST_WISH = 60.0
HELD_OPEN = 10.0
ANSWER_LIMIT = 30.0
STREAM_DELAYS = (0.1, 5.0)
PAGE = 500


@dataclasses.dataclass(frozen=True)
class Send:
    """Sends a request and reads the whole answer. Its result is a `Reply`."""

    method: str
    path: str
    """From the server's root"""
    body: bytes | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    timeout: float | None = None
    """Seconds for the answer; None for the client's own"""
    repeatable: bool = False
    """Whether it may be sent again when it is not known if the first one arrived"""


@dataclasses.dataclass(frozen=True)
class Open:
    """Opens a stream. Its result is a `Reply`, whose content is empty if the stream is open."""

    path: str


@dataclasses.dataclass(frozen=True)
class Read:
    """Reads the next bytes of the open stream; None at its end."""


@dataclasses.dataclass(frozen=True)
class Close:
    """Closes the open stream, if there is one."""


@dataclasses.dataclass(frozen=True)
class Pause:
    """Waits."""

    seconds: float


@dataclasses.dataclass(frozen=True)
class Emit:
    """Gives an item to the caller of a flow that iterates."""

    item: Any


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    server: str = "the server"
    """Its address"""


Command = Send | Open | Read | Close | Pause | Emit
Flow = Generator[Command, Any, T]


class Backoff:
    """Delays with full jitter, whose upper limit doubles from one failure to the next."""

    def __init__(self, first: float = FIRST_DELAY, longest: float = LONGEST_DELAY) -> None:
        self.first, self.longest = first, longest
        self.failures = 0

    def next(self, wish: float | None = None) -> float:
        """The delay after one more failure, at least what the server asks for (`Retry-After`), up to 60 s."""
        limit = min(self.first * 2.0 ** min(self.failures, 30), self.longest)
        self.failures += 1
        return max(random.uniform(0, limit), min(wish or 0.0, LONGEST_WISH))

    def reset(self) -> None:
        """After a success."""
        self.failures = 0


def path(fixed: str, *parts: str, **query: Any) -> str:
    """A path below `/api/v1` of fixed text with `{}` for encoded segments, and a query without what is None."""
    encoded = fixed.format(*(urllib.parse.quote(str(part), safe="") for part in parts))
    asked = {name: str(value).lower() if isinstance(value, bool) else value
             for name, value in query.items() if value is not None}
    return "/api/v1" + encoded + ("?" + urllib.parse.urlencode(asked, quote_via=urllib.parse.quote) if asked else "")


def get(where: str, timeout: float | None = None, headers: Mapping[str, str] | None = None) -> Send:
    """A read, which may be repeated."""
    return Send("GET", where, headers=headers or {}, timeout=timeout, repeatable=True)


def post(where: str, body: Any, *, key: str | None = None, keyed: bool = True, timeout: float | None = None) -> Send:
    """A request under an idempotency key, of the caller or made here, so that it may be repeated; not `keyed` without."""
    headers = {"Content-Type": "application/json"}
    if keyed:
        headers["Idempotency-Key"] = key or str(uuid.uuid4())
    return Send("POST", where, _json.dumps(body), headers, timeout, keyed)


def request(method: str, where: str, body: Any = None, timeout: float | None = None) -> Send:
    """A request of any route. Only reads are repeated."""
    if method == "GET":
        return get("/api/v1" + where, timeout)
    content = None if body is None else _json.dumps(body)
    return Send(method, "/api/v1" + where, content, {"Content-Type": "application/json"} if content else {}, timeout)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of the header `Retry-After`; None if it has none."""
    value = headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d{1,6}", value) else None


def judged(reply: Reply) -> Any:
    """The answer's document. Raises for a refusal; an error's body may be anything, a good answer must be JSON."""
    if 300 <= reply.status < 400 and reply.status != 304:
        raise KeelsonError("BAD_ANSWER", f"{reply.server} refers to {reply.headers.get('location') or 'another address'}, "
                           f"which no Keelson server does; {CHECK_URL}")
    if reply.status == 304 or not reply.content:
        document: Any = None
    else:
        try:
            document = _json.loads(reply.content)
        except ValueError as e:
            if reply.status < 400:
                raise KeelsonError("BAD_ANSWER", f"{reply.server} answered something that is not JSON, "
                                   f"which no Keelson server does; {CHECK_URL}") from e
            document = None
    if reply.status >= 400:
        raise KeelsonError.refused(reply.status, document, retry_after(reply.headers), reply.server)
    return document


def exchange(call: Send) -> Flow[tuple[Reply, Any]]:
    """Sends a request, again where it may be repeated and repeating can help. Returns the answer and its document."""
    backoff = Backoff()
    while True:
        try:
            reply = yield call
            return reply, judged(reply)
        except KeelsonError as e:
            delay = backoff.next(e.retry_after)
            if not (call.repeatable and e.repeatable and backoff.failures < TRIES):
                raise
        yield Pause(delay)


def call(send: Send) -> Flow[Any]:
    """The document of an answer."""
    return (yield from exchange(send))[1]


def pages(where: Callable[[str | None], str]) -> Flow[None]:
    """Emits all items of a list, page by page. `where` makes the path of a page from its cursor."""
    cursor = None
    while True:
        page = yield from call(get(where(cursor)))
        for item in page["items"]:
            yield Emit(item)
        cursor = page.get("next_cursor")
        if cursor is None:
            return


def wait(run_id: str, timeout: float, clock: Callable[[], float] = time.monotonic) -> Flow[Any]:
    """Waits for the end of a run by requests that the server holds open, over restarts of the server."""
    deadline = clock() + timeout
    backoff = Backoff(0.05, 1.0)
    latest: Any = None
    tag: str | None = None
    while True:
        asked = clock()
        held = min(max(deadline - asked, 0.001), HELD_OPEN)
        try:
            reply, document = yield from exchange(get(
                path("/runs/{}", run_id, wait_ms=int(held * 1000) or 1), held + ANSWER_LIMIT,
                {} if tag is None else {"If-None-Match": tag}))
            if reply.status != 304:
                latest, tag = document, reply.headers.get("etag")
                backoff.reset()
        except KeelsonError as e:
            if not e.transient:
                raise
        if latest is not None and latest.get("state_type") == "terminal":
            return latest
        left = deadline - clock()
        if left <= 0:
            state = "unknown" if latest is None else latest.get("state")
            raise KeelsonError("AWAIT_TIMEOUT", f"run {run_id} has not ended within {timeout:g} s; it is {state}")
        if clock() - asked < 1.0:
            yield Pause(min(backoff.next(), left))


class Frames:
    """Divides the bytes of a stream of server-sent events into events."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: int | None = None
        self._data: list[bytes] = []

    def feed(self, more: bytes) -> list[tuple[int, Any]]:
        """The events that are complete, each with its id."""
        lines = (self._rest + more).split(b"\n")
        self._rest = lines.pop()
        events = []
        for line in lines:
            name, _, value = line.rstrip(b"\r").partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if name == b"id" and value.isdigit():
                self._id = int(value)
            elif name == b"data":
                self._data.append(value)
            elif not line.strip():
                if self._data and self._id is not None:
                    events.append((self._id, _json.loads(b"\n".join(self._data))))
                self._data = []
        return events


def output_as(model: type[M], output: Any) -> M:
    """The output of a run as a type."""
    try:
        made: M = schema.value(model, output, "output")
        return made
    except ValueError as e:
        raise KeelsonError("OUTPUT_INVALID", f"the output is no {getattr(model, '__name__', model)}: {e}") from None


def events(where: Callable[[int], str], after: int) -> Flow[None]:
    """Emits each event once and in order. Resumes behind the last one after a lost connection, ends when the server says so."""
    seen = after
    backoff = Backoff(*STREAM_DELAYS)
    while True:
        wish = None
        try:
            reply = yield Open(where(seen))
            if reply.status == 204:
                return
            judged(reply)
            frames = Frames()
            more = yield Read()
            while more is not None:
                for number, event in frames.feed(more):
                    if number > seen:
                        seen = number
                        backoff.reset()
                        yield Emit(event)
                more = yield Read()
        except KeelsonError as e:
            if not e.transient:
                raise
            wish = e.retry_after
        yield Close()
        if backoff.failures or wish:
            yield Pause(backoff.next(wish))
        else:
            backoff.failures = 1  # the first resumption is at once


def content(send: Send) -> Flow[bytes]:
    """The content of an answer that is no document."""
    backoff = Backoff()
    while True:
        try:
            reply: Reply = yield send
            if reply.status >= 400:
                judged(reply)
            return reply.content
        except KeelsonError as e:
            delay = backoff.next(e.retry_after)
            if not e.repeatable or backoff.failures >= TRIES:
                raise
        yield Pause(delay)


def mission_body(mission: Any, inputs: Mapping[str, Any] | None, start: bool) -> dict[str, Any]:
    """The body that creates a run of a mission."""
    convert = getattr(mission, "to_json_value", None)
    if convert is None and not isinstance(mission, Mapping):
        raise TypeError(f"a run is created of a Mission or a dict, not of {_json.kind(mission)}")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError(f"the inputs of a run are an object, not {_json.kind(inputs)}")
    body = dict(convert() if convert is not None else mission)
    if inputs:
        body["input"] = {**(body.get("input") or {}), **inputs}
    body["start"] = start
    return body
