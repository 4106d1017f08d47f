"""Drivers: they execute the commands of `_core` with httpx, blocking and asynchronous."""
from __future__ import annotations

import asyncio
import contextlib
import importlib
import re
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx

from keelson import _address
from keelson._core import Close, Command, Emit, Flow, Open, Pause, Read, Reply, Send, T
from keelson._errors import CHECK_KEY, CHECK_URL, KeelsonError

VERSION = "0.1.0"
_IMPORTS = threading.Lock()
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
_NO_STREAM = "there is no open stream"


class Settings:
    """Address, key and times of a client. The key is in no representation of it."""

    def __init__(self, url: str, api_key: str | None, timeout: float, silence: float) -> None:
        self.url = _address.checked(url)
        self.timeout = timeout
        self.silence = silence
        self.api_key = api_key.strip() if api_key else None
        if self.api_key and not re.fullmatch(r"[\x21-\x7e]+", self.api_key):
            raise ValueError(f"not an API key: it has characters that no key has; {CHECK_KEY}")

    def client_options(self) -> dict[str, Any]:
        """Options of either client of httpx."""
        headers = {"Accept": "application/json, application/problem+json, */*;q=0.1", "User-Agent": f"keelson-python/{VERSION}"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return {"headers": headers, "timeout": self._timeout(self.timeout), "trust_env": not _address.is_local(self.url),
                "limits": httpx.Limits(max_connections=None, max_keepalive_connections=32)}

    def request_options(self, send: Send) -> dict[str, Any]:
        """Arguments of `build_request`."""
        return {"method": send.method, "url": self.url + send.path, "content": send.body, "headers": dict(send.headers),
                "timeout": self._timeout(self.timeout if send.timeout is None else send.timeout)}

    def stream_options(self, path: str) -> dict[str, Any]:
        """Arguments of `build_request` of a stream, which the server keeps alive by comments."""
        return {"method": "GET", "url": self.url + path, "headers": {"Accept": "text/event-stream", "Accept-Encoding": "identity"},
                "timeout": self._timeout(self.silence)}

    def _timeout(self, seconds: float) -> httpx.Timeout:
        return httpx.Timeout(seconds, connect=min(seconds, self.timeout), pool=None)

    def error(self, error: httpx.TransportError | ssl.SSLError, what: str) -> KeelsonError:
        """The client's own error for one of the transport. With asyncio, httpx passes on errors of TLS."""
        tls = _tls_fault(error) if isinstance(error, (httpx.ConnectError, ssl.SSLError)) else None
        if tls is not None:
            return KeelsonError("TLS_FAILED", f"no encrypted connection to {self.url}: {tls}; {CHECK_URL}")
        if "illegal status line" in str(error):
            return KeelsonError("BAD_ANSWER", f"{self.url} does not answer in HTTP; {CHECK_URL}")
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
            return KeelsonError("SERVER_UNREACHABLE", f"no server at {self.url}; start it with 'keelson server', or {CHECK_URL}")
        if isinstance(error, httpx.TimeoutException):
            return KeelsonError("CALL_TIMEOUT", f"{what} was not answered in time by {self.url}")
        return KeelsonError("CONNECTION_LOST", f"connection to {self.url} lost: {error or type(error).__name__}")


def _tls_fault(error: BaseException | None) -> str | None:
    """Why no encrypted connection was made; None if the error is another one, such as a server that ends meanwhile."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    if error is None or isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return None
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted ({error.verify_message})"
    return "it is not a server of HTTPS; its address may begin with http://" if error.reason in _NO_TLS else str(error)


class SyncDriver:
    """Executes flows with blocking I/O. Safe for several threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._http = httpx.Client(**settings.client_options())

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def run(self, flow: Flow[T]) -> T:
        """Executes a flow that emits nothing."""
        items = self.iterate(flow)
        while True:
            try:
                next(items)
            except StopIteration as end:
                result: T = end.value
                return result

    def iterate(self, flow: Flow[T]) -> Iterator[Any]:
        """Executes a flow and yields what it emits."""
        stream = _SyncStream(self._http, self.settings)
        result: Any = None
        error: KeelsonError | None = None
        try:
            while True:
                try:
                    command = flow.throw(error) if error else flow.send(result)
                except StopIteration as end:
                    return end.value
                result = error = None
                try:
                    if isinstance(command, Emit):
                        yield command.item
                    else:
                        result = self._execute(command, stream)
                except KeelsonError as e:
                    error = e
        finally:
            stream.close()

    def _execute(self, command: Command, stream: _SyncStream) -> Any:
        if isinstance(command, Pause):
            time.sleep(command.seconds)
        elif isinstance(command, Open):
            return stream.open(command.path)
        elif isinstance(command, Read):
            return stream.read()
        elif isinstance(command, Close):
            stream.close()
        elif isinstance(command, Send):
            try:
                response = self._http.send(self._http.build_request(**self.settings.request_options(command)))
            except httpx.TransportError as e:
                raise self.settings.error(e, f"{command.method} {command.path}") from e
            except httpx.DecodingError as e:
                raise KeelsonError("BAD_ANSWER", f"{self.settings.url} answered something that is not gzip") from e
            return Reply(response.status_code, response.headers, response.content, self.settings.url)


class _SyncStream:
    def __init__(self, client: httpx.Client, settings: Settings) -> None:
        self._http, self._settings = client, settings
        self._response: httpx.Response | None = None
        self._parts: Iterator[bytes] = iter(())

    def open(self, path: str) -> Reply:
        try:
            response = self._http.send(self._http.build_request(**self._settings.stream_options(path)), stream=True)
            self._response = response
            if response.status_code == 200:
                self._parts = response.iter_bytes()
                return Reply(200, response.headers, b"")
            return Reply(response.status_code, response.headers, response.read(), self._settings.url)
        except httpx.TransportError as e:
            raise self._settings.error(e, path) from e

    def read(self) -> bytes | None:
        try:
            return next(self._parts, None)
        except httpx.TransportError as e:
            raise self._settings.error(e, "the stream") from e

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None


class AsyncDriver:
    """Executes flows with asyncio, in one event loop."""

    def __init__(self, settings: Settings) -> None:
        # anyio imports its backend with the first request, which fails in several event loops at once.
        with _IMPORTS, contextlib.suppress(ImportError):
            importlib.import_module("anyio._backends._asyncio")
        self.settings = settings
        self._http = httpx.AsyncClient(**settings.client_options())

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def run(self, flow: Flow[T]) -> T:
        """Executes a flow that emits nothing."""
        outcome: list[T] = []
        async for _ in self.iterate(flow, outcome):
            pass
        return outcome[0]

    async def iterate(self, flow: Flow[T], outcome: list[T] | None = None) -> AsyncIterator[Any]:
        """Executes a flow and yields what it emits; puts its result into `outcome`."""
        stream = _AsyncStream(self._http, self.settings)
        result: Any = None
        error: KeelsonError | None = None
        try:
            while True:
                try:
                    command = flow.throw(error) if error else flow.send(result)
                except StopIteration as end:
                    if outcome is not None:
                        outcome.append(end.value)
                    return
                result = error = None
                try:
                    if isinstance(command, Emit):
                        yield command.item
                    else:
                        result = await self._execute(command, stream)
                except KeelsonError as e:
                    error = e
        finally:
            await stream.close()

    async def _execute(self, command: Command, stream: _AsyncStream) -> Any:
        if isinstance(command, Pause):
            await asyncio.sleep(command.seconds)
        elif isinstance(command, Open):
            return await stream.open(command.path)
        elif isinstance(command, Read):
            return await stream.read()
        elif isinstance(command, Close):
            await stream.close()
        elif isinstance(command, Send):
            try:
                response = await self._http.send(self._http.build_request(**self.settings.request_options(command)))
            except (httpx.TransportError, ssl.SSLError) as e:
                raise self.settings.error(e, f"{command.method} {command.path}") from e
            except httpx.DecodingError as e:
                raise KeelsonError("BAD_ANSWER", f"{self.settings.url} answered something that is not gzip") from e
            return Reply(response.status_code, response.headers, response.content, self.settings.url)


class _AsyncStream:
    def __init__(self, client: httpx.AsyncClient, settings: Settings) -> None:
        self._http, self._settings = client, settings
        self._response: httpx.Response | None = None
        self._parts: AsyncIterator[bytes] | None = None

    async def open(self, path: str) -> Reply:
        try:
            response = await self._http.send(self._http.build_request(**self._settings.stream_options(path)), stream=True)
            self._response = response
            if response.status_code == 200:
                self._parts = response.aiter_bytes()
                return Reply(200, response.headers, b"")
            return Reply(response.status_code, response.headers, await response.aread(), self._settings.url)
        except (httpx.TransportError, ssl.SSLError) as e:
            raise self._settings.error(e, path) from e

    async def read(self) -> bytes | None:
        if self._parts is None:
            raise RuntimeError(_NO_STREAM)
        try:
            async for part in self._parts:
                return part
            return None
        except (httpx.TransportError, ssl.SSLError) as e:
            raise self._settings.error(e, "the stream") from e

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()
            self._response = None
