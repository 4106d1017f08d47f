"""Reads the events of a run over restarts of its server: python3 tests/stream.py STEPS. KEELSON_URL and KEELSON_API_KEY name the server.

Prints `restart` three times and waits for a line of input each time. The blocking and the asynchronous client read the same run.
"""
from __future__ import annotations

import asyncio
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "src")]

import keelson  # noqa: E402

RESTARTS = 3
WIDTH = 100


def main(steps: int) -> None:
    """Creates a run of so many steps, and reads its events twice at once."""
    client = keelson.connect()
    mission = keelson.Mission("stream")
    for i in range(steps // WIDTH):
        task = keelson.Task(f"t{i}", chain=False)
        for j in range(WIDTH):
            task.step(f"s{j}", "noop")
        mission.task(task)
    run = client.runs.create(mission)

    async def read() -> list[int]:
        async with keelson.AsyncKeelson() as other:
            same = await other.runs.get(run.id)
            return [event.seq async for event in same.events()]

    async def both() -> tuple[list[int], list[int]]:
        return await asyncio.gather(asyncio.to_thread(blocking), read())

    def blocking() -> list[int]:
        seen = []
        for event in run.events():
            seen.append(event.seq)
            if len(seen) % (steps // 2) == 0 and len(seen) // (steps // 2) <= RESTARTS:
                print("restart", flush=True)
                sys.stdin.readline()
        return seen

    first, second = asyncio.run(both())
    assert first == second == list(range(1, len(first) + 1)), (len(first), len(second))
    assert run.wait(60).completed
    print(f"{len(first)} events", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
