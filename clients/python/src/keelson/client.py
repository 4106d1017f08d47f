"""The client. `aio.py` is made from this file by `scripts/python-client`: the same, with `await`."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

from keelson import _address, _core, _types
from keelson._core import path
from keelson._http import Settings, SyncDriver
from keelson._types import (
    Artifact,
    Event,
    Explanation,
    InboxDecision,
    InboxItem,
    LogLine,
    RunStatus,
    RunUndo,
    Step,
    Task,
    TaskRound,
    Trigger,
    TriggerDelivery,
    TriggerDeliveryReceipt,
)
from keelson.mission import Mission

MissionLike = Mission | Mapping[str, Any]
Model = TypeVar("Model")


class Run(_types.Run):
    """A run as it was when it was read, and calls about it. Each call returns the run as it is after the call."""

    def __init__(self, raw: dict[str, Any], client: Keelson) -> None:
        super().__init__(raw)
        self._client = client

    @property
    def ended(self) -> bool:
        """Whether the present attempt is over; a failed run may still be retried."""
        return self.state_type == "terminal"

    @property
    def completed(self) -> bool:
        """Whether the run has completed."""
        return self.state == "completed"

    @property
    def undoing(self) -> RunUndo | None:
        """The member `undo` of the run: the state of its undo, and the run that undoes it. None if it is not undone."""
        return RunUndo(self.raw["undo"]) if self.raw.get("undo") else None

    def output_as(self, model: type[Model]) -> Model:
        """The output as a dataclass, a `TypedDict`, a Pydantic model or another type of a tool's input.

        Raises `KeelsonError` with the code `OUTPUT_INVALID` and all faults if it does not fit.
        """
        return _core.output_as(model, self.output)

    def refresh(self) -> Run:
        """Reads the run again."""
        return self._client.runs.get(self.id)

    def start(self) -> Run:
        """Starts a created run."""
        return self._act("start", {})

    def wait(self, timeout: float = 3600.0) -> Run:
        """Waits for the end of the present attempt, over restarts of the server. Look at `completed` and `state` then.

        Raises `KeelsonError` with the code `AWAIT_TIMEOUT` after `timeout` seconds; the run continues.
        """
        return Run(self._client._run(_core.wait(self.id, timeout)), self._client)

    def events(self, after: int = 0) -> Iterator[Event]:
        """Each event once and in order, as they happen, until the run has ended. Resumes after lost connections."""
        flow = _core.events(lambda seen: path("/runs/{}/events/stream", self.id, after=seen), after)
        for event in self._client._iterate(flow):
            yield Event(event)

    def approve(self, reason: str | None = None, *, plan: Any = None) -> Run:
        """Decides the plan gate, the result, else the only task or step that waits. `plan` replaces a waiting plan."""
        return self._act("approve", {"reason": reason, **({} if plan is None else {"plan": plan})})

    def reject(self, reason: str | None = None) -> Run:
        """Rejects what waits for approval."""
        return self._act("reject", {"reason": reason})

    def signal(self, name: str, payload: Any = None) -> Run:
        """Sends a signal. The step that has waited for its name the longest receives it, else the first that will."""
        return self._act("signals/{}", {"payload": payload}, name)

    def cancel(self, reason: str | None = None) -> Run:
        """Cancels the run; its running steps are interrupted."""
        return self._act("cancel", {"reason": reason})

    def pause(self) -> Run:
        """Pauses the run; steps at work finish, and no other begins."""
        return self._act("pause", {})

    def resume(self) -> Run:
        """Resumes a paused run."""
        return self._act("resume", {})

    def restore(self) -> Run:
        """Brings an archived run back into the database. Restoring a run that is not archived changes nothing."""
        return self._act("restore", {})

    def retry(self, from_: str = "failed", *, idempotency_key: str | None = None) -> Run:
        """Opens the next attempt of a failed run: from what `failed`, or from the `start`."""
        return self._act("retry", {"from": from_}, key=idempotency_key)

    def undo(self, reason: str | None = None) -> Run:  # type: ignore[override]  # the member of this name is `undoing`
        """Undoes the completed work of the ended run. The answer's `undoing` names the run that undoes it."""
        return self._act("undo", {"reason": reason})

    def fork(self, task: str, *, inputs: Mapping[str, Any] | None = None, name: str | None = None,
             turn: int | None = None, overrides: Mapping[str, Any] | None = None, recorded_calls: bool = False,
             task_only: bool = False, idempotency_key: str | None = None) -> Run:
        """Starts a run of the same plan from one of its tasks, or from a turn of it. Returns the new run."""
        body = {"task": task, "inputs": inputs or {}, "name": name, "turn": turn, "overrides": overrides,
                "calls": "recorded" if recorded_calls else None, "task_only": task_only or None}
        return self._act("fork", {member: value for member, value in body.items() if value is not None},
                         key=idempotency_key)

    def explain(self) -> Explanation:
        """Why the run waits, or its current work."""
        return Explanation(self._client._run(_core.call(_core.get(path("/runs/{}/explain", self.id)))))

    def lifecycle_status(self) -> RunStatus:
        """The status document of the run lifecycle contract."""
        return RunStatus(self._client._run(_core.call(_core.get(path("/runs/{}/status", self.id)))))

    def tasks(self) -> Iterator[Task]:
        """The tasks of the present attempt, in plan order."""
        for each in self._items("tasks"):
            yield Task(each)

    def rounds(self, task_id: str) -> Iterator[TaskRound]:
        """The rounds of a task with `repeat`, in order, by the task's id."""
        for each in self._items("rounds", "/tasks/{}/", task_id):
            yield TaskRound(each)

    def steps(self) -> Iterator[Step]:
        """The steps of the present attempt."""
        for each in self._items("steps"):
            yield Step(each)

    def artifacts(self) -> Iterator[Artifact]:
        """The files of the run."""
        for each in self._items("artifacts"):
            yield Artifact(each)

    def logs(self) -> Iterator[LogLine]:
        """The log lines of the present attempt's steps, step by step."""
        for step in self._items("steps"):
            for line in self._items("logs", "/steps/{}/", step["id"]):
                yield LogLine(line)

    def content(self, artifact: Artifact) -> bytes:
        """An artifact's content."""
        flow = _core.content(_core.get(path("/runs/{}/artifacts/{}/content", artifact.run_id, artifact.id)))
        return self._client._run(flow)

    def _items(self, what: str, of: str = "/runs/{}/", id_: str | None = None) -> Iterator[Any]:
        return self._client._iterate(_core.pages(lambda cursor: path(of + what, id_ or self.id, cursor=cursor)))

    def _act(self, action: str, body: Any, *parts: str, key: str | None = None) -> Run:
        where = path("/runs/{}/" + action, self.id, *parts)
        return Run(self._client._run(_core.call(_core.post(where, body, key=key))), self._client)


