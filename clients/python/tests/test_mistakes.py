"""Makes each mistake of docs/guide/client-mistakes.md, with a server: KEELSON_URL and KEELSON_API_KEY name it."""
from __future__ import annotations

import asyncio
import contextlib
import http.server
import logging
import os
import pathlib
import re
import socketserver
import sys
import threading
import time
import unittest
import uuid
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src")]

import keelson  # noqa: E402
from keelson import AsyncKeelson, Keelson, Mission, Task, Worker  # noqa: E402
from keelson.turn import Answer  # noqa: E402

PAGE = HERE.parent.parent.parent / "docs/guide/client-mistakes.md"
ROW = re.compile(r"^\| `([\w-]+)`: [^|]+ \| (all|both|Python|TypeScript|Java) \| [^|]+ \| `(.+)` \|$", re.MULTILINE)


FAULTY = {"name": "faults", "plan": {"tasks": [
    {"id": "a", "depends_on": 5, "steps": [{"tool": "no.such.tool"}]}, {"id": "b", "steps": [{"tool": "echo", "colour": "red"}]}]}}
UNWRITABLE = Mission("faults").task(Task("a").step("s", "echo", {"tags": {"new"}, "share": float("nan")}))


class OtherServer(http.server.BaseHTTPRequestHandler):
    """An HTTP server that is another one."""

    def do_POST(self) -> None:
        """404, but a page under `/page`."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(200 if self.path.startswith("/page/") else 404)
        self.end_headers()
        self.wfile.write(b"<h1>Welcome</h1>")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Mistakes:
    """Each method makes the mistake of its name, and raises or returns what its author reads."""

    def __init__(self) -> None:
        self.url, self.key = os.environ["KEELSON_URL"], os.environ["KEELSON_API_KEY"]
        self.client = Keelson(self.url, self.key)

    def serving(self, url: str | None = None, key: str | None = None, **options: Any) -> Worker:
        """A worker of a tool, which has not begun."""
        worker = Worker(Keelson(url or self.url, key), poll=0.1)
        worker.tool("mistakes.effects", **options)(lambda: 1)
        return worker

    def log_of(self, worker: Worker, act: Any = lambda: None) -> str:
        """The first warning of a worker."""
        found: list[str] = []
        told = threading.Event()

        class Keep(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if record.levelno == logging.WARNING and worker.id in record.getMessage():
                    found.append(record.getMessage())
                    told.set()

        handler = Keep()
        log = logging.getLogger("keelson.worker")
        log.addHandler(handler)
        try:
            with worker:
                act()
                told.wait(10)
        finally:
            log.removeHandler(handler)
        return found[0]

    def failure(self, worker: Worker, task: Task) -> str:
        """The failure of the run's last step."""
        with worker:
            run = self.client.runs.create(Mission("mistake").task(task)).wait(20)
            step = list(run.steps())[-1]
            return f"{step.error_code}: {step.error_message}"

    def wrong_key(self) -> Any:
        return self.serving(key="kl_wrong").start()

    def no_key(self) -> Any:
        return self.serving().start()

    def key_of_readers(self) -> Any:
        made = self.client.request("POST", "/api-keys", {"name": f"reader-{uuid.uuid4().hex[:8]}", "scopes": ["runs:read"]})
        return self.serving(key=made["key"]).start()

    def server_away(self) -> str:
        return self.log_of(self.serving(url="http://127.0.0.1:9"))

    def http_to_https(self) -> str:
        class Refusing(socketserver.BaseRequestHandler):
            """Ends the connection, as a server of TLS does after a request without it."""

        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                return self.log_of(self.serving(url=f"http://127.0.0.1:{server.server_address[1]}"))
            finally:
                server.shutdown()

    def inputs_not_by_name(self) -> Any:
        return self.client.runs.create(Mission("m"), inputs=["Ada"])  # type: ignore[arg-type]

    def wrong_key_of_a_client(self) -> Any:
        return Keelson(self.url, "kl_wrong").runs.get("r")

    def no_server(self) -> Any:
        return Keelson("http://127.0.0.1:9", "k").runs.get("r")

    def no_scheme(self) -> Any:
        return Keelson("localhost:7331")

    def api_path(self) -> Any:
        return Keelson("http://localhost:7331/api/v1")

    def https_to_http(self) -> Any:
        return Keelson(self.url.replace("http:", "https:"), "k").runs.get("r")

    def other_server(self) -> Any:
        with other_server() as url:
            return self.serving(url=url).start()

    def page_of_another_server(self) -> Any:
        with other_server() as url:
            return self.serving(url=url + "/page").start()

    def refused_tool(self) -> Any:
        return self.serving(key=self.key, effects="maybe").start()

    def three_faults(self) -> Any:
        return self.client.runs.create(FAULTY)

    def depends_on_number(self) -> Any:
        return Task("b", depends_on=5)  # type: ignore[arg-type]

    def depends_on_task(self) -> Any:
        return Task("b", depends_on=[Task("a")])  # type: ignore[list-item]

    def not_json_in_plan(self) -> Any:
        return self.client.runs.create(UNWRITABLE)

    def input_does_not_fit(self) -> str:
        worker = Worker(self.client, poll=0.1)

        @worker.tool("mistakes.greet")
        def greet(name: str, polite: bool = False) -> str:
            return name

        return self.failure(worker, Task("a").step("s", "mistakes.greet", {"name": 5, "nam": "Ada"}))

    def output_not_json(self) -> str:
        worker = Worker(self.client, poll=0.1)
        worker.tool("mistakes.output")(lambda: {"tags": {"new"}})
        return self.failure(worker, Task("a").step("s", "mistakes.output"))

    def blocking_handler(self) -> str:
        worker = Worker(self.client, poll=0.1)

        @worker.tool("mistakes.block")
        async def block() -> None:
            time.sleep(1.7)

        return self.log_of(worker, lambda: self.client.runs.create(Mission("mistake").task(Task("a").step("s", "mistakes.block"))))

    def not_awaited(self) -> str:
        worker = Worker(self.client, poll=0.1)

        async def later() -> None:
            """Is never awaited."""

        worker.tool("mistakes.coroutine")(lambda: later())
        return self.failure(worker, Task("a").step("s", "mistakes.coroutine"))

    def agent_without_answer(self) -> str:
        slug = f"mistakes-{uuid.uuid4().hex[:8]}"
        worker = Worker(self.client, poll=0.1)
        worker.agent(slug)(lambda turn: "done")
        return self.failure(worker, self.thinking(slug))

    def agent_not_served(self) -> str:
        worker = Worker(self.client, poll=0.1)
        worker.agent("mistakes-unknown")(lambda turn: turn.done("done"))
        run = self.client.runs.create(Mission("mistake").task(self.thinking(f"mistakes-{uuid.uuid4().hex[:8]}")))
        try:
            return self.log_of(worker)
        finally:
            run.cancel()

    def thinking(self, slug: str) -> Task:
        """A task of a new agent, which a worker has to serve."""
        self.client.request("POST", "/agents", {"slug": slug, "name": slug, "tools": ["echo"], "runs_on": "workers"})
        return Task("think", title="Think", suggested_agent={"agent_name": slug}, tools_needed=["echo"])

    def failing(self, act: Callable[[keelson.Context], Any]) -> str:
        """The failure of a step whose handler acts so."""
        worker = Worker(self.client, poll=0.1)
        name = f"mistakes.{uuid.uuid4().hex[:8]}"

        @worker.tool(name)
        def handle(ctx: keelson.Context) -> None:
            act(ctx)

        return self.failure(worker, Task("a").step("s", name, retry={"max_attempts": 1}))

    def tool_twice(self) -> Any:
        worker = Worker(self.client)
        worker.tool("mistakes.twice")(lambda: 1)
        return worker.tool("mistakes.twice")(lambda: 2)

    def use_negative(self) -> str:
        return self.failing(lambda ctx: ctx.usage(cost=-1))

    def use_not_whole(self) -> str:
        return self.failing(lambda ctx: ctx.usage(tokens=1.5))  # type: ignore[arg-type]

    def use_not_a_number(self) -> str:
        return self.failing(lambda ctx: ctx.usage(cost="abc"))

    def progress_not_a_number(self) -> str:
        return self.failing(lambda ctx: ctx.progress("half"))  # type: ignore[arg-type]

    def call_of_no_object(self) -> Any:
        return Answer({"tool_calls": []}).call("noop", "x")

    def handler_error(self) -> str:
        def act(ctx: keelson.Context) -> None:
            raise RuntimeError("broken") from OSError("disk full")

        return self.failing(act)

    def failure_class(self) -> Any:
        return keelson.StepFailure("FAULTY", "fatal", "m")  # type: ignore[arg-type]

    def no_parentheses(self) -> Any:
        return Worker(self.client).tool(lambda: 1)  # type: ignore[arg-type]

    def wait_too_short(self) -> Any:
        run = self.client.runs.create(Mission("mistake").task(Task("a").approval("sign-off", "Go on?")))
        try:
            return run.wait(0.05)
        finally:
            run.cancel()


