"""The reference pages name everything there is: every key and value of the format, every code."""

from __future__ import annotations

from enum import EnumMeta
from pathlib import Path

import pytest
from pydantic import BaseModel

from tagsmith.events import DiagnosticCode
from tagsmith.spec import policies
from tagsmith.spec.models import FamilySpec

DOCS = Path(__file__).parent.parent / "docs"
FORMAT = (DOCS / "family-format.md").read_text()


def keys_of(model: type[BaseModel]) -> set[str]:
    keys = set(model.model_fields)
    for field in model.model_fields.values():
        for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(part, type) and issubclass(part, BaseModel):
                keys |= keys_of(part)
    return keys


@pytest.mark.parametrize("key", sorted(keys_of(FamilySpec)))
def test_every_key_is_in_the_reference(key: str) -> None:
    assert any(f"{before}{key}{after}" in FORMAT for before in "`.{ " for after in "`.,}")


@pytest.mark.parametrize(
    "enum",
    [
        value
        for value in vars(policies).values()
        if isinstance(value, EnumMeta) and value.__members__
    ],
    ids=lambda enum: enum.__name__,
)
def test_every_named_value_is_in_the_reference(enum: EnumMeta) -> None:
    for member in enum.__members__.values():
        assert f"`{member}`" in FORMAT


@pytest.mark.parametrize("code", DiagnosticCode, ids=str)
def test_every_diagnostic_is_in_its_table(code: DiagnosticCode) -> None:
    assert f"\n| `{code}` |" in (DOCS / "diagnostics.md").read_text()
