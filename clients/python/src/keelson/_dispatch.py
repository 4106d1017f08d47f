"""A worker's calls to the server, its leases and its reports."""
from __future__ import annotations

import logging
import pathlib
import queue
import re
import threading
import time
import typing
from collections.abc import Callable, Iterator
from typing import Any

from keelson import _core
from keelson._errors import CHECK_KEY, CHECK_URL, KeelsonError, StepFailure
from keelson._execution import Execution, Result, Stop, flat
from keelson._http import SyncDriver

LOG = logging.getLogger("keelson.worker")
ANSWER_LIMIT = 15.0
UPLOAD_LIMIT = 12 * 3600.0
NEWS_DELAY = 1.0
BATCH = 100
_STOPS = ("budget_exceeded", "cancelled", "timed_out", "lost")


def may_pass(error: KeelsonError) -> bool:
    """Whether repeating a refused call unchanged can succeed: the server is away, overloaded, or does not accept the key now."""
    return error.status == 0 or error.status >= 500 or error.status in (401, 403, 408, 429)


def is_final(error: KeelsonError, first: bool) -> bool:
    """Whether a worker that the server has never accepted gives up: its key, its address or one of its tools is wrong.

    A page instead of an answer is final as the `first` answer only; later a proxy may have sent it for a server that restarts.
    """
    return (error.code in ("TLS_FAILED", "NOT_JSON") or (error.code == "BAD_ANSWER" and first)
            or (400 <= error.status < 500 and error.status not in (408, 425, 429)) or error.status == 501)


def advised(error: KeelsonError, tools: list[str]) -> str:
    """The message of a claim's error, with the tool that it is about and what its reader can do."""
    text = error.message + (f"; the key of a worker needs the scope work; {CHECK_KEY}" if error.status == 403 else "")
    if error.code == "CONNECTION_LOST":
        text += f"; if this lasts, {CHECK_URL}: the address of a server of HTTPS begins with https://"
    found = re.match(r"/tool(?:_spec)?s/(\d+)", str(error.document.get("pointer") or ""))
    if found and int(found[1]) < len(tools):
        text = f"tool {tools[int(found[1])]}: {text}"
    return text


class Dispatch:
    """The routes of `/dispatch`. None repeats its call."""

    def __init__(self, driver: SyncDriver, worker_id: str, version: str | None, specs: list[dict[str, Any]], lease: float,
                 chains: list[str]) -> None:
        self._driver, self._worker_id, self._version, self._specs = driver, worker_id, version, specs
        self._asking: dict[str, Any] = {"tools": [each["name"] for each in specs], "lease_ms": round(lease * 1000)}
        if chains:
            self._asking["chains"] = chains
        self._announced = False

    def _post(self, route: str, body: dict[str, Any], limit: float) -> Any:
        call = _core.post(_core.path(f"/dispatch/{route}"), {"worker_id": self._worker_id, **body}, keyed=False, timeout=limit)
        return self._driver.run(_core.call(call))

    @property
    def announced(self) -> bool:
        """Whether the server has accepted a claim, and so the key and the tools."""
        return self._announced

    def claim(self, most: int, wait: float) -> list[dict[str, Any]]:
        """Steps under new leases: at once when there are any, else as soon as one is ready, else none."""
        body: dict[str, Any] = {**self._asking, "max": most, "wait_ms": round(wait * 1000), "again": True}
        if self._version is not None:
            body["version"] = self._version
        if not self._announced:
            body["tool_specs"] = self._specs
        answer = self._post("claim", body, wait + ANSWER_LIMIT)
        items = answer.get("items") if isinstance(answer, dict) else None
        if not isinstance(items, list):
            raise KeelsonError("BAD_ANSWER", f"{self._driver.settings.url} does not answer claims as a Keelson server does; {CHECK_URL}")
        self._announced = True
        return items

    def heartbeat(self, items: list[dict[str, Any]], limit: float) -> list[dict[str, Any] | None]:
        """The server's answers in the order of the items; None where it gave none."""
        return _matched(items, self._post("heartbeat", {"items": items}, min(limit, ANSWER_LIMIT)))

    def report(self, kind: str, items: list[dict[str, Any]], slots: int) -> tuple[list[dict[str, Any] | None], list[dict[str, Any]]]:
        """Sends reports to the route of their kind, and claims steps for the slots that they free; none if 0.

        Returns the answers, of which one to a completed step may have the next of its task, and the other steps.
        """
        body: dict[str, Any] = {"items": items}
        if slots:
            body["claim"] = {**self._asking, "max": slots}
        answer = self._post(kind, body, ANSWER_LIMIT)
        return _matched(items, answer), answer.get("claimed") or []

    def upload(self, execution: Execution, artifact: dict[str, Any]) -> str:
        """Sends a file for a step that the worker has; returns the id that the step's report names."""
        where = _core.path("/dispatch/artifacts", worker_id=self._worker_id, name=artifact["name"], **execution.reference())
        content = pathlib.Path(artifact["file"]).read_bytes()
        send = _core.Send("POST", where, content, {"Content-Type": artifact["content_type"]}, UPLOAD_LIMIT, repeatable=True)
        return str(self._driver.run(_core.call(send))["upload_id"])


