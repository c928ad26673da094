"""Writes tool calls as a family does, from nothing but its file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tagsmith.errors import TagsmithError
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout, Container, ValueForm

Values = Mapping[str, Any]


class WritingError(TagsmithError):
    """What cannot be written as this family writes it."""


def write_call(spec: FamilySpec, name: str, arguments: Values, index: int = 0) -> str:
    """One tool call, in a region of its own where the family has one.

    Args:
        spec: The family.
        name: The tool's name.
        arguments: The arguments, by parameter; any JSON.
        index: The call's order in the output, which its id says where the family writes ids.

    Raises:
        WritingError: the family writes no calls, or in an encoding that a plug-in brings.

    >>> import tagsmith
    >>> print(write_call(tagsmith.get_family("qwen3-coder").spec, "now", {"zone": "UTC"}))
    <tool_call>
    <function=now>
    <parameter=zone>
    UTC
    </parameter>
    </function>
    </tool_call>
    """
    calls, region = spec.tool_calls, spec.tag_style.tool_calls
    if calls is None:
        raise WritingError(f"{spec.id}: the family writes no tool calls")
    call = _LAYOUTS[calls.layout](calls, name, arguments, index)
    if region is None:
        return call
    return f"{region.start}{call}{region.end or ''}"


def _json_call(calls: ToolCalls, name: str, arguments: Values, index: int) -> str:
    keys = calls.keys
    call: dict[str, Any] = {} if keys.id is None else {keys.id: str(index)}
    call |= {keys.name[0]: name, keys.arguments[0]: arguments}
    return _json([call] if calls.container is Container.ARRAY else call)


def _template_call(calls: ToolCalls, name: str, arguments: Values, index: int) -> str:
    encode = _ENCODINGS.get(calls.arguments.encoding)
    if encode is None:
        raise WritingError(f"no writer for the argument encoding {calls.arguments.encoding!r}")
    form = (calls.call or ("",))[0]
    call_id = _filled(calls.id.format or "{index}", name=name, index=str(index))
    return _filled(form, id=call_id, name=name, ignored="", arguments=encode(calls, arguments))


def _pythonic_call(calls: ToolCalls, name: str, arguments: Values, index: int) -> str:
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"[{name}({given})]"


def _json_arguments(calls: ToolCalls, arguments: Values) -> str:
    return _json(arguments)


def _tagged(calls: ToolCalls, arguments: Values) -> str:
    form = (calls.arguments.parameter or ("",))[0]
    return "".join(
        _filled(form, key=key, type=_wire_type(calls, value), value=_tagged_value(calls, value))
        for key, value in arguments.items()
    )


def _wire_type(calls: ToolCalls, value: Any) -> str:
    types = calls.arguments.types
    if types is None:
        return ""
    return types.string[0] if isinstance(value, str) else types.other[0]


def _tagged_value(calls: ToolCalls, value: Any) -> str:
    is_raw = calls.arguments.types is not None or calls.arguments.values.string is ValueForm.RAW
    return value if isinstance(value, str) and is_raw else _json(value)


def _bare_keys(calls: ToolCalls, value: Any) -> str:
    quote = calls.arguments.quote or '"'
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{_bare_keys(calls, v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_bare_keys(calls, item) for item in value) + "]"
    return _json(value)


def _filled(form: str, **holes: str) -> str:
    """The form with its holes filled; what fills one is not looked at for others."""
    parts = form.split("{")
    filled = [parts[0]]
    for part in parts[1:]:
        hole, brace, rest = part.partition("}")
        filled.append(holes[hole] + rest if brace and hole in holes else "{" + part)
    return "".join(filled)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_ENCODINGS: dict[str, Callable[[ToolCalls, Values], str]] = {
    "json": _json_arguments,
    "tagged": _tagged,
    "bare-keys": _bare_keys,
}
_LAYOUTS: dict[CallLayout, Callable[[ToolCalls, str, Values, int], str]] = {
    CallLayout.JSON: _json_call,
    CallLayout.TEMPLATE: _template_call,
    CallLayout.PYTHONIC: _pythonic_call,
}