class Runs:
    """The runs of the key's workspace."""

    def __init__(self, client: Keelson) -> None:
        self._client = client

    def create(self, mission: MissionLike, *, inputs: Mapping[str, Any] | None = None, start: bool = True,
               idempotency_key: str | None = None) -> Run:
        """Creates a run of a mission, and starts it unless told otherwise.

        The same key never creates a second run. Without one the client makes one, so that its own retries create one
        run. A plan with problems raises `KeelsonError` with all of them in `problems`.
        """
        body = _core.mission_body(mission, inputs, start)
        call = _core.call(_core.post(path("/runs"), body, key=idempotency_key))
        return Run(self._client._run(call), self._client)

    def get(self, run_id: str) -> Run:
        """Reads a run."""
        return Run(self._client._run(_core.call(_core.get(path("/runs/{}", run_id)))), self._client)

    def list(self, *, state: str | None = None, name: str | None = None, text: str | None = None,
             tag: str | None = None, external_id: str | None = None, archived: bool = False,
             page: int = 100) -> Iterator[Run]:
        """All runs that match, newest first, read `page` at a time. Lists leave out plan, inputs and output.

        With `archived`, archived runs instead of those in the database.
        """
        flow = _core.pages(lambda cursor: path("/runs", state=state, name=name, text=text, tag=tag,
                                               external_id=external_id, archived=archived or None, limit=page,
                                               cursor=cursor))
        for each in self._client._iterate(flow):
            yield Run(each, self._client)


