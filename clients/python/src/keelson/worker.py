"""Workers: they serve tools and agents to a Keelson server, from any process that reaches it."""
from __future__ import annotations

import asyncio
import inspect
import logging
import signal
import threading
import time
import uuid
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Literal, TypeVar

from keelson import _address, _core
from keelson._chain import Chain
from keelson._dispatch import LOG, Dispatch, Heartbeats, Reports, Slots, advised, is_final
from keelson._errors import Cancelled, KeelsonError, StepDeferral, StepFailure, told
from keelson._execution import Context, Continue, Execution, Result
from keelson._handlers import Loop, Processes, Threads
from keelson._http import Settings, SyncDriver
from keelson._json import kind
from keelson.aio import AsyncKeelson
from keelson.client import Keelson
from keelson.schema import Signature
from keelson.turn import TOOL as TURN
from keelson.turn import Answer, Turn

Effects = Literal["read", "idempotent", "once", "destructive"]
GatewayRules = bool | dict[str, list[str]]
F = TypeVar("F", bound=Callable[..., Any])
LAST_REPORTS = 5.0
FIRST_ANSWER = 10.0
"""Seconds that `start()` waits for the answer to the first claim"""
LONGEST_CHAIN = 0.02
REPEATED = 30.0
"""Seconds between warnings about claims that fail"""


class _Tool:
    """A served tool: its description, and how its handler is called."""

    def __init__(self, name: str, function: Callable[..., Any], spec: dict[str, Any], signature: Signature | None,
                 processes: bool) -> None:
        self.name, self.function, self.spec, self.signature = name, function, spec, signature
        self.is_async = inspect.iscoroutinefunction(function)
        self.processes = processes
        self.pool: Processes | None = None
        if processes and self.is_async:
            raise TypeError(f"{name}: a coroutine is no handler for a process; write a function")

    def call(self, context: Context) -> Any:
        """Calls the handler; the result of a coroutine is to be awaited."""
        if self.signature is None:
            return self.function(Turn(context))
        try:
            arguments = self.signature.arguments(context.input, context)
        except ValueError as e:
            raise StepFailure("INPUT_INVALID", "permanent", f"the input of {self.name} does not fit: {e}") from e
        return self.function(**arguments)

    __call__ = call

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "pool": None}