def _matched(items: list[dict[str, Any]], answer: Any) -> list[dict[str, Any] | None]:
    """Answers by item. A step may be in one batch under two leases; its answers come in the order of its items."""
    left = list(answer["items"])
    matched: list[dict[str, Any] | None] = []
    for item in items:
        found = next((each for each in left if each.get("step_id") == item["step_id"]), None)
        if found is not None:
            left.remove(found)
        matched.append(found)
    return matched


class Slots:
    """How many steps the worker takes at a time, and which it has. A slot is held until the report is answered."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken: dict[tuple[str, int], Execution] = {}
        self._expected: dict[tuple[str, int], Execution] = {}
        self._closed = False
        self._changed = threading.Condition()

    def await_free(self) -> int:
        """The number of free slots as soon as there is one; 0 when closed."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._taken) < self._size or self._closed)
            return 0 if self._closed else self._size - len(self._taken)

    def take(self, execution: Execution) -> bool:
        """False when there is one under this lease: a lost answer may arrive twice, and an expected lease may begin."""
        with self._changed:
            begun = self._expected.pop(execution.key, execution)
            if begun.lost:
                begun = execution
            if self._taken.setdefault(execution.key, begun) is begun:
                begun.leased = begun.signed = time.monotonic()
            return self._taken[execution.key] is execution

    def expect(self, execution: Execution) -> bool:
        """The execution is about to begin in the slot of another one, and its lease begins later. False if there is one under this lease."""
        with self._changed:
            if execution.key in self._taken:
                return False
            self._expected[execution.key] = execution
            return True

    def holds(self, execution: Execution) -> bool:
        """Whether the execution's lease has begun."""
        return self.count(execution) == 1

    def count(self, *executions: Execution) -> int:
        """The number of slots that these executions hold."""
        with self._changed:
            return sum(self._taken.get(each.key) is each for each in executions)

    def free(self, *executions: Execution) -> None:
        """Frees slots, all at once so that one claim fills them. A second time changes nothing."""
        with self._changed:
            for each in executions:
                for known in (self._taken, self._expected):
                    if known.get(each.key) is each:
                        del known[each.key]
            self._changed.notify_all()

    def close(self) -> None:
        """Ends the waiting for slots."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def taken(self) -> list[Execution]:
        """All executions that hold a slot."""
        with self._changed:
            return list(self._taken.values())

    def await_idle(self, seconds: float) -> bool:
        """Waits until no slot is taken; False when that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._taken, max(0.0, seconds))


