"""Parts of the client without a server."""
from __future__ import annotations

import dataclasses
import datetime
import enum
import http.server
import json
import pathlib
import pickle
import socket
import sys
import tempfile
import threading
import time
import typing
import unittest
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "src")]

from keelson import Context, Keelson, KeelsonError, Mission, Run, StepFailure, Task, Turn, Worker, _address, _core, _json, _types, expr, schema  # noqa: E402
from keelson._errors import told  # noqa: E402
from keelson._execution import Execution, Gateway  # noqa: E402

ITEM = {"step_id": "s", "run_id": "r", "task_id": "t", "tool": "x", "input": {"n": Decimal("0.5")}, "attempt": 1, "lease_epoch": 2,
        "effect_key": "k", "gateway": {"token": "secret-token"}}


class Colour(enum.Enum):
    """An enumeration."""

    RED = "red"


@dataclasses.dataclass
class Order:
    """A dataclass."""

    sku: Annotated[str, "as in the shop"]
    count: int = 1
    tags: list[str] = dataclasses.field(default_factory=list)


class Named(typing.TypedDict):
    """A typed dictionary."""

    name: str


class JsonTest(unittest.TestCase):
    """Values to and from JSON."""

    def test_values(self) -> None:
        """Decimals are exact numbers, times have their zone."""
        time = datetime.datetime(2026, 3, 29, 1, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        value = {"d": Decimal("0.100000000000000001"), "t": time, "e": Colour.RED, "o": Order("a"), "u": uuid.UUID(int=1),
                 "m": Mission("n"), "x": "ü 𝄞"}
        self.assertEqual(_json.dumps(value).decode(), '{"d":0.100000000000000001,"t":"2026-03-29T01:30:00+02:00","e":"red",'
                         '"o":{"sku":"a","count":1,"tags":[]},"u":"00000000-0000-0000-0000-000000000001","m":{"name":"n"},"x":"ü 𝄞"}')

    def test_refused(self) -> None:
        """Values that JSON lacks are refused."""
        for value in (float("nan"), Decimal("NaN"), object(), {1, 2}, datetime.datetime(2026, 1, 1), b"x"):
            with self.assertRaises(KeelsonError, msg=str(value)) as raised:
                _json.dumps({"v": value})
            self.assertEqual(raised.exception.code, "NOT_JSON")

    def test_places(self) -> None:
        """Each place is named, with what is there and what helps."""
        value: dict[str, Any] = {"a/b": {1}, "b": [1, b"x", {2: datetime.datetime(2026, 1, 1)}], "c": {("k",): 1}, "d": len, "ok": Order("s")}
        value["loop"] = value
        with self.assertRaises(KeelsonError) as raised:
            _json.dumps(value)
        self.assertEqual([(each.pointer, each.message) for each in raised.exception.problems], [
            ("/a~1b", "is a set, which JSON lacks; make it a list"), ("/b/1", "is bytes, which JSON lacks; make it a text, such as by base64"),
            ("/b/2/2", "is a time without a zone: 2026-01-01 00:00:00"), ("/c", "has an array as the name of a member; names are texts"),
            ("/d", "is a function, which JSON lacks"), ("/loop", "contains itself")])
        self.assertEqual(raised.exception.message, "/a~1b is a set, which JSON lacks; make it a list; 5 more")

    def test_half_pair(self) -> None:
        """Half of a surrogate pair is sent as an escape."""
        self.assertEqual(_json.dumps("a\ud800"), b'"a\\ud800"')

    def test_times(self) -> None:
        """Fractions of any length."""
        for text in ("2026-03-29T00:59:59Z", "2026-03-29T00:59:59.000000000Z", "2026-03-29T02:59:59.0+02:00"):
            self.assertEqual(_json.time(text), datetime.datetime(2026, 3, 29, 0, 59, 59, tzinfo=datetime.timezone.utc))


class DocumentTest(unittest.TestCase):
    """Answers of the server."""

    def test_members(self) -> None:
        """Types, absent and unknown members."""
        run = _types.Run(_json.loads(b'{"id": "1", "total_cost": 3, "output": {"x": 0.5}, "colour": "teal", "now": {"code": "Q", "text": "q"}}'))
        self.assertEqual((run.total_cost, type(run.total_cost)), (Decimal(3), Decimal))
        self.assertIs(type(run.output["x"]), float)
        self.assertEqual(run["colour"], "teal")
        assert run.now is not None
        self.assertEqual(run.now.code, "Q")
        self.assertIsNone(run.completed_at)
        with self.assertRaises(AttributeError):
            getattr(run, "colour")

    def test_equal(self) -> None:
        """Documents with the same members are equal."""
        self.assertEqual(_types.Event({"id": 1}), _types.Event({"id": 1}))


class SchemaTest(unittest.TestCase):
    """Schemas from type hints."""

    def test_schemas(self) -> None:
        """One row a hint."""
        rows: list[tuple[Any, Any]] = [
            (str, {"type": "string"}), (Decimal, {"type": "number"}), (bool, {"type": "boolean"}), (Any, {}),
            (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}), (list[str], {"type": "array", "items": {"type": "string"}}),
            (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}), (Literal["a", "b"], {"enum": ["a", "b"]}),
            (Colour, {"enum": ["red"]}), (Named, {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
            (Order, {"type": "object", "required": ["sku"], "properties": {
                "sku": {"type": "string", "description": "as in the shop"}, "count": {"type": "integer", "default": 1},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []}}})]
        for hint, wanted in rows:
            self.assertEqual(schema.of(hint), wanted, hint)
        with self.assertRaises(TypeError):
            schema.of(Keelson)

    def test_values(self) -> None:
        """Arguments of a handler, and what does not fit."""
        def handler(name: str, ctx: Context, when: datetime.datetime, share: Decimal = Decimal(1), colours: list[Colour] = []) -> None:
            """A handler."""

        signature = schema.Signature(handler, Context)
        self.assertEqual(signature.schema["required"], ["name", "when"])
        made = signature.arguments({"name": "a", "when": "2026-01-01T00:00:00Z", "share": 0.1, "colours": ["red"]}, None)
        self.assertEqual((made["share"], made["colours"], made["ctx"]), (Decimal("0.1"), [Colour.RED], None))
        good: dict[str, Any] = {"name": "a", "when": "2026-01-01T00:00:00Z"}
        for given, fault in (({**good, "name": 1}, "^/name must be a string, not the number 1$"), ({"name": "a"}, "^/when is missing$"),
                             ({**good, "when": "soon"}, "^/when must be a time such as 2026-01-31T12:00:00Z, not the text \"soon\"$"),
                             ([], "^the input must be an object, not an array$"),
                             ({**good, "colours": ["blue"]}, "^/colours/0 must be one of \"red\", not the text \"blue\"$"),
                             ({**good, "share": True}, "^/share must be a number, not true$"),
                             ({"nam": "a", "when": 3}, "^/name is missing; /when must be a time .*; /nam is unknown; known: name, when, share, colours$")):
            with self.assertRaisesRegex(ValueError, fault):
                signature.arguments(given, None)

    def test_unknown_members(self) -> None:
        """A member that would be dropped is a fault, unless the handler takes any, or the tool's own schema has it."""
        def closed(name: str) -> None:
            """A handler."""

        def free(ctx: Context) -> None:
            """A handler that reads `ctx.input`."""

        def open_(name: str, **more: Any) -> None:
            """A handler."""

        given = {"name": "a", "more": 1}
        with self.assertRaisesRegex(ValueError, "^/more is unknown; known: name$"):
            schema.Signature(closed, Context).arguments(given, None)
        with self.assertRaisesRegex(ValueError, "^/more is unknown; known: sku, count, tags$"):
            schema.value(Order, {"sku": "a", "more": 1})
        self.assertEqual(schema.Signature(closed, Context, {"properties": {"more": {}}}).arguments(given, None), {"name": "a"})
        self.assertEqual(schema.Signature(free, Context).arguments([1], None), {"ctx": None})
        self.assertEqual(schema.Signature(open_, Context).arguments(given, None), given)
        handlers: list[Callable[..., None]] = [closed, free, open_]
        self.assertEqual([schema.Signature(each, Context).schema.get("additionalProperties") for each in handlers], [False, None, None])

    def test_whole_input(self) -> None:
        """A dataclass gets the whole input."""
        def handler(order: Order) -> None:
            """A handler."""

        self.assertEqual(schema.Signature(handler, Context).arguments({"sku": "a", "count": 2}, None), {"order": Order("a", 2)})