class AsyncMistakes:
    """The mistakes about a client, with the asynchronous one."""

    def __init__(self) -> None:
        self.url, self.key = os.environ["KEELSON_URL"], os.environ["KEELSON_API_KEY"]

    async def with_client(self, use: Callable[[AsyncKeelson], Awaitable[Any]], url: str | None = None, key: str | None = None) -> Any:
        """What the use of a client returns."""
        async with AsyncKeelson(url or self.url, key or self.key) as client:
            return await use(client)

    async def wrong_key_of_a_client(self) -> Any:
        return await self.with_client(lambda client: client.runs.get("r"), key="kl_wrong")

    async def no_server(self) -> Any:
        return await self.with_client(lambda client: client.runs.get("r"), "http://127.0.0.1:9")

    async def no_scheme(self) -> Any:
        return AsyncKeelson("localhost:7331")

    async def api_path(self) -> Any:
        return AsyncKeelson("http://localhost:7331/api/v1")

    async def https_to_http(self) -> Any:
        return await self.with_client(lambda client: client.runs.get("r"), self.url.replace("http:", "https:"))

    async def three_faults(self) -> Any:
        return await self.with_client(lambda client: client.runs.create(FAULTY))

    async def not_json_in_plan(self) -> Any:
        return await self.with_client(lambda client: client.runs.create(UNWRITABLE))

    async def inputs_not_by_name(self) -> Any:
        return await self.with_client(lambda client: client.runs.create(Mission("m"), inputs=["Ada"]))  # type: ignore[arg-type]

    async def wait_too_short(self) -> Any:
        async def use(client: AsyncKeelson) -> Any:
            run = await client.runs.create(Mission("mistake").task(Task("a").approval("sign-off", "Go on?")))
            try:
                return await run.wait(0.05)
            finally:
                await run.cancel()

        return await self.with_client(use)


