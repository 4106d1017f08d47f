"""Turns of agents: a turn in, calls of tools or the task's output."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from keelson._execution import Context
from keelson._json import kind

TOOL = "agent.turn"


class Answer:
    """The answer of a turn."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def call(self, tool: str, input_: Any = None, /, **members: Any) -> Answer:
        """One more call, beside those before it."""
        if "tool_calls" not in self.body:
            raise ValueError("a task that is done calls no tools")
        if input_ is not None and not isinstance(input_, Mapping):
            raise TypeError(f"the input of a call of {tool} is an object, not {kind(input_)}")
        calls = [*self.body["tool_calls"], {"name": tool, "input": {**(input_ or {}), **members}}]
        return Answer({**self.body, "tool_calls": calls})

    def note(self, **members: Any) -> Answer:
        """Members that the next turn finds beside the calls in this turn's answer, such as their reason."""
        if "output" in self.body or {"tool_calls", "output"} & set(members):
            raise ValueError("a note is beside calls, under a name of its own")
        return Answer({**self.body, **members})


@dataclasses.dataclass(frozen=True)
class CallResult:
    """The result of a call: `output`, or `error` with `code`, `class` and `message`."""

    tool: str
    output: Any
    """None if the call failed or was refused; of a long output the beginning and the end, as text"""
    error: dict[str, Any] | None
    notice: str | None
    """Warning that a call is repeated with the same output"""


@dataclasses.dataclass(frozen=True)
class PastTurn:
    """An earlier turn: its answer, and the results of its calls in their order."""

    answer: dict[str, Any]
    results: list[CallResult]


class Turn:
    """What an agent knows in its turn."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        """The step that the turn is: progress, usage, artifacts, cancellation, gateway"""
        given = ctx.input if isinstance(ctx.input, dict) else {}
        self.input: dict[str, Any] = given
        """All members of the turn's input"""
        self.goal: str = given.get("goal") or ""
        self.title: str = given.get("title") or ""
        self.description: str | None = given.get("description")
        self.success_criteria: str | None = given.get("success_criteria")
        self.agent: str | None = given.get("agent")
        """Slug of the agent; None if the task has none"""
        self.instructions: str | None = given.get("instructions")
        self.model: str | None = given.get("model")
        self.tools: list[str] = list(given.get("tools") or [])
        """All that may be called; the server refuses any other"""
        self.inputs: dict[str, Any] = given.get("inputs") or {}
        self.upstream: dict[str, Any] = given.get("upstream") or {}
        """Outputs of the tasks that this one depends on, by their ids"""
        self.feedback: Any = given.get("feedback")
        """Why the task's last attempt was not its last"""
        self.transcript: list[PastTurn] = [
            PastTurn(each.get("answer") or {}, [_result(call) for call in each.get("results") or []])
            for each in given.get("transcript") or []]
        self.number = len(self.transcript) + 1

    @property
    def results(self) -> list[CallResult]:
        """Results of the turn before; empty in the first one."""
        return self.transcript[-1].results if self.transcript else []

    def call(self, tool: str, input_: Any = None, /, **members: Any) -> Answer:
        """Requests a call of a tool, and another turn with its result. `.call(…)` adds further calls."""
        return Answer({"tool_calls": []}).call(tool, input_, **members)

    def done(self, output: Any = None) -> Answer:
        """The task is done."""
        return Answer({"output": output})


def _result(call: dict[str, Any]) -> CallResult:
    output = call["output_excerpt"] if "output_excerpt" in call else call.get("output")
    error = call.get("error")
    return CallResult(call.get("tool") or "", None if error else output, error, call.get("notice"))
