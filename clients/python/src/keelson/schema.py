"""JSON Schema from type hints, and values of those types from JSON."""
from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any, Literal, Union

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"},
    decimal.Decimal: {"type": "number"}, datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"}, uuid.UUID: {"type": "string", "format": "uuid"},
    type(None): {"type": "null"}, Any: {}, object: {}, inspect.Parameter.empty: {},
}
_NOT_GIVEN = inspect.Parameter.empty


def of(hint: Any) -> dict[str, Any]:
    """The schema of a type. Raises `TypeError` for a type that JSON lacks."""
    try:
        if hint in _SCALARS:
            return dict(_SCALARS[hint])
    except TypeError:
        pass  # a hint that has no hash
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [of(each) for each in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is typing.Annotated:
        text = next((each for each in arguments[1:] if isinstance(each, str)), None)
        return {**of(arguments[0]), **({} if text is None else {"description": text})}
    if hint in (list, tuple, set) or origin in (list, tuple, set, frozenset) or _is_sequence(origin):
        return {"type": "array", **({"items": of(arguments[0])} if arguments else {})}
    if hint is dict or origin is dict or _is_mapping(origin):
        return {"type": "object", **({"additionalProperties": of(arguments[1])} if arguments else {})}
    if isinstance(hint, type):
        if issubclass(hint, enum.Enum):
            return {"enum": [each.value for each in hint]}
        if hasattr(hint, "model_json_schema"):
            return typing.cast("dict[str, Any]", hint.model_json_schema())
        if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
            members = fields(hint)
            return _object({name: (kind, default) for name, (kind, default) in members.items()})
    raise TypeError(f"no JSON Schema for {hint!r}")


def fields(model: Any) -> dict[str, tuple[Any, Any]]:
    """Names of a dataclass or TypedDict with their hints and defaults."""
    hints = typing.get_type_hints(model, include_extras=True)
    if typing.is_typeddict(model):
        return {name: (hint, _NOT_GIVEN if name in model.__required_keys__ else None) for name, hint in hints.items()}
    found = {}
    for field in dataclasses.fields(model):
        default = _NOT_GIVEN
        if field.default is not dataclasses.MISSING:
            default = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        found[field.name] = (hints[field.name], default)
    return found


def is_model(hint: Any) -> bool:
    """Whether the type is a class whose fields are the members of an object."""
    return isinstance(hint, type) and (dataclasses.is_dataclass(hint) or typing.is_typeddict(hint)
                                       or hasattr(hint, "model_json_schema"))


def _object(members: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, (hint, default) in members.items():
        properties[name] = of(hint)
        if isinstance(default, (str, int, float, bool, list, dict)) and not isinstance(default, enum.Enum):
            properties[name]["default"] = default
    required = [name for name, (_, default) in members.items() if default is _NOT_GIVEN]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _is_sequence(origin: Any) -> bool:
    return getattr(origin, "__name__", "") in ("Sequence", "Iterable", "Collection")


def _is_mapping(origin: Any) -> bool:
    return getattr(origin, "__name__", "") in ("Mapping", "MutableMapping")


def value(hint: Any, given: Any, where: str = "") -> Any:
    """A JSON value as a type. Raises `ValueError` with the place of what does not fit."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (Any, object, _NOT_GIVEN):
        return given
    if origin is typing.Annotated:
        return value(arguments[0], given, where)
    if origin in (Union, types.UnionType):
        return _one_of(arguments, given, where)
    if origin is Literal:
        return given if given in arguments else _refuse(where, f"one of {list(arguments)}", given)
    if hint in (decimal.Decimal, float, int, bool, str, type(None)):
        return _scalar(hint, given, where)
    if isinstance(hint, type) and hint in (list, tuple, set, dict):
        return _built_in(hint, given, where)
    if origin in (list, tuple, set, frozenset) or _is_sequence(origin):
        items = given if isinstance(given, list) else _refuse(where, "an array", given)
        made = [value(arguments[0], each, f"{where}/{i}") for i, each in enumerate(items)]
        return made if not isinstance(origin, type) or origin is list or _is_sequence(origin) else origin(made)
    if origin is dict or _is_mapping(origin):
        members = given if isinstance(given, dict) else _refuse(where, "an object", given)
        return {name: value(arguments[1], each, f"{where}/{name}") for name, each in members.items()}
    return _instance(hint, given, where)


def _built_in(hint: Any, given: Any, where: str) -> Any:
    if not isinstance(given, dict if hint is dict else list):
        return _refuse(where, "an object" if hint is dict else "an array", given)
    return hint(given)


def _scalar(hint: Any, given: Any, where: str) -> Any:
    number = isinstance(given, (int, float, decimal.Decimal)) and not isinstance(given, bool)
    if hint in (decimal.Decimal, float):
        return hint(str(given)) if number else _refuse(where, "a number", given)
    if hint is int and number and given == int(given):
        return int(given)
    return given if isinstance(given, hint) and (hint is bool) == isinstance(given, bool) else _refuse(
        where, str(of(hint)["type"]), given)


def _one_of(arguments: tuple[Any, ...], given: Any, where: str) -> Any:
    faults = []
    for each in arguments:
        try:
            return value(each, given, where)
        except ValueError as e:
            faults.append(str(e))
    raise ValueError("; ".join(dict.fromkeys(faults)))


def _instance(hint: Any, given: Any, where: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, (datetime.date, uuid.UUID, enum.Enum)):
        try:
            if issubclass(hint, datetime.datetime):
                from keelson import _json
                return _json.time(given)
            return hint.fromisoformat(given) if issubclass(hint, datetime.date) else hint(given)
        except (TypeError, ValueError, AttributeError):
            return _refuse(where, hint.__name__, given)
    if hasattr(hint, "model_validate"):
        return hint.model_validate(given)
    members = given if isinstance(given, dict) else _refuse(where, "an object", given)
    wanted = fields(hint)
    made = {}
    for name, (kind, default) in wanted.items():
        if name in members:
            made[name] = value(kind, members[name], f"{where}/{name}")
        elif default is _NOT_GIVEN:
            raise ValueError(f"{where}/{name} is missing")
    return made if typing.is_typeddict(hint) else hint(**made)


def _refuse(where: str, wanted: str, given: Any) -> Any:
    raise ValueError(f"{where or '/'} is not {wanted}: {str(given)[:100]!r}")


class Signature:
    """Parameters of a handler: how the step's input becomes its arguments."""

    def __init__(self, function: Callable[..., Any], context: type) -> None:
        hints = typing.get_type_hints(function, include_extras=True)
        self.context: str | None = None
        self.members: dict[str, tuple[Any, Any]] = {}
        self.open = False
        for name, parameter in inspect.signature(function).parameters.items():
            hint = hints.get(name, _NOT_GIVEN)
            if hint is context or (name == "ctx" and hint is _NOT_GIVEN):
                self.context = name
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                self.open = True
            elif parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
                raise TypeError(f"{function.__name__}: the members of the input are passed by name, not to {parameter}")
            else:
                self.members[name] = (hint, parameter.default)
        models = [name for name, (hint, _) in self.members.items() if is_model(hint)]
        self.whole = models[0] if len(models) == 1 == len(self.members) else None
        self.schema = of(self.members[self.whole][0]) if self.whole else _object(self.members)

    def arguments(self, given: Any, context: Any) -> dict[str, Any]:
        """Arguments for a call. Raises `ValueError` with the place of what does not fit."""
        bound: dict[str, Any] = {} if self.context is None else {self.context: context}
        if self.whole:
            return {**bound, self.whole: value(self.members[self.whole][0], given)}
        members = {} if given is None else given
        if not isinstance(members, dict):
            raise ValueError(f"the input is not an object: {str(given)[:100]!r}")
        for name, (hint, default) in self.members.items():
            if name in members:
                bound[name] = value(hint, members[name], f"/{name}")
            elif default is _NOT_GIVEN:
                raise ValueError(f"/{name} is missing")
        if self.open:
            bound.update({name: each for name, each in members.items() if name not in self.members})
        return bound
