"""Where the server is, and the key for it."""
from __future__ import annotations

import os
import pathlib
import socket
import urllib.parse
from collections.abc import Mapping

from keelson._errors import CHECK_URL, KeelsonError, quoted


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


def checked(url: str) -> str:
    """The address without a slash at its end. Raises `ValueError` with the address and its fault."""
    address = url.strip().rstrip("/")
    scheme, separator, rest = address.partition("://")
    fault = None
    if not separator:
        fault = f"it has no scheme; write http://{address}"
    elif scheme.lower() not in ("http", "https"):
        fault = f"it begins with {scheme}://, not with http:// or https://"
    elif rest.endswith("/api/v1"):
        fault = f"it ends with a path that the client adds; write {address[:-len('/api/v1')]}"
    else:
        try:
            parts = urllib.parse.urlsplit(address)
            if not parts.hostname or parts.port == 0:
                fault = "it names no host"
            elif parts.query or parts.fragment:
                fault = "it has a query or a fragment"
        except ValueError as e:
            fault = f"it is not readable: {e}"
    if fault:
        raise ValueError(f"{quoted(url)} is not the address of a server: {fault}; {CHECK_URL}")
    return address


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
