"""Documents of the API: the JSON as it came, with typed attributes."""
from __future__ import annotations

import decimal
import sys
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from keelson import _json

D = TypeVar("D", bound="Document")


class Document:
    """An answer of the server. Attributes have Python's types; `raw` and `document["name"]` have all members.

    A member that the answer lacks is None. Members that this version does not know are kept in `raw`.
    """

    _kinds: ClassVar[dict[str, str]] = {}

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    def __getitem__(self, name: str) -> Any:
        """Any member, including members unknown to this version."""
        return _value(self._kinds.get(name, "free"), self.raw[name], type(self))

    def __contains__(self, name: str) -> bool:
        return name in self.raw

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or all(name not in each.__annotations__ for each in type(self).__mro__[:-2]):
                raise AttributeError(f"{type(self).__name__} has no member {name}")
            value = _value(self._kinds.get(name, "as it is"), self.raw.get(name), type(self))
            self.__dict__[name] = value
            return value

    def to_json_value(self) -> dict[str, Any]:
        """The JSON document."""
        return self.raw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.raw.get("id")))

    def __repr__(self) -> str:
        shown = ("id", "name", "seq", "event_type", "tool", "state", "status", "code", "error_code")
        return f"{type(self).__name__}(" + ", ".join(
            f"{name}={self.raw[name]!r}" for name in shown if isinstance(self.raw.get(name), (str, int))) + ")"


def _value(kind: str, value: Any, owner: type[Document]) -> Any:
    if value is None or kind == "as it is":
        return value
    if kind == "time":
        return _json.time(value)
    if kind == "decimal":
        return value if isinstance(value, decimal.Decimal) else decimal.Decimal(value)
    if kind == "free":
        return _json.plain(value)
    if kind.startswith("["):
        return [_value(kind[1:-1], each, owner) for each in value]
    if kind.startswith("{"):
        return {name: _value(kind[1:-1], each, owner) for name, each in value.items()}
    record = getattr(sys.modules["keelson._types"], kind)
    return record(value) if isinstance(value, dict) else value
