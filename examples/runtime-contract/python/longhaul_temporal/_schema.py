"""Checks answers against flat JSON Schemas: an object of strings, numbers, booleans, choices and lists of choices."""

from __future__ import annotations

import re
from typing import Any, Mapping

_TYPES: dict[str, Any] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: not isinstance(value, bool)
    and (isinstance(value, int) or isinstance(value, float) and value.is_integer()),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def problems_of(schema: Mapping[str, Any], content: Any) -> list[str]:
    """Why the content does not fit; empty if it does."""
    if not isinstance(content, dict):
        return ["content: expected an object"]
    properties = schema.get("properties", {})
    problems = [
        f"content.{name}: missing"
        for name in schema.get("required", [])
        if name not in content
    ]
    for name, value in content.items():
        if name in properties:
            problems += _problems(properties[name], value, f"content.{name}")
        elif schema.get("additionalProperties") is False:
            problems.append(f"content.{name}: unknown field")
    return problems


def with_defaults(schema: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {
        name: each["default"] for name, each in schema.get("properties", {}).items() if "default" in each
    }
    return {**defaults, **content}


def _problems(schema: Mapping[str, Any], value: Any, name: str) -> list[str]:
    kinds = schema.get("type")
    expected = [kinds] if isinstance(kinds, str) else kinds
    if expected and not any(_TYPES[kind](value) for kind in expected):
        return [f"{name}: expected {' or '.join(expected)}; got {value!r}"]
    found = []
    if "const" in schema and not _same(value, schema["const"]):
        found.append(f"expected {schema['const']!r}")
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        found.append(f"expected one of {', '.join(map(str, schema['enum']))}")
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema and all(_problems(one, value, name) for one in schema[keyword]):
            found.append("expected one of the choices")
    if isinstance(value, str):
        found += _length(schema, len(value), "minLength", "maxLength", "characters")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"expected a text that matches {schema['pattern']}")
    elif isinstance(value, list):
        found += _length(schema, len(value), "minItems", "maxItems", "items")
        items = schema.get("items", {})
        return [f"{name}: {each}" for each in found] + [
            problem for at, one in enumerate(value) for problem in _problems(items, one, f"{name}[{at}]")
        ]
    elif _TYPES["number"](value):
        found += _range(schema, value)
    return [f"{name}: {each}" for each in found]


def _same(one: Any, other: Any) -> bool:
    """JSON's equality: True is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _length(schema: Mapping[str, Any], length: int, least: str, most: str, unit: str) -> list[str]:
    found = []
    if length < schema.get(least, 0):
        found.append(f"expected at least {schema[least]} {unit}")
    if most in schema and length > schema[most]:
        found.append(f"expected at most {schema[most]} {unit}")
    return found


def _range(schema: Mapping[str, Any], value: float) -> list[str]:
    bounds = {
        "minimum": lambda bound: value >= bound,
        "maximum": lambda bound: value <= bound,
        "exclusiveMinimum": lambda bound: value > bound,
        "exclusiveMaximum": lambda bound: value < bound,
    }
    return [
        f"expected {name} {schema[name]}" for name, fits in bounds.items() if name in schema and not fits(schema[name])
    ]
