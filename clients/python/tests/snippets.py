"""Executes the Python blocks of pages as written: python3 tests/snippets.py PAGE …

A block that begins with `# NAME.py` is a file: those that end in `worker.run()` serve while the others are executed. All other blocks of a
page are one program. KEELSON_URL and KEELSON_API_KEY name the server.
"""
from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LONG = 60


def environment() -> dict[str, str]:
    """The environment of a program, in which this package is installed unless another one is."""
    return {"PYTHONPATH": str(SOURCES), **os.environ, "PYTHONUNBUFFERED": "1"}


def serve(file: pathlib.Path) -> subprocess.Popen[str]:
    """Starts a worker."""
    code = f"import logging, runpy; logging.basicConfig(level='INFO'); runpy.run_path({str(file)!r}, run_name='__main__')"
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    while "serves" not in line:
        if not line:
            raise SystemExit(f"{file.name} has ended with {process.wait()}")
        line = process.stderr.readline()
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process


def execute(page: pathlib.Path) -> None:
    """Executes the blocks of a page."""
    with tempfile.TemporaryDirectory() as folder:
        files, program = [], []
        for block in BLOCK.findall(page.read_text("utf-8")):
            name = re.match(r"# (\w+\.py)\n", block)
            if name is None:
                program.append(block)
                continue
            file = pathlib.Path(folder, name[1])
            file.write_text(block, "utf-8")
            files.append(file)
        if program:
            file = pathlib.Path(folder, "page.py")
            file.write_text("\n".join(program), "utf-8")
            files.append(file)
        workers = [serve(file) for file in files if "worker.run()" in file.read_text("utf-8")]
        try:
            for file in files:
                if "worker.run()" not in file.read_text("utf-8"):
                    print(f"== {page.name} {file.name}", flush=True)
                    subprocess.run([sys.executable, str(file)], env=environment(), check=True, timeout=LONG)
        finally:
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
        for worker in workers:
            if worker.wait(LONG) != 0:
                raise SystemExit(f"a worker of {page.name} has ended with {worker.returncode}")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        execute(pathlib.Path(each))