class Inbox:
    """Questions that wait for people in the key's workspace."""

    def __init__(self, client: Keelson) -> None:
        self._client = client

    def list(self, *, kind: str | None = None, run_id: str | None = None, assignee: str | None = None,
             page: int = 100) -> Iterator[InboxItem]:
        """All items that match: due first, then oldest, read `page` at a time."""
        flow = _core.pages(lambda cursor: path("/inbox", kind=kind, run_id=run_id, assignee=assignee, limit=page, cursor=cursor))
        for each in self._client._iterate(flow):
            yield InboxItem(each)

    def get(self, item_id: str) -> InboxItem:
        """Reads an item."""
        return InboxItem(self._client._run(_core.call(_core.get(path("/inbox/{}", item_id)))))

    def accept(self, item_id: str, reason: str | None = None, **members: Any) -> InboxDecision:
        """Accepts an item: its `on_accept` takes effect. A repeated answer changes nothing.

        `members` are those of the kind: `answer` of a question, `hard_limit_usd` of a budget, `input` of a call.
        """
        return self._decide("accept", item_id, reason, members)

    def reject(self, item_id: str, reason: str | None = None, **members: Any) -> InboxDecision:
        """Rejects an item: its `on_reject` takes effect. A repeated answer changes nothing."""
        return self._decide("reject", item_id, reason, members)

    def withdraw(self, item_id: str) -> InboxItem:
        """Takes back the caller's approval of an item that several people have to approve."""
        return InboxItem(self._client._run(_core.call(_core.post(path("/inbox/{}/withdraw", item_id), {}))))

    def _decide(self, answer: str, item_id: str, reason: str | None, members: dict[str, Any]) -> InboxDecision:
        body = {**members, **({} if reason is None else {"reason": reason})}
        return InboxDecision(self._client._run(_core.call(_core.post(path("/inbox/{}/" + answer, item_id), body))))


class Steps:
    """Single steps of the runs of the key's workspace."""

    def __init__(self, client: Keelson) -> None:
        self._client = client

    def get(self, step_id: str) -> Step:
        """Reads a step."""
        return Step(self._client._run(_core.call(_core.get(path("/steps/{}", step_id)))))

    def approve(self, step_id: str, reason: str | None = None) -> Step:
        """Approves a step that waits for a person; events and the inbox name it as `step_id`."""
        return self._decide("approve", step_id, reason)

    def reject(self, step_id: str, reason: str | None = None) -> Step:
        """Rejects a step that waits for a person; it fails."""
        return self._decide("reject", step_id, reason)

    def _decide(self, answer: str, step_id: str, reason: str | None) -> Step:
        call = _core.post(path("/steps/{}/" + answer, step_id), {"reason": reason})
        return Step(self._client._run(_core.call(call)))


