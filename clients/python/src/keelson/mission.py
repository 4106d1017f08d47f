"""Missions in code, with the words of mission files."""
from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from keelson import _json, schema
from keelson._errors import quoted


def expr(jq: str) -> str:
    """A jq expression for use in values: `expr(".inputs.path")` is `${ .inputs.path }`."""
    return "${ " + jq + " }"


class Mission:
    """A mission: the shape of a mission file and of the body of `POST /runs`.

    Values are any that JSON has; texts in them may hold expressions. The server reports all problems of a plan at once.
    Every method returns the mission, so that calls can be chained.
    """

    def __init__(self, name: str, *, goal: str | None = None, **members: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a mission is a text, not {_json.kind(name)}")
        self._body: dict[str, Any] = {"name": name, **({} if goal is None else {"goal": goal}), **members}

    def declare(self, name: str, type_: Any = None, **keywords: Any) -> Mission:
        """Declares an input: by a type hint, a JSON Schema, or members of one (`type="string", default="world"`)."""
        try:
            declared = dict(type_) if isinstance(type_, Mapping) else {} if type_ is None else schema.of(type_)
        except TypeError as e:
            raise TypeError(f"input {name} of mission {self._body['name']}: {e}") from e
        self._body.setdefault("inputs", {})[name] = {**declared, **keywords}
        return self

    def declare_all(self, model: type) -> Mission:
        """Declares the fields of a dataclass or of a Pydantic model as inputs."""
        whole = schema.of(model)
        for name, each in whole["properties"].items():
            self.declare(name, each)
        return self

    def input(self, **values: Any) -> Mission:
        """Values of inputs."""
        self._body.setdefault("input", {}).update(values)
        return self

    def config(self, **members: Any) -> Mission:
        """Members of the run's configuration, such as `autonomy`."""
        self._body.setdefault("config", {}).update(members)
        return self

    def tags(self, *values: str) -> Mission:
        """For finding runs again."""
        self._body.setdefault("tags", []).extend(values)
        return self

    def external_id(self, value: str, policy: str | None = None) -> Mission:
        """Your own id, unique among the workspace's runs: `reject`, `existing` or `after_end` if another run has it."""
        return self.with_(external_id=value, **({} if policy is None else {"external_id_policy": policy}))

    def task(self, task: Task) -> Mission:
        """Adds a task; tasks without dependencies on each other run side by side."""
        if not isinstance(task, Task):
            raise TypeError(f"mission {self._body['name']}: task(…) takes a Task, not {_json.kind(task)}")
        self._body.setdefault("plan", {}).setdefault("tasks", []).append(task.to_json_value())
        return self

    def output(self, value: Any) -> Mission:
        """The output of the completed run."""
        return self.with_(output=value)

    def with_(self, **members: Any) -> Mission:
        """Any other members by their names in the mission file."""
        self._body.update(members)
        return self

    def to_json_value(self) -> dict[str, Any]:
        """A copy of the mission built so far."""
        return copy.deepcopy(self._body)

    def __repr__(self) -> str:
        return f"Mission({self._body['name']!r}, {len(self._body.get('plan', {}).get('tasks', []))} tasks)"


class Task:
    """A task of a mission. A task without steps is agentic: its agent works in turns.

    Keywords are the members of a task in the mission file, such as `when`, `for_each`, `trigger_rule`, `budget_usd`.
    """

    def __init__(self, id_: str, *, depends_on: str | list[str] | None = None, **members: Any) -> None:
        ids = [depends_on] if isinstance(depends_on, str) else depends_on
        self._refuse(id_, [] if isinstance(id_, str) else [f"the id of a task is a text, not {_json.kind(id_)}"], _faults(ids))
        self._body: dict[str, Any] = {"id": id_, **members}
        if ids is not None:
            self._body["depends_on"] = list(ids)

    def step(self, name: str, tool: str, input_: Any = None, **members: Any) -> Task:
        """Adds a step that calls a tool; keywords are members of the step, such as `timeout_seconds` and `retry`."""
        self._refuse(self._body["id"], [f"the {what} of step {name} is a text, not {_json.kind(value)}"
                                        for what, value in (("name", name), ("tool", tool)) if not isinstance(value, str)])
        return self._add({"name": name, "tool": tool, **({} if input_ is None else {"input": input_}), **members})

    def approval(self, name: str, question: str) -> Task:
        """Adds a step that waits for a person's decision."""
        return self._add({"name": name, "kind": "approval", "input": {"question": question}})

    def undo(self, tool: str, input_: Any = None, **members: Any) -> Task:
        """Adds a call that undoes the task; expressions see its `.input` and `.output`. Further calls come after it, in order.

        A step is undone on its own by `step(…, undo={"tool": …, "input": …})`.
        """
        self._refuse(self._body["id"], [] if isinstance(tool, str) else [f"the tool of its undo is a text, not {_json.kind(tool)}"])
        calls = self._body.get("undo", [])
        calls = [*(calls if isinstance(calls, list) else [calls]), {"tool": tool, **({} if input_ is None else {"input": input_}), **members}]
        self._body["undo"] = calls if len(calls) > 1 else calls[0]
        return self

    def cache(self, key: str, max_age: str) -> Task:
        """Takes over the output of an agent's task with the same key, in any run of the workspace, instead of doing the task.

        `key` is jq; `max_age` is a number of `s`, `m`, `h` or `d`, such as `7d`. A step takes over a result by
        `step(…, cache={"key": …, "max_age": …})`.
        """
        self._refuse(self._body["id"], [f"the {what} of its cache is a text, not {_json.kind(value)}"
                                        for what, value in (("key", key), ("max_age", max_age)) if not isinstance(value, str)])
        self._body["cache"] = {"key": key, "max_age": max_age}
        return self

    def verify(self, **verification: Any) -> Task:
        """Adds a verification of the output as the mission file writes it, such as `kind="jq", expression=…`."""
        self._body.setdefault("verify", []).append(verification)
        return self

    def review(self) -> Task:
        """A person has the last word on the output."""
        return self.verify(kind="human")

    @property
    def id(self) -> str:
        """Its id in the plan."""
        return str(self._body["id"])

    def output(self, value: Any) -> Task:
        """The task's output, instead of its last step's."""
        self._body["output"] = value
        return self

    @staticmethod
    def _refuse(id_: Any, *faults: list[str]) -> None:
        found = [fault for each in faults for fault in each]
        if found:
            raise TypeError(f"task {id_}: " + "; ".join(found))

    def _add(self, step: dict[str, Any]) -> Task:
        self._body.setdefault("steps", []).append(step)
        return self

    def to_json_value(self) -> dict[str, Any]:
        """A copy of the task built so far."""
        return copy.deepcopy(self._body)


def _faults(ids: Any) -> list[str]:
    """What is wrong with the ids of the tasks that a task depends on."""
    if ids is None:
        return []
    if not isinstance(ids, (list, tuple, set, frozenset)):
        return [f"depends_on is the id of a task or a list of ids, not {_json.kind(ids)}"]
    return [f"depends_on has {_json.kind(each)}" + (f"; write its id {quoted(each.id)}" if isinstance(each, Task) else ", not the id of a task")
            for each in ids if not isinstance(each, str)]