class CoreTest(unittest.TestCase):
    """Decisions without I/O."""

    def test_backoff(self) -> None:
        """Full jitter below a limit that doubles; the server's wish is heeded up to a minute."""
        for _ in range(50):
            backoff = _core.Backoff(0.1, 2.0)
            limits = [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
            for limit in limits:
                self.assertTrue(0 <= backoff.next() <= limit)
        self.assertEqual(_core.Backoff().next(3.0), 3.0)
        self.assertEqual(_core.Backoff().next(900.0), 60.0)

    def test_frames(self) -> None:
        """A stream is divided at any byte; comments, other line ends and separators of Unicode are no events."""
        text = 'id: 1\nevent: a\ndata: {"t": "\u2028 𝄞"}\n\n: alive\n\nid: 2\r\ndata: {"t":\r\ndata: 2}\r\n\r\nid: 3\ndata: {"t"'.encode()
        for size in (1, 2, 7, len(text)):
            frames, events = _core.Frames(), []
            for begin in range(0, len(text), size):
                events += frames.feed(text[begin:begin + size])
            self.assertEqual(events, [(1, {"t": "\u2028 𝄞"}), (2, {"t": 2})])

    def test_paths(self) -> None:
        """Segments and queries are encoded, absent parameters left out."""
        self.assertEqual(_core.path("/runs/{}/x", "a/b ü", name="a&b", cursor=None, now=True), "/api/v1/runs/a%2Fb%20%C3%BC/x?name=a%26b&now=true")


class AddressTest(unittest.TestCase):
    """Where the server is."""

    def test_found(self) -> None:
        """The environment comes first; the folder's key is for this machine only."""
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(KeelsonError) as raised:
                _address.find({"KEELSON_DATA_DIR": folder})
            self.assertEqual(raised.exception.code, "NO_SERVER_KNOWN")
            pathlib.Path(folder, "url").write_text("http://127.0.0.1:7331\n")
            pathlib.Path(folder, "api-key").write_text("k\n")
            self.assertEqual(_address.find({"KEELSON_DATA_DIR": folder}), ("http://127.0.0.1:7331", "k"))
            self.assertEqual(_address.find({"KEELSON_DATA_DIR": folder, "KEELSON_URL": "http://192.0.2.1"}), ("http://192.0.2.1", None))
            self.assertEqual(_address.find({"KEELSON_DATA_DIR": folder, "KEELSON_API_KEY": "e"}), ("http://127.0.0.1:7331", "e"))

    def test_refused(self) -> None:
        """An address without a scheme is a mistake of the caller."""
        with self.assertRaisesRegex(ValueError, "is not the address of a server: it has no scheme"):
            Keelson("localhost:7331")


class SecretsTest(unittest.TestCase):
    """Keys and tokens are in no representation."""

    def test_hidden(self) -> None:
        """repr and str."""
        client = Keelson("http://127.0.0.1:1", "secret-key")
        execution = Execution(ITEM, "http://127.0.0.1:1", lambda: None, lambda _, __: "")
        shown = [repr(client), repr(execution.context), repr(execution.context.gateway), repr(Worker(client)), repr(client.runs)]
        self.assertFalse([text for text in shown if "secret" in text])
        self.assertEqual(execution.context.gateway, Gateway("http://127.0.0.1:1", "secret-token"))
        self.assertEqual(execution.context.gateway.openai()["base_url"], "http://127.0.0.1:1/gateway/openai/v1")
        self.assertEqual(execution.context.gateway.environment()["KEELSON_MCP_URL"], "http://127.0.0.1:1/gateway/mcp")


class RepresentationTest(unittest.TestCase):
    """Values of answers in a shell or a log."""

    def test_named(self) -> None:
        """A reason has no id: its code names it."""
        reason = _types.ExplanationReason({"code": "RUNNING", "text": "at work", "task_id": None})
        self.assertEqual(repr([reason]), "[ExplanationReason(code='RUNNING')]")


class OutputTest(unittest.TestCase):
    """Outputs of runs as types."""

    def test_types(self) -> None:
        """A dataclass, a list, and a fault."""
        def run(output: Any) -> Run:
            return Run({"id": "r", "output": output}, Keelson("http://127.0.0.1:1", "k"))

        self.assertEqual(run({"sku": "A7", "count": 2}).output_as(Order), Order("A7", 2))
        self.assertEqual(run([1]).output_as(list[int]), [1])
        with self.assertRaisesRegex(KeelsonError, "^OUTPUT_INVALID: the output is no Order: output/sku is missing; output/x is unknown; known: "):
            run({"x": 1}).output_as(Order)


class MissionTest(unittest.TestCase):
    """Missions in code."""

    def test_document(self) -> None:
        """The shape of a mission file."""
        mission = (Mission("m", goal="g").declare("n", int, default=3).declare_all(Order).config(autonomy="full_auto").tags("a")
                   .external_id("e", "existing").output(expr(".tasks.b.output"))
                   .task(Task("a", when="true").step("s", "noop", retry={"max_attempts": 2}).undo("noop", {"n": 1}).undo("noop", name="last"))
                   .task(Task("b", depends_on="a").approval("ok", "Go on?").review().output(1)))
        made = mission.to_json_value()
        self.assertEqual(made["inputs"]["sku"], {"type": "string", "description": "as in the shop"})
        self.assertEqual(made["inputs"]["n"], {"type": "integer", "default": 3})
        self.assertEqual(made["plan"]["tasks"][0]["undo"], [{"tool": "noop", "input": {"n": 1}}, {"tool": "noop", "name": "last"}])
        self.assertEqual(Task("a").undo("noop").to_json_value()["undo"], {"tool": "noop"})
        self.assertEqual(Task("a").cache(".inputs.q", "7d").to_json_value(), {"id": "a", "cache": {"key": ".inputs.q", "max_age": "7d"}})
        with self.assertRaisesRegex(TypeError, "task a: the max_age of its cache is a text, not"):
            Task("a").cache(".inputs.q", 7)  # type: ignore[arg-type]
        self.assertEqual(made["plan"]["tasks"][1], {"id": "b", "depends_on": ["a"], "verify": [{"kind": "human"}], "output": 1, "steps": [
            {"name": "ok", "kind": "approval", "input": {"question": "Go on?"}}]})
        self.assertEqual((made["external_id_policy"], made["output"]), ("existing", "${ .tasks.b.output }"))


class WorkerTest(unittest.TestCase):
    """Handlers and executions."""

    def test_notes(self) -> None:
        """Notes that did not reach the server come before newer ones."""
        execution = Execution(ITEM, "", lambda: None, lambda _, __: "")
        ctx = execution.context
        ctx.log("1")
        ctx.progress(2, "all")
        taken = execution.take_notes(final=False)
        self.assertEqual(taken, {"progress": {"fraction": Decimal(1), "message": "all"}, "logs": ["1"]})
        ctx.log("2")
        ctx.progress(0.5)
        ctx.details = {"page": 1}
        execution.put_back(taken)
        self.assertEqual(execution.take_notes(final=True), {"progress": {"fraction": Decimal("0.5"), "message": ""}, "logs": ["1", "2"]})
        self.assertTrue(execution.has_notes, "details are for a heartbeat")

    def test_phases(self) -> None:
        """Whichever comes first counts."""
        execution = Execution(ITEM, "", lambda: None, lambda _, __: "")
        self.assertTrue(execution.stop("budget_exceeded") and execution.context.cancelled)
        self.assertTrue(execution.finish())
        self.assertFalse(execution.stop("lost") or execution.abandon() or execution.finish())

    def test_money(self) -> None:
        """Money is no float."""
        ctx = Execution(ITEM, "", lambda: None, lambda _, __: "").context
        with self.assertRaisesRegex(TypeError, "money is no float"):
            ctx.usage(cost=0.1)  # type: ignore[arg-type]

    def test_mistakes(self) -> None:
        """Mistakes of a worker's author are errors at once."""
        worker = Worker(Keelson("http://127.0.0.1:1"))
        with self.assertRaisesRegex(RuntimeError, "at least one tool"):
            worker.start()
        with self.assertRaisesRegex(TypeError, "no JSON Schema"):
            worker.tool("x")(lambda_with_hint)
        with self.assertRaisesRegex(ValueError, "at least one slot"):
            Worker(slots=0)
        with self.assertRaisesRegex(ValueError, "a code has"):
            StepFailure("", "permanent", "m")

    def test_refused_later(self) -> None:
        """A server that comes up later, and refuses the key, ends the worker with its error; the log has one line until then."""
        with socket.create_server(("127.0.0.1", 0)) as reserved:
            port = reserved.getsockname()[1]
        worker = Worker(Keelson(f"http://127.0.0.1:{port}", "k"), poll=0.1)
        worker.tool("a")(lambda: 1)
        with self.assertLogs("keelson.worker", "INFO") as logged:
            worker.start()
            time.sleep(0.7)
            with http.server.HTTPServer(("127.0.0.1", port), Refusing) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                self.assertTrue(worker._ending.wait(10))
                server.shutdown()
            worker.stop()
        assert worker.error is not None
        self.assertEqual((worker.error.code, worker.error.status), ("INVALID_API_KEY", 401))
        self.assertEqual([record.levelname for record in logged.records], ["WARNING", "INFO", "ERROR"])
        self.assertRegex(logged.output[1], f"will serve a at http://127.0.0.1:{port} with 8 slots when the server answers$")

    def test_claims_with_reports(self) -> None:
        """A request with a report claims a step for the slot that it frees."""
        item: dict[str, Any] = {**ITEM, "tool": "t", "input": {}, "deadline": "2030-01-01T00:00:00Z"}
        items: list[dict[str, Any]] = [{**item, "step_id": "first"}]
        reports: list[dict[str, Any]] = []
        done = threading.Event()

        class Server(Refusing):
            """Gives one step to a claim, and one to the first report."""

            def do_POST(self) -> None:
                """An answer."""
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer: dict[str, Any] = {"items": []}
                if self.path.endswith("/claim"):
                    time.sleep(0.05)
                    answer["items"], items[:] = list(items), []
                else:
                    reports.append(body)
                    answer["items"] = [{"step_id": each["step_id"], "status": "ok"} for each in body["items"]]
                    if len(reports) == 1:
                        answer["claimed"] = [{**item, "step_id": "second"}]
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(answer, default=str).encode())
                if len(reports) == 2:
                    done.set()

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            worker = Worker(Keelson(f"http://127.0.0.1:{server.server_port}", "k"), slots=1, poll=0.05, lease=9)
            worker.tool("t")(lambda: 1)
            with worker:
                self.assertTrue(done.wait(10))
            server.shutdown()
        self.assertEqual([(each["items"][0]["step_id"], each.get("claim")) for each in reports], [
            (step, {"tools": ["t"], "lease_ms": 9000, "max": 1}) for step in ("first", "second")])

    def test_told(self) -> None:
        """An error is told without a colon before nothing; the only problem of a request is told once."""
        self.assertEqual(told(AssertionError()), "AssertionError")
        for pointer, text in (("/items/0/cost", "C: m is low (/items/0/cost)"), ("", "C: m is low")):
            error = KeelsonError("C", "m is low", document={"problems": [{"code": "C", "pointer": pointer, "message": "m is low"}]})
            self.assertEqual(str(error), text)

    def test_failures_leave_processes(self) -> None:
        """Failures are the same behind a process boundary."""
        failure: StepFailure = pickle.loads(pickle.dumps(StepFailure("C", "quality", "m", retry_after=2)))
        self.assertEqual((failure.code, failure.error_class, failure.message, failure.retry_after), ("C", "quality", "m", 2))

    def test_turns(self) -> None:
        """A turn's answers."""
        past = {"answer": {}, "results": [{"tool": "a", "output": None, "output_excerpt": "x"}, {"tool": "b", "error": {"code": "C"}}]}
        turn = Turn(Execution({**ITEM, "input": {"goal": "g", "transcript": [past]}}, "", lambda: None, lambda _, __: "").context)
        self.assertEqual((turn.number, turn.results[0].output, turn.results[1].error), (2, "x", {"code": "C"}))
        self.assertEqual(turn.call("t", n=1).call("u").note(why="w").body, {"tool_calls": [
            {"name": "t", "input": {"n": 1}}, {"name": "u", "input": {}}], "why": "w"})
        with self.assertRaises(ValueError):
            turn.done(1).call("t")


class Refusing(http.server.BaseHTTPRequestHandler):
    """A server that accepts no key."""

    def do_POST(self) -> None:
        """401."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(401)
        self.end_headers()
        self.wfile.write(b'{"code": "INVALID_API_KEY", "detail": "unknown"}')

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def lambda_with_hint(client: Keelson) -> None:
    """A handler whose parameter JSON lacks."""


if __name__ == "__main__":
    unittest.main()
