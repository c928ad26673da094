"""A family compiled for the native engine: everything that its parsers share."""

from __future__ import annotations

from dataclasses import dataclass

from tagsmith.engine.citations import MAX_POSITIONS, CloseReader, build_close_reader
from tagsmith.engine.layouts import ENCODINGS, CallProgram, Encodings, compile_calls
from tagsmith.engine.tables import Role, Tables, build_tables
from tagsmith.spec.models import FamilySpec


@dataclass(frozen=True, slots=True)
class NativeProgram:
    """A family compiled for the native engine; immutable, shared by all its parsers."""

    spec: FamilySpec
    tables: Tables
    close: CloseReader
    lead_in: str
    """What the prompt ends with, where a literal goes on from it into the output."""
    stray_close: CloseReader
    """For a closing tag where no span is open: most likely text, so it is held no longer."""
    calls: CallProgram


def compile_native(spec: FamilySpec, encodings: Encodings = ENCODINGS) -> NativeProgram:
    """Compile a family for the native engine, with the argument encodings that it may name."""
    tables = build_tables(spec)
    closes = [len(t) for t, m in tables.meanings.items() if m.role is Role.CITATION_CLOSE]
    slack = max(tables.text.longest - 1 - max(closes, default=0), 0)
    suffix = tables.close_suffix
    return NativeProgram(
        spec=spec,
        tables=tables,
        close=build_close_reader(suffix, slack=slack, longest=MAX_POSITIONS),
        stray_close=build_close_reader(suffix, slack=slack, longest=slack),
        lead_in=_lead_in(spec, tables),
        calls=compile_calls(spec, tables.calls, encodings),
    )


def _lead_in(spec: FamilySpec, tables: Tables) -> str:
    for start in spec.tokens.turn_start:
        if any(len(start) < len(text) and text.startswith(start) for text in tables.meanings):
            return start
    return ""
