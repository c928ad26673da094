"""From a citation's positions to the documents and tool results that the user knows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.request.plain import plain
from tagsmith.request.schemas import MAX_NESTING
from tagsmith.spec.models import KeyMap

Position = tuple[int, int]
Source = dict[str, Any]

_HOLDERS = (Mapping, list, tuple)


@dataclass(frozen=True, slots=True)
class SourceMap:
    """What stands at each (bucket, index) position of one conversation.

    Example: the first document of a request stands at (0, 0).

    >>> sources = build_source_map(KeyMap(), documents=[{"id": "a", "data": {"text": "x"}}])
    >>> sources.resolve([(0, 0), (0, 7)])
    ([{'type': 'document', 'id': 'a', 'document': {'id': 'a', 'text': 'x'}}], [(0, 7)])
    """

    entries: Mapping[Position, Source]
    fallback_ids: Mapping[Position, str] = field(default_factory=dict)
    """What a source that has no id of its own is called in a citation."""

    def resolve(self, positions: Iterable[Position]) -> tuple[list[Source], list[Position]]:
        """The sources at these positions, each once and in order, and the positions without one."""
        found: dict[Position, Source] = {}
        missing: list[Position] = []
        for position in positions:
            source = self.entries.get(position)
            if source is None:
                missing.append(position)
            else:
                found[position] = self._named(position, source)
        return list(found.values()), missing

    def _named(self, position: Position, source: Source) -> Source:
        # A copy: what a caller does to a message must not reach the request or another citation.
        named = deepcopy(source)
        if named.get("id") is None and position in self.fallback_ids:
            named["id"] = self.fallback_ids[position]
        return named


@dataclass(frozen=True, slots=True)
class SourceFinder:
    """Finds where a source stands that an answer's citation shows: the way back from `resolve`.

    Source: the citations of Cohere's API reference, whose sources have a `type`, an `id`, and what
    they hold under `document` or `tool_output`, none of which need be there.

    >>> sources = build_source_map(KeyMap(), documents=["x", {"id": "a", "data": {"text": "y"}}])
    >>> finder = build_source_finder(sources)
    >>> finder.find({"type": "document", "id": "a"}), finder.find({"document": {"text": "x"}})
    ((0, 1), (0, 0))
    """

    places: Mapping[tuple[str | None, str | None, str | None], Position]
    """By type, id and what is held; None for what is not told."""

    def find(self, source: Mapping[str, Any]) -> Position | None:
        """The position of a source; None where none is it, so that nothing points elsewhere.

        It is told by its id: by what it holds as well where several have the same one, and by that
        alone where it has none, or one that no source has.
        """
        kind, identifier, held = source.get("type"), source.get("id"), _held(source)
        if not isinstance(kind, str | None) or not isinstance(identifier, str | None):
            return None
        keys = [(kind, identifier, held), (kind, identifier, None), (kind, None, held)]
        told = (self.places.get(key) for key in keys if key[1:] != (None, None))
        return next((place for place in told if place is not None), None)


def build_source_finder(sources: SourceMap) -> SourceFinder:
    """The way from sources to their positions in a map; of several alike, the first."""
    places: dict[tuple[str | None, str | None, str | None], Position] = {}
    own_ids = {place: entry.get("id") for place, entry in sources.entries.items()}
    all_held = {place: _held(entry) for place, entry in sources.entries.items()}
    for ids in (own_ids, sources.fallback_ids):
        for place, entry in sources.entries.items():
            # A ready-made map need not say of what type a source is.
            kind, held = entry.get("type"), all_held[place]
            for told in (None, kind) if kind else (None, "document", "tool"):
                identifier = ids.get(place)
                if identifier:
                    places.setdefault((told, identifier, held), place)
                    places.setdefault((told, identifier, None), place)
                if held is not None:
                    places.setdefault((told, None, held), place)
    return SourceFinder(places)


def _held(source: Mapping[str, Any]) -> str | None:
    """What a source holds, in one spelling; None where it does not say."""
    held = source.get("document") or source.get("tool_output")
    if (
        isinstance(held, Mapping)
        and held.keys() == {"content"}
        and isinstance(held["content"], str)
    ):
        # Some servers show the text where others show the object.
        held = tool_output(held["content"])
    return json.dumps(held, sort_keys=True, default=repr) if held else None


def build_source_map(
    key_map: KeyMap,
    *,
    documents: Sequence[Any] | None = None,
    messages: Sequence[Any] | None = None,
) -> SourceMap:
    """Number the sources of a request as the family does.

    The documents take their bucket when there are any. Each tool call id takes the next bucket
    where the history first shows it, and every content block of its tool messages one slot.

    Parameters: `documents` and `messages` in the Cohere v2 or the Chat Completions shape.
    Raises `RequestError` when one of them is not a list of objects, or one is nested too deeply.
    """
    entries: dict[Position, Source] = {}
    names: dict[Position, str] = {}
    docs = _sequence("documents", documents)
    for index, document in enumerate(docs):
        if not isinstance(document, str):
            document = _entry(f"documents[{index}]", document)
        identifier, data = _document(document)
        position = (key_map.documents.bucket, index)
        entries[position] = {"type": "document", "id": identifier, "document": data}
        if key_map.documents.fallback_id is not None:
            names[position] = key_map.documents.fallback_id.replace("{index}", str(index))
    next_bucket = key_map.documents.bucket + 1 if docs else 0
    buckets: dict[str, int] = {}
    slots: dict[str, int] = {}
    for number, message in enumerate(_sequence("messages", messages)):
        for call_id, blocks in _tool_ids(_entry(f"messages[{number}]", message)):
            if call_id not in buckets:
                buckets[call_id] = next_bucket
                slots[call_id] = 0
                next_bucket += 1
            for block in blocks:
                entries[buckets[call_id], slots[call_id]] = _tool_source(block)
                slots[call_id] += 1
    return SourceMap(entries, names)


def read_source_map(given: Mapping[Any, Any]) -> SourceMap:
    """Read a ready-made map: keys `(0, 1)` or `"0:1"`, or a mapping or list for each bucket.

    >>> read_source_map({"0:1": {"id": "a"}}).entries
    {(0, 1): {'id': 'a'}}

    Raises `RequestError` for a key or value of another shape.
    """
    if not isinstance(given, Mapping):
        raise RequestError("source_map", f"must be a mapping, not {type(given).__name__}")
    entries: dict[Position, Source] = {}
    for key, value in given.items():
        for position, source in _expand(key, value):
            if not isinstance(source, Mapping):
                raise RequestError("source_map", f"the source at {position} is not a mapping")
            entries[position] = dict(_entry("source_map", source))
    return SourceMap(entries)


def _expand(key: Any, value: Any) -> Iterable[tuple[Position, Any]]:
    try:
        if isinstance(key, tuple):
            bucket, index = key
            return [((int(bucket), int(index)), value)]
        if isinstance(key, str) and ":" in key:
            bucket, _, index = key.partition(":")
            return [((int(bucket), int(index)), value)]
        slots = value.items() if isinstance(value, Mapping) else enumerate(value)
        return [((int(key), int(index)), source) for index, source in slots]
    except (TypeError, ValueError):
        raise RequestError(
            "source_map",
            f'cannot read the key {key!r}; use (bucket, index), "bucket:index",'
            " or a bucket that holds a list or mapping of sources",
        ) from None


def _sequence(field: str, value: Sequence[Any] | None) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise RequestError(field, f"must be a list, not {type(value).__name__}")
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping, a pydantic object as a mapping, or an empty mapping for anything else."""
    value = plain(value)
    return value if isinstance(value, Mapping) else {}


