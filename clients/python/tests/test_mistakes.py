"""Makes each mistake of docs/guide/client-mistakes.md, with a server: KEELSON_URL and KEELSON_API_KEY name it."""
from __future__ import annotations

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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src")]

import keelson  # noqa: E402
from keelson import Keelson, Mission, Task, Worker  # noqa: E402

PAGE = HERE.parent.parent.parent / "docs/guide/client-mistakes.md"
ROW = re.compile(r"^\| `([\w-]+)`: [^|]+ \| (both|Python|TypeScript) \| [^|]+ \| `(.+)` \|$", re.MULTILINE)


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
        return self.client.runs.create({"name": "faults", "plan": {"tasks": [
            {"id": "a", "depends_on": 5, "steps": [{"tool": "no.such.tool"}]}, {"id": "b", "steps": [{"tool": "echo", "colour": "red"}]}]}})

    def depends_on_number(self) -> Any:
        return Task("b", depends_on=5)  # type: ignore[arg-type]

    def depends_on_task(self) -> Any:
        return Task("b", depends_on=[Task("a")])  # type: ignore[list-item]

    def not_json_in_plan(self) -> Any:
        step = {"tags": {"new"}, "share": float("nan")}
        return self.client.runs.create(Mission("faults").task(Task("a").step("s", "echo", step)))

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
        self.client.request("POST", "/agents", {"slug": slug, "name": slug, "tools": ["echo"], "runs_on": "workers"})
        worker = Worker(self.client, poll=0.1)
        worker.agent(slug)(lambda turn: "done")
        return self.failure(worker, Task("think", title="Think", suggested_agent={"agent_name": slug}, tools_needed=["echo"]))

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
        rows = {name: text for name, client, text in ROW.findall(PAGE.read_text("utf-8")) if client != "TypeScript"}
        mistakes = Mistakes()
        made = {name.replace("_", "-") for name in vars(Mistakes) if not name.startswith("_")} - {"serving", "log-of", "failure"}
        self.assertEqual(made, set(rows))

        def read(name: str) -> str:
            try:
                return str(getattr(mistakes, name.replace("-", "_"))())
            except Exception as e:
                return str(e)

        with ThreadPoolExecutor(8) as pool:
            for (name, text), told in zip(rows.items(), pool.map(read, rows), strict=True):
                with self.subTest(name):
                    wanted = ".*".join(re.escape(each) for each in text.split("…"))
                    self.assertRegex(re.sub(r"\s+", " ", told), f"^{wanted}$")


if __name__ == "__main__":
    unittest.main()
