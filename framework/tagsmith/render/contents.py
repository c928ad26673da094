"""What one message holds, in the Chat Completions or the Cohere v2 shape, block by block."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.events import Target
from tagsmith.render.breaking import json_text
from tagsmith.render.turns import Document, Image
from tagsmith.request.plain import mapping, plain
from tagsmith.sources import require_shallow
from tagsmith.wording import shortened

_TEXT, _THINKING, _REFUSAL, _DOCUMENT = "text", "thinking", "refusal", "document"
IMAGES = ("image_url", "image")
"""The types of content blocks that hold a picture."""


def read_text(value: Any, field: str) -> str:
    """A text that can be written in any encoding of Unicode."""
    if not isinstance(value, str):
        raise RequestError(field, f"must be text, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RequestError(field, "holds half a character (a lone surrogate); give text") from None
    return value


def read_optional_text(value: Any, field: str) -> str:
    """A text, empty where there is none."""
    return "" if value is None else read_text(value, field)


def read_list(value: Any, field: str) -> Sequence[Any]:
    """A list; None is an empty one."""
    if value is None:
        return ()
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        raise RequestError(field, f"must be a list, not {type(value).__name__}")
    return value


def read_object(value: Any, field: str) -> dict[str, Any]:
    """A JSON object, the prompt's own copy."""
    given = mapping(value, field, "an object")
    require_shallow(field, given)
    try:
        text = json_text(given)
        text.encode()
        found: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError) as error:
        raise RequestError(field, f"is no JSON object ({shortened(str(error))})") from None
    return found


def read_instructions(value: Any, field: str) -> tuple[str, ...]:
    """What the system says."""
    return _blocks(value, field, {_TEXT: _text})


def read_user_content(value: Any, field: str) -> tuple[str | Image, ...]:
    """What a user says."""
    return _blocks(value, field, {_TEXT: _text, **dict.fromkeys(IMAGES, _image)})


def read_assistant_content(value: Any, field: str) -> tuple[tuple[Target, str], ...]:
    """What an assistant said, each block with the text it is a part of."""
    if value is None:
        return ()
    readers = {_TEXT: _answer, _THINKING: _thought, _REFUSAL: _refused}
    return _blocks(value, field, readers)


def read_results(value: Any, field: str) -> tuple[str | Document, ...]:
    """What a tool brought; each block may be cited."""
    value = plain(value)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return (Document(read_object(value, field)),)
    return _blocks(value, field, {_TEXT: _text, _DOCUMENT: _result})


def read_documents(value: Any) -> tuple[Document, ...]:
    """The documents of a request: texts, `{id, data}`, or objects without any such frame.

    >>> read_documents([{"id": "a", "data": {"title": "T"}}, "plain"])
    (Document(data={'title': 'T', 'id': 'a'}), Document(data={'text': 'plain'}))
    """
    return tuple(
        _document(entry, f"documents[{index}]")
        for index, entry in enumerate(read_list(value, "documents"))
    )


def _document(value: Any, field: str) -> Document:
    if isinstance(value, str):
        return Document({"text": read_text(value, field)})
    fields = read_object(value, field)
    data = _data(fields)
    if fields.get("id") not in (None, ""):
        data.setdefault("id", fields["id"])
    return Document(data)


def _data(fields: dict[str, Any]) -> dict[str, Any]:
    """What a document holds, without its frame."""
    data = fields.get("data")
    if isinstance(data, dict):
        return dict(data)
    if isinstance(data, str):
        return {"text": data}
    return {key: value for key, value in fields.items() if key != "id"}


def _blocks(value: Any, field: str, readers: Mapping[str, Callable[..., Any]]) -> tuple[Any, ...]:
    """The blocks of a content; a text is a content of one block."""
    if isinstance(value, str):
        return (readers[_TEXT]({_TEXT: value}, field),)
    if value is None:
        raise RequestError(field, "must be text or a list of blocks, not null")
    blocks = read_list(plain(value), field)
    return tuple(_block(block, f"{field}[{index}]", readers) for index, block in enumerate(blocks))


def _block(value: Any, field: str, readers: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(value, str):
        return readers[_TEXT]({_TEXT: value}, field)
    block = mapping(value, field, "a content block")
    kind = block.get("type")
    if kind is None:
        kind = next((name for name in readers if name in block), None)
    reader = readers.get(kind) if isinstance(kind, str) else None
    if reader is None:
        allowed = ", ".join(readers)
        shown = shortened(repr(kind))
        raise RequestError(f"{field}.type", f"unknown value {shown}; allowed: {allowed}")
    return reader(block, field)


def _text(block: Mapping[str, Any], field: str) -> str:
    return read_text(block.get(_TEXT), f"{field}.text" if "type" in block else field)


def _image(block: Mapping[str, Any], field: str) -> Image:
    return Image(read_object(block, field))


def _answer(block: Mapping[str, Any], field: str) -> tuple[Target, str]:
    return Target.CONTENT, _text(block, field)


def _thought(block: Mapping[str, Any], field: str) -> tuple[Target, str]:
    return Target.REASONING, read_text(block.get(_THINKING), f"{field}.thinking")


def _refused(block: Mapping[str, Any], field: str) -> tuple[Target, str]:
    return Target.CONTENT, read_text(block.get(_REFUSAL), f"{field}.refusal")


def _result(block: Mapping[str, Any], field: str) -> Document:
    return Document(_data(read_object(block.get(_DOCUMENT), f"{field}.document")))
