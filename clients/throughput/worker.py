"""A worker of the Python client for measure.py: python3 worker.py TOOL SLOTS sync|async."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "python/src")]

import keelson  # noqa: E402

tool, slots, kind = sys.argv[1:]
worker = keelson.Worker(slots=int(slots))

if kind == "async":
    @worker.tool(tool)
    async def step(n: int) -> int:
        """A step that only answers."""
        return n
else:
    @worker.tool(tool)
    def step_in_a_thread(n: int) -> int:
        """A step that only answers, in a thread."""
        return n

with worker:
    print("serving", flush=True)
    sys.stdin.readline()
