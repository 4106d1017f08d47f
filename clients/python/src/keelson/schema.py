"""JSON Schema from type hints, and values of those types from JSON."""
from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import types
import typing
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, Union

from keelson import _json

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"},
    decimal.Decimal: {"type": "number"}, datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"}, uuid.UUID: {"type": "string", "format": "uuid"},
    type(None): {"type": "null"}, Any: {}, object: {}, inspect.Parameter.empty: {},
}
_WANTED: dict[Any, str] = {
    str: "a string", bool: "true or false", int: "an integer", float: "a number", decimal.Decimal: "a number", type(None): "null",
    datetime.datetime: "a time such as 2026-01-31T12:00:00Z", datetime.date: "a date such as 2026-01-31", uuid.UUID: "a UUID"}
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
        return given if given in arguments else _refuse(where, f"one of {_listed(arguments)}", given)
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
        return hint(str(given)) if number else _refuse(where, _WANTED[hint], given)
    if hint is int and number and given == int(given):
        return int(given)
    return given if isinstance(given, hint) and (hint is bool) == isinstance(given, bool) else _refuse(where, _WANTED[hint], given)


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
                return _json.time(given)
            return hint.fromisoformat(given) if issubclass(hint, datetime.date) else hint(given)
        except (TypeError, ValueError, AttributeError):
            values = [each.value for each in hint] if issubclass(hint, enum.Enum) else []
            return _refuse(where, _WANTED.get(hint, f"one of {_listed(values)}"), given)
    if hasattr(hint, "model_validate"):
        return _validated(hint, given, where)
    made = _members(fields(hint), given, where)
    return made if typing.is_typeddict(hint) else hint(**made)


def _validated(model: Any, given: Any, where: str) -> Any:
    """An instance of a Pydantic model, whose own settings say if it may have other members."""
    try:
        return model.model_validate(given)
    except ValueError as e:
        errors = getattr(e, "errors", None)
        if errors is None:
            raise
        raise ValueError("; ".join(f"{'/'.join([where, *map(str, each['loc'])]) or 'the input'}: {each['msg']}" for each in errors())) from e


def _members(wanted: dict[str, tuple[Any, Any]], given: Any, where: str, *, open_: bool = False,
             ignored: Collection[str] = ()) -> dict[str, Any]:
    """The members of an object as their types. Raises `ValueError` with all faults.

    A member that is not wanted is a fault unless it is `ignored`, or `open_`, which keeps it.
    """
    members = given if isinstance(given, dict) else _refuse(where, "an object", given)
    made, faults = {}, []
    for name, (hint, default) in wanted.items():
        try:
            if name in members:
                made[name] = value(hint, members[name], f"{where}/{name}")
            elif default is _NOT_GIVEN:
                faults.append(f"{where}/{name} is missing")
        except ValueError as e:
            faults.append(str(e))
    for name in members:
        if name not in wanted and open_:
            made[name] = members[name]
        elif name not in wanted and name not in ignored:
            faults.append(f"{where}/{name} is unknown; known: {', '.join(wanted) or 'none'}")
    if faults:
        raise ValueError("; ".join(faults))
    return made


def _listed(values: Collection[Any]) -> str:
    return ", ".join(json.dumps(each, ensure_ascii=False, default=str) for each in values)


def _refuse(where: str, wanted: str, given: Any) -> Any:
    raise ValueError(f"{where or 'the input'} must be {wanted}, not {_json.kind(given)}")


class Signature:
    """Parameters of a handler: how the step's input becomes its arguments.

    `described`: the tool's own schema, if its author wrote one. A handler need not take all members that it has.
    """

    def __init__(self, function: Callable[..., Any], context: type, described: Mapping[str, Any] | None = None) -> None:
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
        self.free = not self.members and self.context is not None
        """Whether the handler takes nothing but the context, which has the whole input"""
        self.ignored = list((described or {}).get("properties", {}))
        made = of(self.members[self.whole][0]) if self.whole else _object(self.members)
        closed = not (self.open or self.free) and "additionalProperties" not in made and not _is_pydantic(self.members, self.whole)
        self.schema = {**made, "additionalProperties": False} if closed else made

    def arguments(self, given: Any, context: Any) -> dict[str, Any]:
        """Arguments for a call. Raises `ValueError` with the place of what does not fit."""
        bound: dict[str, Any] = {} if self.context is None else {self.context: context}
        if self.whole:
            return {**bound, self.whole: value(self.members[self.whole][0], given)}
        if self.free:
            return bound
        return {**bound, **_members(self.members, {} if given is None else given, "", open_=self.open, ignored=self.ignored)}


def _is_pydantic(members: dict[str, tuple[Any, Any]], whole: str | None) -> bool:
    return whole is not None and hasattr(members[whole][0], "model_json_schema")

