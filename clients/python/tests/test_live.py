"""Processes and signals, with a server: KEELSON_URL and KEELSON_API_KEY name it."""
from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import unittest
import uuid
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src")]

import keelson  # noqa: E402


@unittest.skipUnless("KEELSON_URL" in os.environ, "needs a server")
class ProcessTest(unittest.TestCase):
    """A worker in a process."""

    def setUp(self) -> None:
        """Starts it."""
        self.prefix = f"live.{uuid.uuid4().hex[:8]}"
        self.client = keelson.connect()
        self.addCleanup(self.client.close)
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
        self.worker = subprocess.Popen([sys.executable, str(HERE / "process_tools.py"), self.prefix], env=environment,
                                       stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.await_line("serves")
        self.client.request("POST", "/dispatch/register", {"worker_id": "live", "tool_specs": [
            {"name": f"{self.prefix}.{name}"} for name in ("compute", "slow")]})

    def await_line(self, text: str) -> None:
        """Waits for a line of the worker."""
        assert self.worker.stderr is not None
        line = self.worker.stderr.readline()
        while text not in line:
            self.assertTrue(line, "the worker has ended")
            line = self.worker.stderr.readline()

    def end(self) -> None:
        """Ends it."""
        self.worker.kill()
        self.worker.communicate()

    def create(self, tool: str, *inputs: dict[str, Any]) -> keelson.Run:
        """A run of a task with these steps."""
        task = keelson.Task("a")
        for i, each in enumerate(inputs):
            task.step(f"s{i}", f"{self.prefix}.{tool}", each)
        return self.client.runs.create(keelson.Mission("live").task(task))

    def children(self) -> set[int]:
        """Processes of handlers."""
        listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(self.worker.pid)], capture_output=True, text=True)
        return {int(line.split()[0]) for line in listed.stdout.splitlines() if "spawn_main" in line}

    def test_processes(self) -> None:
        """A process is used again, a failure passes its boundary, a cancelled process ends."""
        outputs = [step.output for step in self.create_and_wait("compute", {"n": 2}, {"n": 3}).steps()]
        self.assertEqual([each["square"] for each in outputs], [4, 9])
        self.assertEqual(outputs[0]["pid"], outputs[1]["pid"])
        self.assertNotEqual(outputs[0]["pid"], self.worker.pid)
        step = next(self.create_and_wait("compute", {"n": 13}).steps())
        self.assertEqual((step.error_code, step.error_class), ("UNLUCKY", "permanent"))

        endless = self.create("compute", {"n": -1})
        for event in endless.events():
            if event.event_type == "step_started":
                break
        endless.cancel()
        while outputs[0]["pid"] in self.children():
            self.assertEqual(endless.wait(10).state, "cancelled")
        self.assertEqual(self.create_and_wait("compute", {"n": 4}).state, "completed")

    def create_and_wait(self, tool: str, *inputs: dict[str, Any]) -> keelson.Run:
        """The ended run."""
        return self.create(tool, *inputs).wait(30)

    def test_drains_at_sigterm(self) -> None:
        """A handler at work finishes, and the process ends well."""
        run = self.create("slow", {"milliseconds": 700})
        self.await_line("begun")
        self.worker.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.wait(20), 0)
        self.assertEqual(run.wait(20).state, "completed")


if __name__ == "__main__":
    unittest.main()
