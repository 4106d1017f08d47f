"""Chains: steps without effects, which a worker executes one after another before it reports their results."""
from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from keelson._errors import Cancelled
from keelson._execution import Execution, Result

if TYPE_CHECKING:
    from keelson._dispatch import Reports, Slots


class Chain:
    """The steps of one assignment, executed one after another. Their results have one report.

    The lease of a step begins when the results of those before it are reported: a step that has news for the server needs these
    reports first, and its own result waits for their answers. `news` is called when a step that has notes gets its lease.
    """

    def __init__(self, first: Execution, item: dict[str, Any], reports: Reports, slots: Slots, news: Callable[[], None]) -> None:
        self.begun = time.monotonic()
        self._reports, self._slots, self._news = reports, slots, news
        self._items = _following(item)
        self._changed = threading.Condition()
        self._at_work: Execution | None = first
        self._waiting: list[tuple[Execution, Result]] = []
        self._sending = self._due = self._over = False

    def following(self) -> dict[str, Any] | None:
        """Returns each following step once; None after the last one."""
        return next(self._items, None)

    def begin(self, step: Execution) -> bool:
        """The next step is about to be executed. False if the server has already given it out."""
        with self._changed:
            if self._over or not self._slots.expect(step):
                return False
            self._at_work = step
            return True

    def add(self, execution: Execution, result: Result) -> bool:
        """The step at work has a result. False if the chain ends with it."""
        with self._changed:
            self._at_work = None
            self._waiting.append((execution, result))
            if not _is_plain(result):
                self._over = self._due = True
                self._send()
            return not self._over

    def lead(self) -> None:
        """Reports the results before the step at work, whose lease begins then. If it does not, the step is stopped."""
        with self._changed:
            self._due = bool(self._waiting)
            self._send()

    def await_lease(self, step: Execution) -> None:
        """Waits until the lease of the step at work has begun. Raises `Cancelled` if it does not begin."""
        self.lead()
        with self._changed:
            self._changed.wait_for(lambda: step.lost or not (self._sending or self._waiting))
        if step.lost:
            raise Cancelled("lost")

    def end(self) -> None:
        """No further step begins: reports all results."""
        with self._changed:
            self._over = self._due = True
            self._send()

    def abandon(self) -> None:
        """The worker stops: reports the results, and stops a step whose lease has not begun."""
        with self._changed:
            step = self._at_work
            if step is not None and not self._slots.holds(step):
                step.stop("lost")
                self._changed.notify_all()
        self.end()

    def _send(self) -> None:
        """Sends results in their order: further ones wait until those before them are answered."""
        if self._sending or not self._due or not self._waiting:
            return
        size = 1
        if _is_plain(self._waiting[0][1]):  # notes need the lease of their step, which the first one alone has
            size += len(list(itertools.takewhile(lambda each: _is_plain(each[1]) and not each[0].has_notes, self._waiting[1:])))
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        self._sending, self._due = True, bool(self._waiting)
        self._reports.add(*batch, settled=self._settled)

    def _settled(self) -> None:
        """The results that were sent have answers."""
        with self._changed:
            self._sending = False
            step = self._waiting[0][0] if self._waiting else self._at_work
            if step is None or not self._slots.holds(step):  # the server decides who gets the next step
                self._over = True
                self._slots.free(*[each for each, _ in self._waiting])
                self._waiting.clear()
                if step is not None and self._at_work is not None:
                    self._at_work.stop("lost")
            self._send()
            self._changed.notify_all()
        if step is not None and step.has_notes:
            self._news()


def _is_plain(result: Result) -> bool:
    """Whether the result is in one report with others."""
    return result.kind == "complete" and "artifacts" not in result.body


def _following(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The following steps in the form of claimed ones."""
    shared: dict[str, Any] = {**item, "failure_context": None, "details": None, "max_output_tokens": None, "gateway": None, "following": []}
    return iter([{**shared, **each} for each in item.get("following") or []])