def _entry(field: str, value: Any) -> Mapping[str, Any]:
    value = plain(value)
    if not isinstance(value, Mapping):
        raise RequestError(field, f"must be an object, not {type(value).__name__}")
    require_shallow(field, value)
    return value


def require_shallow(field: str, value: Any) -> None:
    """Raise `RequestError` when a part of a value lies more than 64 levels deep."""
    if not _is_shallow(value):
        raise RequestError(field, f"nested deeper than {MAX_NESTING} levels; give a flatter one")


def _is_shallow(value: Any) -> bool:
    """Whether no part of a value lies more than 64 levels deep; what holds itself does."""
    level = [value]
    for _ in range(MAX_NESTING):
        inside = [item.values() if isinstance(item, Mapping) else item for item in level]
        parts = [part for held in inside for part in held if isinstance(part, _HOLDERS)]
        level = list({id(part): part for part in parts}.values())
        if not level:
            return True
    return False


def tool_output(text: str) -> dict[str, Any]:
    """What a tool's text holds: the JSON object that it is, or itself.

    >>> tool_output('{"degrees": 24}'), tool_output("24")
    ({'degrees': 24}, {'content': '24'})
    """
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) and _is_shallow(value) else {"content": text}


def _tool_source(block: Any) -> Source:
    if isinstance(block, str):
        return {"type": "tool", "id": None, "tool_output": tool_output(block)}
    fields = _mapping(block)
    if fields.get("type") == "document" or "document" in fields:
        identifier, data = _document(fields.get("document"))
        return {"type": "tool", "id": identifier, "tool_output": data}
    if isinstance(fields.get("text"), str):
        return {"type": "tool", "id": None, "tool_output": tool_output(fields["text"])}
    return {"type": "tool", "id": None, "tool_output": dict(fields)}


def _document(document: Any) -> tuple[str | None, dict[str, Any]]:
    """A document's id and fields, from a string, `{id, data}` or a flat mapping."""
    if isinstance(document, str):
        return None, {"text": document}
    fields = dict(_mapping(document))
    identifier = fields.pop("id", None)
    data = fields.get("data", fields)
    body = {"text": data} if isinstance(data, str) else dict(_mapping(data))
    if identifier is None or identifier == "":
        return None, body
    return str(identifier), {"id": str(identifier), **body}


def _tool_ids(message: Mapping[str, Any]) -> Iterable[tuple[str, Sequence[Any]]]:
    """The tool call ids that one message shows, each with the result blocks it brings."""
    if str(message.get("role")).lower() == "tool":
        call_id = message.get("tool_call_id")
        if call_id is not None:
            yield str(call_id), _blocks(message.get("content"))
        return
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, Sequence) and not isinstance(calls, str) else ():
        call_id = _mapping(call).get("id")
        if call_id is not None:
            yield str(call_id), ()


def _blocks(content: Any) -> Sequence[Any]:
    if content is None:
        return ()
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return content
    return (content,)
