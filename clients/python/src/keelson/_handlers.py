"""How handlers are executed: in threads, as tasks of an event loop, in processes."""
from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from keelson._errors import Cancelled, StepDeferral, StepFailure
from keelson._execution import Context, Execution

IDLE_SECONDS = 30.0


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
    """An event loop in a thread of its own, for handlers that are coroutines."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._loop.run_forever, name="keelson-asyncio", daemon=True).start()

    def run(self, work: Callable[[], Coroutine[Any, Any, None]], execution: Execution) -> None:
        """Executes a handler as a task, which is cancelled with the execution."""
        def begin() -> None:
            task = self._loop.create_task(work())
            execution.on_stop = lambda: self._cancel(task)
            if execution.context.cancelled:
                task.cancel()
            self._tasks.add(task)  # a loop has only weak references
            task.add_done_callback(self._tasks.discard)

        self._loop.call_soon_threadsafe(begin)

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
            pipe.send(("raised", StepFailure("OUTPUT_INVALID", "permanent", f"output cannot leave its process: {e}")))

