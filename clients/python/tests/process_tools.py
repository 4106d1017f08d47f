"""A worker with a handler in processes, for test_live.py."""
from __future__ import annotations

import os
import sys
import time

import keelson

PREFIX = sys.argv[1] if len(sys.argv) > 1 else "none"
worker = keelson.Worker(lease=3, poll=0.5, grace=15)


@worker.tool(f"{PREFIX}.compute", processes=True)
def compute(n: int, ctx: keelson.Context) -> dict[str, int]:
    """Computes without giving way, for ever if n is negative."""
    ctx.log(f"computing {n}")
    while n < 0:
        sum(range(1000))
    if n == 13:
        raise keelson.StepFailure("UNLUCKY", "permanent", "thirteen")
    return {"pid": os.getpid(), "square": n * n}


@worker.tool(f"{PREFIX}.slow")
def slow(milliseconds: int) -> str:
    """Waits."""
    print("begun", file=sys.stderr, flush=True)
    time.sleep(milliseconds / 1000)
    return "done"


if __name__ == "__main__":
    worker.run()