class Heartbeats:
    """Keeps the leases of executions older than a third of a lease, in one call for all, and sends news within a second.

    `before` is called before each call with executions that are older.
    """

    def __init__(self, dispatch: Dispatch, slots: Slots, lease: float, before: Callable[[], None]) -> None:
        self._dispatch, self._slots, self._interval, self._before = dispatch, slots, lease / 3, before
        self._news = threading.Event()
        self._ended = threading.Event()
        self._one = threading.RLock()
        self._failing = False

    def nudge(self) -> None:
        """There is something to report."""
        self._news.set()

    def end(self) -> None:
        """Ends `run`."""
        self._ended.set()
        self._news.set()

    def run(self) -> None:
        """Beats until `end`."""
        last = time.monotonic()
        while not self._ended.is_set():
            due = self._due(last)
            soon = last + min(NEWS_DELAY, self._interval / 3 if self._failing else self._interval)
            if self._news.wait(max(0.0, due - time.monotonic())) and not self._ended.wait(max(0.0, min(soon, due) - time.monotonic())):
                self._news.clear()
            if not self._ended.is_set() and self._beat_all():
                last = time.monotonic()

    def _due(self, last: float) -> float:
        """When a lease needs a heartbeat; an interval from now if there is no lease. Leases wait for each other, to be in one call."""
        signs = [each.signed for each in self._slots.taken() if not each.lost]
        return max(last + self._interval / 2, min(signs, default=time.monotonic()) + self._interval)

    def _beat_all(self) -> bool:
        """A call for all that are older or have news; False if there are none."""
        old = time.monotonic() - self._interval
        taken = [each for each in self._slots.taken() if not each.lost]
        if any(each.signed <= old for each in taken):
            self._before()
        alive = [each for each in taken if each.leased <= old or each.has_notes]
        if not alive:
            return False
        try:
            self.beat(alive)
            self._failing = False
        except KeelsonError as e:
            LOG.log(logging.DEBUG if self._failing else logging.WARNING, "heartbeat of %d steps failed: %s", len(alive), e)
            self._failing = True
            if e.transient:
                self.nudge()
        return True

    def beat(self, executions: list[Execution]) -> None:
        """One call with all new notes. One at a time, so that log lines keep their order."""
        with self._one:
            if not executions:
                return
            taken = [each.take_notes(final=False) for each in executions]
            items = [{**each.reference(), **flat(notes)} for each, notes in zip(executions, taken, strict=True)]
            sent = time.monotonic()
            try:
                answers = self._dispatch.heartbeat(items, self._interval)
            except KeelsonError as e:
                if may_pass(e):
                    for execution, notes in zip(executions, taken, strict=True):
                        execution.put_back(notes)
                raise
        for execution, answer in zip(executions, answers, strict=True):
            execution.signed = sent
            if answer is not None and answer.get("status") in ("stop", "not_found"):
                reason = answer.get("reason")
                stop = typing.cast("Stop", reason if reason in _STOPS else "lost")
                if execution.stop(stop):
                    LOG.info("step %s is to stop: %s", execution.key[0], stop)

    def notes(self, execution: Execution) -> dict[str, Any]:
        """New notes for a report. Waits for a heartbeat at work, which may put notes back."""
        with self._one:
            return execution.take_notes(final=True)

    def flush(self, executions: list[Execution]) -> None:
        """Sends notes that reports cannot carry, before the reports."""
        self.beat([each for each in executions if each.has_notes])


class _Settling:
    """Counts reports that were added together and have no answer yet. Used by one thread."""

    def __init__(self, left: int, then: Callable[[], None]) -> None:
        self._left, self._then = left, then

    def one(self) -> None:
        """A report has its answer."""
        self._left -= 1
        if self._left == 0:
            self._then()


_Report = tuple[Execution, Result, _Settling]