class Triggers:
    """Triggers of the key's workspace: events that start runs or signal them."""

    def __init__(self, client: Keelson) -> None:
        self._client = client

    def create(self, definition: Mapping[str, Any], *, idempotency_key: str | None = None) -> Trigger:
        """Creates a trigger from its definition. All problems are in `problems` of the error."""
        return Trigger(self._client._run(_core.call(_core.post(path("/triggers"), definition, key=idempotency_key))))

    def list(self, *, name: str | None = None) -> Iterator[Trigger]:
        """All triggers by name, without missions and examples."""
        for each in self._client._iterate(_core.pages(lambda cursor: path("/triggers", name=name, cursor=cursor))):
            yield Trigger(each)

    def get(self, trigger_id: str) -> Trigger:
        """Reads a trigger."""
        return Trigger(self._client._run(_core.call(_core.get(path("/triggers/{}", trigger_id)))))

    def enable(self, trigger_id: str) -> Trigger:
        """Lets a trigger receive events."""
        return self._act(trigger_id, {"enabled": True})

    def disable(self, trigger_id: str) -> Trigger:
        """Turns a trigger off: it receives no events and starts no runs."""
        return self._act(trigger_id, {"enabled": False})

    def delete(self, trigger_id: str) -> None:
        """Deletes a trigger with its deliveries; its runs stay."""
        self._client._run(_core.call(_core.request("DELETE", f"/triggers/{trigger_id}")))

    def deliveries(self, trigger_id: str, *, state: str | None = None, page: int = 100) -> Iterator[TriggerDelivery]:
        """Its deliveries with their outcomes, newest first, read `page` at a time."""
        flow = _core.pages(lambda cursor: path("/triggers/{}/deliveries", trigger_id, state=state, limit=page, cursor=cursor))
        for each in self._client._iterate(flow):
            yield TriggerDelivery(each)

    def delivery(self, trigger_id: str, delivery_id: str) -> TriggerDelivery:
        """Reads a delivery with its headers and body."""
        call = _core.get(path("/triggers/{}/deliveries/{}", trigger_id, delivery_id))
        return TriggerDelivery(self._client._run(_core.call(call)))

    def replay(self, trigger_id: str, *, delivery_id: str | None = None, state: str | None = None,
               idempotency_key: str | None = None) -> int:
        """Has one delivery, those in a state, or all decided again. Returns how many; beyond 5,000, further ones follow."""
        body = {member: value for member, value in {"delivery_id": delivery_id, "state": state}.items() if value is not None}
        call = _core.post(path("/triggers/{}/replay", trigger_id), body, key=idempotency_key)
        answer = self._client._run(_core.call(call))
        return int(answer["count"])

    def _act(self, trigger_id: str, change: dict[str, Any]) -> Trigger:
        return Trigger(self._client._run(_core.call(_core.request("PATCH", f"/triggers/{trigger_id}", change))))


class Keelson:
    """A client of a Keelson server. Without arguments it finds the server as `connect()` does.

    Safe for several threads. `timeout`: seconds to connect and for an answer. `silence`: a stream that brings nothing for
    so many seconds is opened again; the server sends a comment every 5 s.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None, *, timeout: float = 30.0,
                 silence: float = 20.0) -> None:
        if url is None:
            url, found = _address.find()
            api_key = api_key or found
        self._settings = Settings(url, api_key, timeout, silence)
        self._driver = SyncDriver(self._settings)
        self.runs, self.inbox, self.steps, self.triggers = Runs(self), Inbox(self), Steps(self), Triggers(self)

    @classmethod
    def connect(cls) -> Keelson:
        """A client of the server that the environment names (`KEELSON_URL`, `KEELSON_API_KEY`), else of this machine's."""
        return cls()

    @property
    def url(self) -> str:
        """The server's address."""
        return self._settings.url

    def request(self, method: str, route: str, body: Any = None, *, timeout: float | None = None) -> Any:
        """Any route as plain JSON; `route` is relative to `/api/v1`. Reads are repeated as others are, writes are not."""
        return self._run(_core.call(_core.request(method, route, body, timeout)))

    def send_event(self, name: str, event_id: str, data: Any = None) -> list[TriggerDeliveryReceipt]:
        """Sends an event to the triggers that name it. Returns one receipt for each; the same id starts no second run."""
        call = _core.call(_core.post(path("/events"), {"name": name, "id": event_id, "data": data}))
        answer = self._run(call)
        return [TriggerDeliveryReceipt(each) for each in answer["items"]]

    def close(self) -> None:
        """Closes the connections."""
        self._driver.close()

    def _run(self, flow: _core.Flow[_core.T]) -> _core.T:
        return self._driver.run(flow)

    def _iterate(self, flow: _core.Flow[Any]) -> Iterator[Any]:
        return self._driver.iterate(flow)

    def __enter__(self) -> Keelson:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"
