"""What calls and handlers raise."""
from __future__ import annotations

import dataclasses
import json
from typing import Any, Literal

ErrorClass = Literal["infrastructure", "quality", "permanent"]
CHECK_URL = "check KEELSON_URL, or the url given in code"
CHECK_KEY = "check KEELSON_API_KEY, or the key given in code"
_CLASSES = ("infrastructure", "quality", "permanent")
_LOST = {"SERVER_UNREACHABLE", "CONNECTION_LOST"}
_AWAY = (429, 502, 503, 504)
_MAX_CODE = 100
_MAX_CAUSES = 4


def quoted(text: object) -> str:
    """A text in quotation marks, for messages."""
    return json.dumps(str(text), ensure_ascii=False)


def told(error: BaseException) -> str:
    """Type and message of an error and of its causes."""
    lines: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(lines) < _MAX_CAUSES:
        lines.append(f"{type(cause).__name__}: {cause}".removesuffix(": "))
        cause = cause.__cause__
    return "; cause: ".join(lines)


@dataclasses.dataclass(frozen=True)
class Problem:
    """One of the problems of a request's body."""

    code: str
    pointer: str
    """JSON pointer to the value"""
    message: str


class KeelsonError(Exception):
    """A call that the server refused, or that did not reach it. `code` is stable; the message is for people.

    Codes of this package, all with status 0: `NO_SERVER_KNOWN`, `SERVER_UNREACHABLE`, `TLS_FAILED`, `CONNECTION_LOST`,
    `CALL_TIMEOUT`, `AWAIT_TIMEOUT`, `BAD_ANSWER`, `NOT_JSON`. All others are the server's (docs/reference/errors.md).
    """

    def __init__(self, code: str, message: str, *, status: int = 0, document: dict[str, Any] | None = None,
                 retry_after: float | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        """Stable, UPPER_SNAKE; `HTTP_` and the status if the answer names none"""
        self.message = message
        self.status = status
        """HTTP status; 0 without an answer"""
        self.retry_after = retry_after
        """Seconds until the next try, as the server asks; None if it does not say"""
        self.document: dict[str, Any] = document or {}
        """The whole problem document (RFC 9457)"""

    @staticmethod
    def refused(status: int, document: Any, retry_after: float | None, server: str = "the server") -> KeelsonError:
        """An answer of 400 or above; its body need not be a problem document."""
        body = document if isinstance(document, dict) else {}
        code, text = body.get("code"), body.get("detail") or body.get("title")
        if not code and status not in _AWAY:
            text = f"{server} answered {status}, not as a Keelson server does{f' ({text})' if text else ''}; {CHECK_URL}"
        elif status == 401:
            text = f"{text}; {CHECK_KEY}"
        return KeelsonError(str(code or f"HTTP_{status}"), str(text or f"{server} answered {status}"), status=status,
                            document=body, retry_after=retry_after)

    @property
    def problems(self) -> list[Problem]:
        """Everything that is wrong with the request, each with its place."""
        return [Problem(str(each.get("code", "")), str(each.get("pointer", "")), str(each.get("message", "")))
                for each in self.document.get("problems") or [] if isinstance(each, dict)]

    @property
    def allowed(self) -> list[str]:
        """The allowed values or actions; empty if the answer names none."""
        return [str(each) for each in self.document.get("allowed") or []]

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed later: no connection, a restart, too many calls."""
        return self.code in _LOST or self.code == "CALL_TIMEOUT" or self.repeatable

    @property
    def repeatable(self) -> bool:
        """Whether a call that may be repeated is."""
        return (self.code in _LOST or self.status in _AWAY
                or self.code == "IDEMPOTENCY_IN_FLIGHT")

    def __str__(self) -> str:
        text, problems = f"{self.code}: {self.message}", self.problems
        if len(problems) == 1 and problems[0].code == self.code and problems[0].message in self.message:
            return text if problems[0].pointer in self.message else f"{text} ({problems[0].pointer})"
        return "\n".join([text, *(f"  {each.pointer or '/'} {each.code}: {each.message}" for each in problems)])

    def __repr__(self) -> str:
        return f"KeelsonError(code={self.code!r}, status={self.status}, message={self.message!r})"


class StepFailure(Exception):
    """Raised by a handler: the step failed, with the facts that the retry policy needs.

    `infrastructure`: the surroundings failed, tried again. `quality`: the result is not good enough, tried again with
    the failure in hand. `permanent`: trying again cannot help.
    """

    def __init__(self, code: str, error_class: ErrorClass, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(code, error_class, message)
        if not code.strip() or len(code) > _MAX_CODE:
            raise ValueError(f"a code has 1 to {_MAX_CODE} characters: {quoted(code)}")
        if error_class not in _CLASSES:
            raise ValueError(f"the class of a failure is one of {', '.join(_CLASSES)}: {quoted(error_class)}")
        self.code = code
        self.error_class: ErrorClass = error_class
        self.message = message
        self.retry_after = retry_after
        """Least seconds until the next attempt; None for the retry policy's"""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class StepDeferral(Exception):
    """Raised by a handler: a system that the step needs is busy. Any worker gets the step after the delay.

    It counts as no attempt and no failure.
    """

    def __init__(self, delay: float, message: str, *, busy: str | None = None, code: str | None = None) -> None:
        super().__init__(delay, message)
        if delay < 0:
            raise ValueError(f"a delay is not negative: {delay}")
        self.delay = delay
        self.message = message
        self.busy = busy
        """The busy system, such as `model:NAME`"""
        self.code = code
        """Of the step's failure when the system is busy for too long; None for `UPSTREAM_UNAVAILABLE`"""


class Cancelled(Exception):
    """Raised by `Context.check()` and `Context.wait()` of a handler whose result is no longer needed."""
