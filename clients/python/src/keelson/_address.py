"""Where the server is, and the key for it."""
from __future__ import annotations

import os
import pathlib
import socket
import urllib.parse
from collections.abc import Mapping

from keelson._errors import KeelsonError


def find(environment: Mapping[str, str] = os.environ, home: str | None = None) -> tuple[str, str | None]:
    """Address and key from the environment, else from the files of the data folder.

    The folder's key is for the server on this machine, and is never sent to another one.
    """
    named = environment.get("KEELSON_DATA_DIR")
    folder = pathlib.Path(named) if named else pathlib.Path(home or os.path.expanduser("~")) / ".keelson"
    url = environment.get("KEELSON_URL") or _read(folder / "url")
    if not url:
        raise KeelsonError("NO_SERVER_KNOWN", f"no server known: set KEELSON_URL, or start one, which writes {folder / 'url'}")
    return url, environment.get("KEELSON_API_KEY") or (_read(folder / "api-key") if is_local(url) else None)


def is_local(url: str) -> bool:
    """True for an address of this machine's loopback."""
    try:
        host = urllib.parse.urlsplit(url).hostname or ""
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)} if host else set()
    except (OSError, ValueError):
        return False
    return bool(addresses) and all(str(each).startswith("127.") or each == "::1" for each in addresses)


def _read(file: pathlib.Path) -> str | None:
    try:
        return file.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise KeelsonError("NO_SERVER_KNOWN", f"cannot read {file}: {e}") from e
