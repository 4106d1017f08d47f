"""Kills workers under load: python3 tests/kills.py KILLS. KEELSON_URL and KEELSON_API_KEY name the server.

Two worker processes execute steps while one after the other is killed and started again. At the end every run has completed, every step
has one result, that of its input, and all effects have the keys of the steps.
"""
from __future__ import annotations

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src")]

import keelson  # noqa: E402
from keelson import expr  # noqa: E402

STEPS = 5
OPEN_RUNS = 12


def serve(tool: str, file: str) -> None:
    """The worker: notes the effect, works for a while, and squares."""
    worker = keelson.Worker(lease=3, poll=0.5)

    @worker.tool(tool)
    def square(n: int, ctx: keelson.Context) -> int:
        with open(file, "a", encoding="ascii") as effects:
            effects.write(f"{ctx.effect_key}\n")
        time.sleep(0.02)
        return n * n

    print("serving", flush=True)
    worker.run()


def main(kills: int) -> None:
    """Kills, and compares."""
    tool = f"kills.{uuid.uuid4().hex[:8]}"
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "effects")

        def start() -> subprocess.Popen[str]:
            return subprocess.Popen([sys.executable, __file__, "--serve", tool, file], stdout=subprocess.PIPE, text=True)

        client = keelson.connect()
        client.request("POST", "/dispatch/register", {"worker_id": "kills", "tool_specs": [{"name": tool}]})
        task = keelson.Task("t")
        for i in range(STEPS):
            task.step(f"s{i}", tool, {"n": expr(f".inputs.n + {i}")})
        mission = keelson.Mission(tool).declare("n", int).task(task)
        workers = [start(), start()]
        runs: list[tuple[int, keelson.Run]] = []
        waiting = 0

        def fill() -> int:
            while waiting + OPEN_RUNS > len(runs):
                runs.append((len(runs), client.runs.create(mission, inputs={"n": len(runs)})))
            done = waiting
            while done < len(runs) and runs[done][1].refresh().ended:
                done += 1
            return done

        try:
            for kill in range(kills):
                victim = kill % 2
                assert workers[victim].stdout.readline() == "serving\n"  # type: ignore[union-attr]
                end = time.monotonic() + chance.uniform(0.3, 1.0)
                while time.monotonic() < end:
                    waiting = fill()
                workers[victim].kill()
                workers[victim].wait()
                workers[victim] = start()
            keys = set()
            for n, run in runs:
                ended = run.wait(60)
                steps = list(ended.steps())
                assert ended.completed, (seed, ended.state, ended.error_code)
                assert [step.output for step in steps] == [(n + i) ** 2 for i in range(STEPS)], (seed, n)
                completed = [event.step_id for event in ended.events() if event.event_type == "step_completed"]
                assert sorted(str(each) for each in completed) == sorted(step.id for step in steps), (seed, n)
                keys |= {step.id for step in steps}
            written = pathlib.Path(file).read_text("ascii").split()
            assert len(set(written)) == len(keys) == len(runs) * STEPS, (seed, len(set(written)), len(keys))
            print(f"{kills} kills, {len(runs)} runs, {len(keys)} steps, {len(written)} executions, seed {seed}")
        finally:
            for each in workers:
                each.kill()


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(*sys.argv[2:])
    else:
        main(int(sys.argv[1]))
