"""Writes the tables of docs/family-format.md anew, from the models: every key with its type, its
default, what it means, and an example.

    python examples/reference.py

A table stands between `<!-- keys: tokens tag_style -->`, which names the parts of the format that
are in it, and `<!-- end -->`. Examples are of the built-in families; where none of them has a key,
of the families in the page itself, or of the models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel

from tagsmith.spec.models import FamilySpec
from tagsmith.testing.yaml_values import write_value

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "family-format.md"
TABLE = re.compile(r"(<!-- keys: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
FAMILY = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEAD = "| key | type | default | meaning | example |\n|---|---|---|---|---|\n"
LONGEST_EXAMPLE = 60
"""In characters; where every example of a key is longer, the shortest is shown."""
LONGEST_MARKER = 128
MEANS_SOMETHING = "|`*_[]<>&\\"
"""The signs that mean something in Markdown or HTML."""


@dataclass(frozen=True)
class Key:
    """One key of the format."""

    path: str
    type: str
    default: Any
    """As in the model; `...` where the key has to be given."""
    meaning: str
    choices: tuple[str, ...]
    """The named values that it takes, where it takes such."""
    examples: tuple[Any, ...]
    """Those of the model."""


@cache
def all_keys() -> tuple[Key, ...]:
    """Every key of the family file, in the order of the models."""
    return tuple(_keys_of(FamilySpec, ""))


def _keys_of(model: type[BaseModel], before: str) -> Iterator[Key]:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    for name, field in model.model_fields.items():
        part = _followed(schema["properties"][name], definitions)
        yield Key(
            path=before + name,
            type=worded(part, definitions),
            default=... if field.is_required() else field.get_default(call_default_factory=True),
            meaning=" ".join((field.description or "").split()),
            choices=tuple(part.get("enum", ())),
            examples=tuple(part.get("examples", ())),
        )
        inner = _inner_model(field.annotation)
        if inner is not None:
            yield from _keys_of(inner, f"{before}{name}.")


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    """The mapping that a key holds, or may hold; lists are not looked into."""
    parts = () if get_origin(annotation) is tuple else (annotation, *get_args(annotation))
    return next((p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)), None)


def _followed(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return definitions[name] if name else schema


def worded(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """A JSON Schema in words.

    >>> worded({"type": "array", "items": {"type": "string"}}, {})
    'list of texts'
    """
    schema = _followed(schema, definitions)
    if "anyOf" in schema:
        choices = [choice for choice in schema["anyOf"] if choice.get("type") != "null"]
        return ", or ".join(worded(choice, definitions) for choice in choices)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema["type"] == "array":
        item = _followed(schema["items"], definitions)
        if "properties" in item:
            return f"list of `{{{', '.join(item['properties'])}}}`"
        return f"list of {worded(item, definitions)}s"
    if schema["type"] == "integer":
        return f"whole number from {schema['minimum']}"
    if schema["type"] == "object":
        return "mapping"
    return "marker" if schema.get("maxLength") == LONGEST_MARKER else "text"


def shown_default(key: Key) -> str:
    """The default as the tables show it; a mapping's is those of its keys."""
    if key.default is ...:
        return "has to be given"
    if key.type == "mapping":
        return ""
    if key.default is None or key.default == ():
        return "none"
    value = key.default[0] if isinstance(key.default, tuple) else key.default
    return f"`{value}`"


def table(keys: Iterable[Key]) -> str:
    """The keys as a Markdown table."""
    rows = [
        f"| `{key.path}` | {key.type} | {shown_default(key)} | {key.meaning} | {example(key)} |"
        for key in keys
    ]
    return HEAD + "\n".join(rows) + "\n"


def keys_of_tables(page: str) -> dict[str, list[Key]]:
    """The keys of each table of the page, by what its comment names: each key stands where most of
    its path is named."""
    parts = {part: found[2] for found in TABLE.finditer(page) for part in found[2].split()}
    tables: dict[str, list[Key]] = {names: [] for names in parts.values()}
    for key in all_keys():
        named = [part for part in parts if f"{key.path}.".startswith(f"{part}.")]
        if named:
            tables[parts[max(named, key=len)]].append(key)
    return tables


def example(key: Key) -> str:
    """A value that a family gives the key, as Markdown that a cell of a table can hold."""
    if key.type == "mapping":
        return ""
    families = (*_built_in(), *_in_the_page())
    found = [value for family in families for value in values_at(key.path, family)]
    shown = [_shown(value) for value in (*found, *key.examples, *key.choices)]
    telling = [value for value in shown if f"`{value}`" != shown_default(key)] or shown
    short = [value for value in telling if len(value) <= LONGEST_EXAMPLE]
    value = short[0] if short else min(telling, key=len)
    return code_in_cell(value)


def code_in_cell(text: str) -> str:
    """Code that a cell of a table can hold, whoever reads the page: a pipe would end the cell."""
    if not set("|`") & set(text):
        return f"`{text}`"
    signs = (f"&#{ord(char)};" if char in MEANS_SOMETHING else char for char in text)
    return f"<code>{''.join(signs)}</code>"


def values_at(path: str, value: Any) -> list[Any]:
    """What a family says at a path: nothing, or one value."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return [] if value in (None, []) else [value]


def _shown(value: Any) -> str:
    """A value as YAML; of a long list, its first entry."""
    shown = write_value(value, in_flow=False)
    is_long = isinstance(value, list) and len(shown) > LONGEST_EXAMPLE
    return write_value(value[:1], in_flow=False) if is_long else shown


@cache
def _built_in() -> list[Any]:
    files = sorted((ROOT / "families").rglob("*.yaml"))
    return [yaml.safe_load(file.read_text("utf-8")) for file in files if ".cases." not in file.name]


@cache
def _in_the_page() -> list[Any]:
    return [yaml.safe_load(text) for text in FAMILY.findall(PAGE.read_text("utf-8"))]


def refreshed(page: str) -> str:
    """The page with its tables as the models have them now."""
    tables = keys_of_tables(page)
    return TABLE.sub(lambda found: f"{found[1]}\n{table(tables[found[2]])}\n{found[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text("utf-8")), "utf-8")