class Worker:
    """Serves tools of your own: claims steps, keeps their leases, calls handlers, and reports until each is answered.

    A step is executed at least once, and its result counts once. `slots`: steps at a time. `lease`: seconds that a step is
    the worker's without a heartbeat. `poll`: seconds that a claim waits at the server. `grace`: seconds that running
    handlers have when the worker stops. `chain`: for how long steps of tools with the effects `read` are executed before their
    results are reported; 0 reports each step before the next one begins. Times are in seconds. `version`: of your code, shown
    beside the worker.
    """

    def __init__(self, client: Keelson | AsyncKeelson | None = None, *, id_: str | None = None, version: str | None = None,
                 slots: int = 8, lease: float = 30.0, poll: float = 2.0, grace: float = 20.0, chain: float = LONGEST_CHAIN) -> None:
        if slots < 1:
            raise ValueError("a worker has at least one slot")
        self.id = id_ or f"worker-{uuid.uuid4()}"
        self._client, self._version, self._size = client, version, slots
        self._lease, self._poll, self._grace, self._chain = lease, poll, grace, chain
        self._chains: set[Chain] = set()
        self._durations: dict[str, float] = {}
        """Seconds of the last execution of each tool"""
        self._tools: dict[str, _Tool] = {}
        self._agents: dict[str | None, Callable[[Turn], Any]] = {}
        self._missed: set[str | None] = set()
        """Agents of turns that were handed back; each was logged once"""
        self._turn_spec: dict[str, Any] = {"name": TURN}
        self._stopping = threading.Event()
        self._stopped = threading.Event()
        self._started = self._begun = False
        self._asked, self._ending = threading.Event(), threading.Event()
        self.error: KeelsonError | None = None
        """Why the worker has given up; None while it has not"""
        self._loop: Loop | None = None

    def tool(self, name: str, *, effects: Effects | None = None, description: str | None = None,
             input_schema: dict[str, Any] | None = None, processes: bool = False,
             gateway: GatewayRules | None = None) -> Callable[[F], F]:
        """Serves a function as a tool. Its type hints are the schema of the input, its docstring the description.

        The members of the input are the arguments, by name; a parameter of the type `Context` (or named `ctx`) gets the
        context. A single parameter whose type is a dataclass, a TypedDict or a Pydantic model gets the whole input. A
        function is executed in a thread, a coroutine as a task; with `processes` a function of a module in a process,
        which is killed when the step is cancelled. `gateway` gives the steps a token for the server's gateway to models:
        True for all that the rules of the run allow, or `{"models": […], "tools": […]}`. A handler raises `StepFailure` or `StepDeferral`.
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f'write @worker.tool("name"), not @worker.tool: the name of a tool is a text, not {kind(name)}')

        def serve(function: F) -> F:
            if name in self._tools:
                raise ValueError(f"tool {name} has a handler already: a worker has one for each tool")
            try:
                signature = Signature(function, Context, input_schema)
            except (TypeError, NameError) as e:
                raise TypeError(f"tool {name}: {e}") from e
            text = description or inspect.getdoc(function)
            spec = {"name": name, "description": text, "input_schema": input_schema or signature.schema, "effects": effects,
                    "gateway": gateway or None}
            self._tools[name] = _Tool(name, function, {key: each for key, each in spec.items() if each is not None},
                                      signature, processes)
            return function
        return serve

    def agent(self, slug: str | None = None, *, gateway: GatewayRules | None = None) -> Callable[[F], F]:
        """Serves the turns of an agent; without a slug those of all agents that no other function serves.

        `gateway` as of `tool`; it is one for all agents of the worker.

        The function gets a `Turn` and returns `turn.call(…)` or `turn.done(…)`.
        """
        if slug is not None and not isinstance(slug, str):
            raise TypeError(f"write @worker.agent(), not @worker.agent: the slug of an agent is a text, not {kind(slug)}")

        def serve(function: F) -> F:
            if slug in self._agents:
                raise ValueError(f"agent {slug or 'of any name'} has a handler already: a worker has one for each agent")
            self._agents[slug] = function
            taker: Callable[..., Any] = self._turn
            if any(inspect.iscoroutinefunction(each) for each in self._agents.values()):
                taker = self._turn_async
            spec = {**self._turn_spec, **({"gateway": gateway} if gateway else {})}
            self._turn_spec = spec
            self._tools[TURN] = _Tool(TURN, taker, spec, None, processes=False)
            return function
        return serve

    def _agent(self, turn: Turn) -> Callable[[Turn], Any]:
        found = self._agents.get(turn.agent, self._agents.get(None))
        if found is None:
            text = f"worker {self.id} does not serve the agent {turn.agent}"
            if turn.agent is None:
                text = (f"the task has no agent, and worker {self.id} serves only {', '.join(map(str, self._agents))}: "
                        "@worker.agent() without a name serves tasks without an agent")
            if turn.agent not in self._missed:
                self._missed.add(turn.agent)
                LOG.warning("a turn is handed back, and waits for another worker: %s", text)
            raise StepDeferral(1.0, text, busy=f"agent:{turn.agent or 'any'}")
        return found

    def _turn(self, turn: Turn) -> Any:
        return _answer(turn, self._agent(turn)(turn))

    async def _turn_async(self, turn: Turn) -> Any:
        function = self._agent(turn)
        if inspect.iscoroutinefunction(function):
            return _answer(turn, await function(turn))
        return _answer(turn, await asyncio.to_thread(function, turn))

    def start(self) -> Worker:
        """Begins to claim, in threads of its own. The server need not be up yet. A worker starts once.

        Raises `KeelsonError` if the server refuses the first claim for good: a wrong key, address or tool.
        """
        if not self._tools:
            raise RuntimeError("a worker serves at least one tool: decorate a function with @worker.tool(…)")
        if self._started:
            raise RuntimeError("a worker starts once")
        self._started = True
        self._driver = SyncDriver(_settings(self._client))
        server = self._driver.settings.url
        specs = [each.spec for each in self._tools.values()]
        chains = [each["name"] for each in specs if each.get("effects") == "read" and self._chain > 0]
        self._dispatch = Dispatch(self._driver, self.id, self._version, specs, self._lease, chains)
        self._slots = Slots(self._size)
        self._heartbeats = Heartbeats(self._dispatch, self._slots, self._lease, self._lead_slow_chains)
        self._reports = Reports(self._dispatch, self._heartbeats, self._slots, lambda: not self._stopping.is_set(), self._accept)
        self._threads = Threads("keelson-handler")
        for tool in self._tools.values():
            if tool.is_async and self._loop is None:
                self._loop = Loop(lambda text: LOG.warning("worker %s: %s", self.id, text))
            if tool.processes:
                tool.pool = Processes(tool, server)
        self._claims = threading.Thread(target=self._claim_loop, name="keelson-claim", daemon=True)
        self._claims.start()
        threading.Thread(target=self._heartbeats.run, name="keelson-heartbeat", daemon=True).start()
        threading.Thread(target=self._reports.run, name="keelson-report", daemon=True).start()
        self._asked.wait(FIRST_ANSWER)
        self._begun = True
        if self.error is not None:
            self.stop()
            raise self.error
        announced = self._dispatch.announced
        LOG.info("worker %s %s %s at %s with %d slots%s", self.id, "serves" if announced else "will serve", self._served(), server,
                 self._size, "" if announced else " when the server answers")
        return self

    def _served(self) -> str:
        tools = [name for name in self._tools if name != TURN]
        agents = ["all other agents" if slug is None else f"agent {slug}" for slug in self._agents]
        return ", ".join([*tools, *(["all agents"] if agents == ["all other agents"] else agents)])

    def run(self) -> None:
        """Starts, and serves until SIGTERM or Ctrl-C; then drains as `stop()` does. A second signal ends at once.

        Raises `KeelsonError` as `start()` does, later, too, if the server comes up later. Lines of the log go to the standard
        error output if the program configures no logging.
        """
        _show_lines()
        asked = self._ending

        def ask(number: int, frame: FrameType | None) -> None:
            for each, handler in before.items():
                signal.signal(each, handler)
            asked.set()

        before = {each: signal.signal(each, ask) for each in (signal.SIGTERM, signal.SIGINT)}
        self.start()
        while not asked.wait(3600):
            pass
        self.stop()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Claims no more, lets running handlers finish within the grace period, hands the others back, reports, and returns.

        A handler in a thread that does not look at `ctx.cancelled` keeps its thread; its result is dropped.
        """
        if not self._started or self._stopping.is_set():
            self._stopped.wait(0 if not self._started else None)
            return
        if self.error is None:
            LOG.info("worker %s stops, with %d steps at work", self.id, len(self._slots.taken()))
        self._stopping.set()
        self._slots.close()
        deadline = time.monotonic() + self._grace
        self._slots.await_idle(deadline - time.monotonic())
        for chain in list(self._chains):
            chain.abandon()
        for execution in self._slots.taken():
            if execution.abandon():
                self._reports.add((execution, Result.released()))
        self._claims.join(self._poll + 1)  # a claim that still waits may get a step, which is handed back
        self._slots.await_idle(LAST_REPORTS)
        self._heartbeats.end()
        self._reports.end()
        for tool in self._tools.values():
            if tool.pool is not None:
                tool.pool.close()
        if self._loop is not None:
            self._loop.end_watch()
        self._stopped.set()
        if self.error is None:
            LOG.info("worker %s has stopped", self.id)

    def __enter__(self) -> Worker:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Worker({self.id!r}, tools={list(self._tools)})"

    def _claim_loop(self) -> None:
        backoff = _core.Backoff(0.2, 5.0)
        silent_until = 0.0
        while True:
            free = self._slots.await_free()
            if free == 0:
                return
            try:
                for item in self._dispatch.claim(free, self._poll if self._asked.is_set() else 0.0):
                    self._accept(item)
                if silent_until:
                    LOG.info("worker %s claims steps", self.id)
                silent_until = 0.0
                backoff.reset()
            except Exception as e:  # even an answer that makes no sense must not end the loop
                refused = isinstance(e, KeelsonError) and not self._dispatch.announced and is_final(e, not self._asked.is_set())
                if isinstance(e, KeelsonError) and refused:
                    self._give_up(e)
                    return
                delay = backoff.next(e.retry_after if isinstance(e, KeelsonError) else None)
                if not self._stopping.is_set() and time.monotonic() >= silent_until:
                    silent_until = time.monotonic() + REPEATED
                    LOG.warning("worker %s cannot claim steps at %s, and tries again: %s", self.id, self._driver.settings.url,
                                f"{e.code}: {advised(e, list(self._tools))}" if isinstance(e, KeelsonError) else e)
                self._stopping.wait(delay)
            self._asked.set()

    def _give_up(self, error: KeelsonError) -> None:
        text = f"worker {self.id} cannot serve at {self._driver.settings.url}: {advised(error, list(self._tools))}"
        self.error = KeelsonError(error.code, text, status=error.status, document=error.document)
        if self._begun:  # start() no longer waits for it
            LOG.error("%s", self.error)
        self._asked.set()
        self._ending.set()

    def _lead_slow_chains(self) -> None:
        """Reports results that wait for a step that takes long."""
        for chain in list(self._chains):
            if time.monotonic() - chain.begun >= self._lease / 3:
                chain.lead()

    def _accept(self, item: dict[str, Any]) -> None:
        execution = Execution(item, self._driver.settings.url, self._heartbeats.nudge, self._dispatch.upload)
        if not self._slots.take(execution):
            return
        if self._stopping.is_set() and execution.abandon():
            self._reports.add((execution, Result.released()))
            return
        chain = Chain(execution, item, self._reports, self._slots, self._heartbeats.nudge)
        self._chains.add(chain)
        self._begin(execution, chain)

    def _begin(self, execution: Execution, chain: Chain) -> None:
        tool = self._tools.get(execution.context.tool)
        if tool is not None and tool.is_async and self._loop is not None:
            served = tool
            self._loop.run(lambda: self._execute_async(execution, served, chain), execution)
        else:
            self._threads.run(lambda: self._execute(execution, tool, chain))

    def _execute(self, execution: Execution, tool: _Tool | None, chain: Chain) -> None:
        following = self._execute_one(execution, tool, chain)
        while following is not None:
            tool = self._tools.get(following.context.tool)
            if tool is not None and tool.is_async:
                return self._begin(following, chain)
            following = self._execute_one(following, tool, chain)

    def _execute_one(self, execution: Execution, tool: _Tool | None, chain: Chain) -> Execution | None:
        begun = time.monotonic()
        try:
            if tool is None:
                raise StepFailure("TOOL_NOT_SERVED", "infrastructure", f"worker {self.id} does not serve {execution.context.tool}")
            value = tool.pool.call(execution) if tool.pool else tool.call(execution.context)
            _refuse_awaitable(tool.name, value)
            result = self._outcome(execution, value)
        except BaseException as e:  # any error of a handler fails its step, never the worker
            result = self._failure(execution, e)
        return self._ended(execution, result, begun, chain)

    async def _execute_async(self, execution: Execution, tool: _Tool, chain: Chain) -> None:
        begun = time.monotonic()
        try:
            result = self._outcome(execution, await tool.call(execution.context))
        except BaseException as e:
            result = self._failure(execution, e)
        following = self._ended(execution, result, begun, chain)
        if following is not None:
            self._begin(following, chain)

    def _ended(self, execution: Execution, result: Result, begun: float, chain: Chain) -> Execution | None:
        """Returns the step to execute next; None if the chain has ended."""
        self._durations[execution.context.tool] = time.monotonic() - begun
        continues = execution.finish() and chain.add(execution, result)
        if execution.lost:
            self._slots.free(execution)
        following = self._following(chain) if continues else None
        if following is None:
            self._chains.discard(chain)
            chain.end()
        return following

    def _following(self, chain: Chain) -> Execution | None:
        """The step to execute before the results of earlier steps are reported; None at the end of the chain."""
        item = chain.following()
        if (item is None or self._stopping.is_set() or time.monotonic() - chain.begun >= self._chain
                or self._durations.get(item["tool"], self._chain) >= self._chain):
            return None

        def news() -> None:
            chain.lead()
            self._heartbeats.nudge()

        def upload(execution: Execution, artifact: dict[str, Any]) -> str:
            chain.await_lease(execution)
            return self._dispatch.upload(execution, artifact)

        step = Execution(item, self._driver.settings.url, news, upload)
        return step if chain.begin(step) else None

    @staticmethod
    def _outcome(execution: Execution, value: Any) -> Result:
        if isinstance(value, Continue):
            return execution.completed(value.output, "continue")
        return execution.completed(value)

    @staticmethod
    def _failure(execution: Execution, error: BaseException) -> Result:
        if isinstance(error, StepFailure):
            return execution.failed(error)
        if isinstance(error, StepDeferral):
            return Result.deferred(error)
        if execution.context.stop == "budget_exceeded":
            return Result.released()
        if not execution.context.cancelled or not isinstance(error, (Cancelled, asyncio.CancelledError)):
            LOG.warning("handler of %s failed", execution.context.tool, exc_info=error)
        if isinstance(error, KeelsonError) and error.code == "NOT_JSON":
            return execution.failed(StepFailure("OUTPUT_INVALID", "permanent", error.message))
        return execution.failed(StepFailure("HANDLER_ERROR", "infrastructure", told(error)))


def _answer(turn: Turn, value: Any) -> dict[str, Any]:
    if not isinstance(value, Answer):
        agent = f"agent {turn.agent}" if turn.agent else "the agent"
        _refuse_awaitable(agent, value)
        raise StepFailure("OUTPUT_INVALID", "permanent", f"{agent} returns {kind(value)}, not turn.call(…) or turn.done(…)")
    return value.body


def _refuse_awaitable(what: str, value: Any) -> None:
    """Refuses the coroutine of a function that is not declared `async`, such as a lambda."""
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise StepFailure("OUTPUT_INVALID", "permanent", f"{what} returns a coroutine that nothing awaits; declare it with async def")


def _show_lines() -> None:
    """Shows the worker's lines on the standard error output of a program that configures no logging."""
    if not LOG.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


def _settings(client: Keelson | AsyncKeelson | None) -> Settings:
    if client is not None:
        return client._settings
    url, key = _address.find()
    return Settings(url, key, 30.0, 20.0)