@contextlib.contextmanager
def other_server() -> Iterator[str]:
    """The address of another HTTP server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@unittest.skipUnless("KEELSON_URL" in os.environ, "needs a server")
class MistakesTest(unittest.TestCase):
    """The page says what people read."""

    def test_page(self) -> None:
        """One row a mistake."""
        rows = {name: text for name, client, text in ROW.findall(PAGE.read_text("utf-8")) if client not in ("TypeScript", "Java")}
        mistakes, of_async = Mistakes(), AsyncMistakes()
        made = {name.replace("_", "-") for name in vars(Mistakes) if not name.startswith("_")} - {"serving", "log-of", "failure", "failing", "thinking"}
        self.assertEqual(made, set(rows))

        def read(mistake: tuple[Any, str]) -> str:
            try:
                made = getattr(mistake[0], mistake[1].replace("-", "_"))()
                return str(asyncio.run(made) if mistake[0] is of_async else made)
            except Exception as e:
                return str(e)

        each: list[tuple[Any, str]] = [(mistakes, name) for name in rows]
        each += [(of_async, name) for name in rows if hasattr(of_async, name.replace("-", "_"))]
        with ThreadPoolExecutor(8) as pool:
            for (maker, name), told in zip(each, pool.map(read, each), strict=True):
                with self.subTest(name, maker=type(maker).__name__):
                    wanted = ".*".join(re.escape(part) for part in rows[name].split("…"))
                    self.assertRegex(re.sub(r"\s+", " ", told), f"^{wanted}$")


if __name__ == "__main__":
    unittest.main()