class Reports:
    """Sends reports in batches, and again until each is answered, and claims steps for the slots that they free.

    `claims`: whether the worker takes further steps. `on_work` takes one, before the slot of a reported one is free.
    """

    def __init__(self, dispatch: Dispatch, heartbeats: Heartbeats, slots: Slots, claims: Callable[[], bool],
                 on_work: Callable[[dict[str, Any]], None]) -> None:
        self._dispatch, self._heartbeats, self._slots = dispatch, heartbeats, slots
        self._claims, self._on_work = claims, on_work
        self._queue: queue.SimpleQueue[list[_Report]] = queue.SimpleQueue()
        self._backoff = _core.Backoff(0.1, 5.0)
        self._ended = threading.Event()

    def add(self, *reports: tuple[Execution, Result], settled: Callable[[], None] = lambda: None) -> None:
        """Queues reports, to be sent in this order, and in one request if possible. Calls `settled` when all are answered."""
        settling = _Settling(len(reports), settled)
        self._queue.put([(execution, result, settling) for execution, result in reports])

    def end(self) -> None:
        """Ends `run`."""
        self._ended.set()
        self._queue.put([])

    def run(self) -> None:
        """Reports until `end`."""
        while True:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            reports = [each for added in batch for each in added]
            if self._ended.is_set():
                return
            delay = self._deliver(reports) if reports else 0.0
            if delay and self._ended.wait(delay):
                return

    def _deliver(self, batch: list[_Report]) -> float:
        """Sends everything once; what got no answer is queued again. Returns how long to wait before the next try."""
        for execution, result, _ in batch:
            if result.kind != "release":
                result.body.update(self._heartbeats.notes(execution))
        try:
            self._heartbeats.flush([execution for execution, _, _ in batch])
        except KeelsonError as e:
            if may_pass(e):
                return self._later(batch, e)
            LOG.warning("final notes of %d steps rejected: %s", len(batch), e)
        return max(self._send(part) for part in _parts(batch))

    def _send(self, part: list[_Report]) -> float:
        items = [{**execution.reference(), **result.body} for execution, result, _ in part]
        slots = max(1, self._slots.count(*[execution for execution, _, _ in part])) if self._claims() else 0
        try:
            answers, claimed = self._dispatch.report(part[0][1].kind, items, slots)
        except KeelsonError as e:
            if may_pass(e):
                return self._later(part, e)
            if len(part) > 1:
                return max(self._send([each]) for each in part)
            execution, result, settling = part[0]
            self._refused(execution, result, e.code, e.message)
            settling.one()
            return 0.0
        self._backoff.reset()
        for item in claimed:
            self._on_work(item)
        unanswered, settled = [], []
        for report, answer in zip(part, answers, strict=True):
            if answer is None:
                unanswered.append(report)
            elif self._settle(report[0], report[1], answer):
                settled.append(report[0])
        self._slots.free(*settled)
        for (_, _, settling), answer in zip(part, answers, strict=True):
            if answer is not None:
                settling.one()
        if unanswered:
            self._queue.put(unanswered)
        return self._backoff.next() if unanswered else 0.0

    def _settle(self, execution: Execution, result: Result, answer: dict[str, Any]) -> bool:
        """True when its slot is to be freed; a refused report frees its own."""
        status = answer.get("status")
        if status in ("ok", "duplicate"):
            if isinstance(answer.get("next"), dict):  # before the slot is free, so that the worker never seems idle
                self._on_work(answer["next"])
            return True
        if status in ("conflict", "stale_lease", "not_found"):
            LOG.info("report of step %s is no longer accepted (%s)", execution.key[0], status)
            return True
        self._refused(execution, result, str(answer.get("code") or "RESULT_REFUSED"), str(answer.get("detail") or status))
        return False

    def _refused(self, execution: Execution, result: Result, code: str, reason: str) -> None:
        """The server rejects this report for good: the step fails instead, with the server's reason."""
        LOG.error("report of step %s rejected: %s %s", execution.key[0], code, reason)
        text = f"the server refused the result: {reason}"
        if result.is_last:
            self._slots.free(execution)
        elif result.kind == "fail":
            self.add((execution, Result.refused(code, text)))
        else:
            self.add((execution, execution.failed(StepFailure(code, "quality", text))))

    def _later(self, part: list[_Report], error: KeelsonError) -> float:
        self._queue.put(part)
        delay = self._backoff.next(error.retry_after)
        LOG.warning("could not deliver %d reports, retrying in %.1f s: %s", len(part), delay, error)
        return delay


def _parts(batch: list[_Report]) -> Iterator[list[_Report]]:
    """By route, in calls of bounded size; a report with artifacts goes alone."""
    for kind in ("complete", "continue", "fail", "release"):
        of_kind = [each for each in batch if each[1].kind == kind]
        light = [each for each in of_kind if "artifacts" not in each[1].body]
        yield from ([each] for each in of_kind if "artifacts" in each[1].body)
        for begin in range(0, len(light), BATCH):
            yield light[begin:begin + BATCH]
