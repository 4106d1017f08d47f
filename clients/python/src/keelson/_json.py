"""Between Python's values and JSON: numbers with a fraction are exact."""
from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import re
import secrets
import types
import uuid
from typing import Any

from keelson._errors import KeelsonError, quoted

# A decimal is written as a text with this mark first, and the text becomes a number then. No input can contain the mark.
_MARK = "decimal:" + secrets.token_hex(16) + ":"
_DEEPEST, _MOST_FAULTS = 200, 20
_REMEDIES: list[tuple[Any, str]] = [
    ((set, frozenset), "make it a list"), ((bytes, bytearray), "make it a text, such as by base64"),
    (types.GeneratorType, "make it a list"), (types.CoroutineType, "await it"), (types.FunctionType, "call it")]
_MARKED = re.compile('"' + _MARK + '(-?[0-9.E+-]+)"')


def loads(text: bytes) -> Any:
    """Reads a document; numbers with a fraction are `Decimal`."""
    return json.loads(text, parse_float=decimal.Decimal)


def dumps(value: Any) -> bytes:
    """Writes any value that JSON has, `Decimal`, times, enumerations, dataclasses and Pydantic models.

    Raises `KeelsonError` with the code `NOT_JSON` for any other.
    """
    try:
        text = json.dumps(value, default=_default, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if _MARK in text:
            text = _MARKED.sub(r"\1", text)
        try:
            return text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
            return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text).encode()
    except (TypeError, ValueError, RecursionError) as e:
        found = faults(value) or [("", f"is not writable as JSON: {e}")]
        problems = [{"code": "NOT_JSON", "pointer": pointer, "message": message} for pointer, message in found]
        more = f"; {len(found) - 1} more" if len(found) > 1 else ""
        raise KeelsonError("NOT_JSON", f"{found[0][0] or 'the value'} {found[0][1]}{more}", document={"problems": problems}) from e


def faults(value: Any, pointer: str = "", within: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    """The places of a value that JSON has no form for, each with what is there; 20 of them at most."""
    if value is None or isinstance(value, (str, bool, int)):
        return []
    if isinstance(value, float):
        return [] if math.isfinite(value) else [(pointer, f"is {value}, which JSON lacks")]
    if id(value) in within or len(within) > _DEEPEST:
        return [(pointer, "contains itself" if id(value) in within else "is nested too deep")]
    inner = (*within, id(value))
    if isinstance(value, (list, tuple)):
        members: list[tuple[Any, Any]] = list(enumerate(value))
    elif isinstance(value, dict):
        members = list(value.items())
    else:
        try:
            return faults(_default(value), pointer, inner)
        except (TypeError, ValueError) as e:
            return [(pointer, str(e))]
    found: list[tuple[str, str]] = []
    for name, each in members:
        if not isinstance(name, (str, int, float, bool, type(None))):
            found.append((pointer, f"has {kind(name)} as the name of a member; names are texts"))
        else:
            found += faults(each, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}", inner)
        if len(found) >= _MOST_FAULTS:
            break
    return found[:_MOST_FAULTS]


def kind(value: Any) -> str:
    """A value in a few words, for messages about it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float, decimal.Decimal)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {quoted(value[:60])}"
    if isinstance(value, (dict, list, tuple)):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, (bytes, bytearray)) or callable(value):
        return "a class" if isinstance(value, type) else "a function" if callable(value) else "bytes"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _default(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"is {value}, which JSON lacks")
        return f"{_MARK}{value}"
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime.datetime):
        return time_text(value)
    if isinstance(value, (datetime.date, uuid.UUID)):
        return str(value)
    for method in ("model_dump", "to_json_value"):  # Pydantic; documents and builders of this package
        convert = getattr(value, method, None)
        if convert is not None and not isinstance(value, type):
            return convert(mode="json") if method == "model_dump" else convert()
    remedy = next((text for types, text in _REMEDIES if isinstance(value, types)), None)
    raise TypeError(f"is {kind(value)}, which JSON lacks" + (f"; {remedy}" if remedy else ""))


def plain(value: Any) -> Any:
    """A document of the user's own: numbers with a fraction are floats, as `json` reads them."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def time(text: str) -> datetime.datetime:
    """A time of the server, with its zone."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", text)
    if match is None:
        raise ValueError(f"not a time: {text}")
    micros = (match[2] or "0").ljust(6, "0")[:6]
    zone = "+00:00" if match[3] in "Zz" else match[3]
    return datetime.datetime.fromisoformat(f"{match[1].upper()}.{micros}{zone}")


def time_text(value: datetime.datetime) -> str:
    """RFC 3339. A time without a zone is refused, for its moment is unknown."""
    if value.tzinfo is None:
        raise ValueError(f"is a time without a zone: {value}")
    return value.isoformat()
