"""How handlers are executed: in threads, as tasks of an event loop, in processes."""
from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import queue
import signal
import sys
import threading
import time
import typing
from collections.abc import Callable, Coroutine
from typing import Any

from keelson._errors import Cancelled, StepDeferral, StepFailure
from keelson._execution import Context, Execution

IDLE_SECONDS = 30.0
BLOCKED_SECONDS = 1.0
WARNED_SECONDS = 60.0


class Threads:
    """Daemon threads, as many as are needed at a time, which wait a while for further work."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    def run(self, work: Callable[[], None]) -> None:
        """Executes work, at once."""
        self._work.put(work)
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._work.get(timeout=IDLE_SECONDS)()
                self._idle.release()
        if not self._idle.acquire(blocking=False):  # work was promised to this thread while it gave up
            self._serve()


class Loop:
    """An event loop in a thread of its own, for handlers that are coroutines. `warn` gets a text about a handler that blocks it."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._warn = warn
        self._passed = threading.Event()
        self._ended = threading.Event()
        self._warned: dict[str, float] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="keelson-asyncio", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="keelson-watch", daemon=True).start()

    def run(self, work: Callable[[], Coroutine[Any, Any, None]], execution: Execution) -> None:
        """Executes a handler as a task, which is cancelled with the execution."""
        def begin() -> None:
            task = self._loop.create_task(work())
            execution.on_stop = lambda: self._cancel(task)
            if execution.context.cancelled:
                task.cancel()
            self._tasks[task] = execution.context.tool  # a loop has only weak references
            task.add_done_callback(self._tasks.pop)

        self._loop.call_soon_threadsafe(begin)

    def end_watch(self) -> None:
        """Warns no more. Tasks that ignore their cancellation keep the loop."""
        self._ended.set()

    def _watch(self) -> None:
        """Looks every half second whether the loop passes on. One that does not is blocked by the handler that it executes."""
        while not self._ended.wait(BLOCKED_SECONDS / 2):
            if not self._tasks:
                continue
            self._passed.clear()
            self._loop.call_soon_threadsafe(self._passed.set)
            if self._passed.wait(BLOCKED_SECONDS):
                continue
            self._tell_blocked()
            self._passed.wait()

    def _tell_blocked(self) -> None:
        tools = dict(self._tasks)
        at_work = asyncio.current_task(self._loop)
        if at_work is None:  # no handler has it: the machine is busy
            return
        tool = tools.get(typing.cast("asyncio.Task[None]", at_work)) or " or ".join(sorted(set(tools.values())))
        if time.monotonic() < self._warned.get(tool, 0.0):
            return
        self._warned[tool] = time.monotonic() + WARNED_SECONDS
        frame = sys._current_frames().get(self._thread.ident or 0)
        place = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
        self._warn(f"the handler of {tool} has blocked the event loop for {BLOCKED_SECONDS:g} s{place}, and with it all coroutines of the "
                   "worker: await instead, or declare it without async, for a thread")

    def _cancel(self, task: asyncio.Task[None]) -> None:
        self._loop.call_soon_threadsafe(task.cancel)


class Child:
    """A process that executes one call at a time."""

    def __init__(self, function: Callable[[Context], Any]) -> None:
        methods = multiprocessing.get_context("spawn")
        self._pipe, theirs = methods.Pipe()
        self.process = methods.Process(target=_serve, args=(theirs, function), name="keelson-handler", daemon=True)
        self.process.start()
        theirs.close()

    def call(self, execution: Execution, server: str) -> Any:
        """Executes a call. Raises what the handler raised, and `Cancelled` if the process has ended."""
        try:
            self._pipe.send((execution.context._item.raw, server))
            while True:
                kind, value = self._pipe.recv()
                if kind == "returned":
                    return value
                if kind == "raised":
                    raise value
                execution.tell(kind, value)
        except (EOFError, OSError) as e:
            if execution.context.cancelled:
                raise Cancelled("the process was ended") from e
            raise RuntimeError(f"the handler's process ended with {self.process.exitcode}") from e


class Processes:
    """Processes of one handler. One that is cancelled is killed; the others are used again."""

    def __init__(self, function: Callable[[Context], Any], server: str) -> None:
        self._function, self._server = function, server
        self._idle: queue.SimpleQueue[Child] = queue.SimpleQueue()

    def call(self, execution: Execution) -> Any:
        """Executes a call in an idle or a new process."""
        try:
            child = self._idle.get_nowait()
        except queue.Empty:
            child = Child(self._function)
        execution.on_stop = child.process.kill
        if execution.context.cancelled:
            child.process.kill()
        try:
            return child.call(execution, self._server)
        finally:
            execution.on_stop = None
            if child.process.is_alive() and not execution.context.cancelled:
                self._idle.put(child)
            else:
                child.process.kill()
                child.process.join()

    def close(self) -> None:
        """Ends the idle processes."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().process.kill()


def _tell(pipe: Any, what: str, value: Any) -> None:
    pipe.send((what, value))


def _serve(pipe: Any, function: Callable[[Context], Any]) -> None:
    """The child's side. Ends with the parent, whose end of the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            item, server = pipe.recv()
        except (EOFError, OSError):
            return
        context = Context(item, server, lambda what, value: _tell(pipe, what, value))
        try:
            answer = ("returned", function(context))
        except (StepFailure, StepDeferral) as e:
            answer = ("raised", e)
        except Exception as e:
            answer = ("raised", RuntimeError(f"{type(e).__name__}: {e}"))
        try:
            pipe.send(answer)
        except (TypeError, ValueError, AttributeError) as e:  # a value that has no form outside its process
            pipe.send(("raised", StepFailure("OUTPUT_INVALID", "permanent", f"the output of {context.tool} cannot leave its process: {e}")))

