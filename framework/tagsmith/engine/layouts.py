"""The call layouts: what a family's tool calls compile to, and the reader of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tagsmith.engine.arguments import Encoding
from tagsmith.engine.bare_keys_arguments import bare_keys_encoding
from tagsmith.engine.base import Context
from tagsmith.engine.calls import CallSink
from tagsmith.engine.json_arguments import json_encoding
from tagsmith.engine.json_calls import JsonCalls
from tagsmith.engine.json_layout import JsonProgram, compile_json_calls
from tagsmith.engine.pythonic_calls import PythonicCalls
from tagsmith.engine.reader import CallReader
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.tagged_arguments import tagged_encoding
from tagsmith.engine.template_calls import TemplateCalls
from tagsmith.engine.template_layout import TemplateLayout, compile_template_layout
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout, Unmarked

Encodings = Mapping[str, Encoding]

ENCODINGS: dict[str, Encoding] = {
    "json": json_encoding,
    "tagged": tagged_encoding,
    "bare-keys": bare_keys_encoding,
}
"""The argument encodings that every family may name."""


class Layout(Protocol):
    """A call layout, compiled for one family."""

    def reader(self, sink: CallSink, context: Context) -> CallReader:
        """A reader for one generation."""
        ...


@dataclass(frozen=True, slots=True)
class CallProgram:
    """A family's tool calls, compiled.

    `unmarked` holds the characters with which calls may begin where no marker did.
    """

    spec: ToolCalls
    layout: Layout
    unmarked: str


@dataclass(frozen=True, slots=True)
class _Json:
    program: JsonProgram

    def reader(self, sink: CallSink, context: Context) -> CallReader:
        return JsonCalls(self.program, sink, calls_allowed=context.calls_allowed)


@dataclass(frozen=True, slots=True)
class _Pythonic:
    calls: ToolCalls
    markers: Scanner

    def reader(self, sink: CallSink, context: Context) -> CallReader:
        repeated = self.calls.on_repeated_parameter
        allowed = context.calls_allowed
        return PythonicCalls(sink, self.markers, calls_allowed=allowed, repeated=repeated)


@dataclass(frozen=True, slots=True)
class _Template:
    layout: TemplateLayout

    def reader(self, sink: CallSink, context: Context) -> CallReader:
        return TemplateCalls(self.layout, sink, context)


def compile_calls(spec: FamilySpec, markers: Scanner, encodings: Encodings) -> CallProgram:
    """Compile a family's tool calls; `markers` finds what ends a region of them."""
    calls = spec.tool_calls or ToolCalls(layout=CallLayout.JSON)
    at_start = calls.unmarked is Unmarked.AT_START
    unmarked = _FIRST_CHARACTERS.get(calls.layout, "") if at_start else ""
    layout = _LAYOUTS[calls.layout](spec, calls, markers, encodings)
    return CallProgram(calls, layout, unmarked)


def _json(spec: FamilySpec, calls: ToolCalls, markers: Scanner, encodings: Encodings) -> Layout:
    regions = spec.tag_style.tool_calls
    pairs = () if regions is None else regions.pairs
    return _Json(compile_json_calls(calls.keys, pairs, markers))


def _pythonic(spec: FamilySpec, calls: ToolCalls, markers: Scanner, encodings: Encodings) -> Layout:
    return _Pythonic(calls, markers)


def _template(spec: FamilySpec, calls: ToolCalls, markers: Scanner, encodings: Encodings) -> Layout:
    return _Template(compile_template_layout(spec, markers, encodings))


_LAYOUTS: dict[CallLayout, Callable[[FamilySpec, ToolCalls, Scanner, Encodings], Layout]] = {
    CallLayout.JSON: _json,
    CallLayout.PYTHONIC: _pythonic,
    CallLayout.TEMPLATE: _template,
}
_FIRST_CHARACTERS = {CallLayout.JSON: "{[", CallLayout.PYTHONIC: "["}
