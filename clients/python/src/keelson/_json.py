"""Between Python's values and JSON: numbers with a fraction are exact."""
from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import re
import secrets
import uuid
from typing import Any

from keelson._errors import KeelsonError

# A decimal is written as a text with this mark first, and the text becomes a number then. No input can contain the mark.
_MARK = "decimal:" + secrets.token_hex(16) + ":"
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
        raise KeelsonError("NOT_JSON", f"not writable as JSON: {e}") from e


def _default(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"JSON has no {value}")
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
    raise TypeError(f"{type(value).__name__} is not JSON")


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
        raise ValueError(f"a time needs a zone: {value}")
    return value.isoformat()
