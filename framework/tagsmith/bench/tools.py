"""The tools of the requests whose tags are measured."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import combinations, islice
from typing import Any

Tools = list[dict[str, Any]]

_FIELDS = {
    "customer": "name",
    "address": "city",
    "order": "sku",
    "payment": "amount",
    "shipment": "carrier",
    "period": "year",
    "filter": "column",
    "attachment": "size",
    "reminder": "channel",
    "limit": "rows",
    "label": "key",
    "position": "latitude",
}
"""A property, and its one field."""

_GROUPS: dict[str, dict[str, Any]] = {
    "customer": {"name": "string", "email": "string", "vip": "boolean"},
    "address": {"street": "string", "city": "string", "country": ["DE", "FR", "JP", "US"]},
    "order_lines": {"sku": "string", "quantity": "integer", "unit_price": "number"},
    "payment": {"method": ["card", "invoice", "transfer"], "amount": "number", "paid": "boolean"},
    "shipment": {"carrier": ["air", "road", "sea"], "weight": "number", "insured": "boolean"},
    "period": {"first_day": "string", "last_day": "string", "time_zone": "string"},
    "filters": {"column": "string", "operator": ["is", "above", "below"], "value": "string"},
    "attachments": {"file_name": "string", "media_type": "string", "size": "integer"},
    "reminder": {"channel": ["mail", "chat"], "recipient": "string", "days_before": "integer"},
    "limits": {"rows": "integer", "seconds": "number", "partial": "boolean"},
    "labels": {"key": "string", "value": "string", "pinned": "boolean"},
    "position": {"latitude": "number", "longitude": "number", "label": "string"},
}
"""Properties that belong together, by what they are: a type, or the values to choose from."""


class ToolSet(StrEnum):
    """How much the tools of a request have in common."""

    ALIKE = "alike"
    """All but the name: the same twelve properties, each an object of one field."""
    DIFFERENT = "different"
    """Each has its own choice of four objects, or lists of objects (the plurals), of three
    fields."""


def make_tools(tool_set: ToolSet, count: int, serial: int = 0) -> Tools:
    """Tools of twelve nested properties each.

    Parameters: `count` is at most 55. With another `serial`, every schema is another.

    >>> [tool["function"]["name"] for tool in make_tools(ToolSet.ALIKE, 2)]
    ['tool_0', 'tool_1']
    >>> [tool["function"]["name"] for tool in make_tools(ToolSet.DIFFERENT, 2)]
    ['update_customer_0', 'update_customer_1']
    """
    make = _alike if tool_set is ToolSet.ALIKE else _different
    return [
        _tool(name, {"description": f"What to change, in revision {serial}.", **parameters})
        for name, parameters in make(count)
    ]


def _tool(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": "Change a record.", "parameters": parameters}
    return {"type": "function", "function": function}


def _alike(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(count):
        properties = {name: _object(name, {field: "string"}) for name, field in _FIELDS.items()}
        yield f"tool_{number}", _parameters(properties, list(properties))


def _different(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    # 495 choices: every ninth, so that tools have little in common with their neighbours.
    for number, names in enumerate(islice(combinations(_GROUPS, 4), 0, 9 * count, 9)):
        properties = {name: _group(name) for name in names}
        yield f"update_{names[0]}_{number}", _parameters(properties, list(names[:2]))


def _parameters(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _group(name: str) -> dict[str, Any]:
    group = _object(name, _GROUPS[name])
    if not name.endswith("s"):
        return group
    return {"type": "array", "description": f"All {name.replace('_', ' ')}.", "items": group}


def _object(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    properties = {
        field: {
            **({"type": kind} if isinstance(kind, str) else {"type": "string", "enum": kind}),
            "description": f"The {field.replace('_', ' ')}, as the record has it.",
        }
        for field, kind in fields.items()
    }
    parameters = _parameters(properties, list(fields)[:2])
    return {**parameters, "description": f"The {name.replace('_', ' ')} of the record."}
