"""A chat template and the special tokens beside it, from the files of a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tagsmith.errors import RequestError
from tagsmith.wording import shortened

MAX_BYTES = 16 * 1024 * 1024
"""The largest file that is read."""
ROLES = ("bos_token", "eos_token", "pad_token", "unk_token")
"""What templates call the special tokens that they may name."""

_FIELD = "from_template"
_CONFIG, _JINJA, _JSON = "tokenizer_config.json", "chat_template.jinja", "chat_template.json"
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_WITH_TOOLS = ("tool_use", "default")
"""Of several templates, the one to take: what is written with tools says the most."""


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """A chat template, and what is known of the model's tokens."""

    text: str
    file: str
    roles: Mapping[str, str] = field(default_factory=dict)
    """The tokens that a template may name, such as `eos_token`."""
    tokens: tuple[str, ...] = ()
    """Strings that are one token each, as far as the files say it."""


def parse_template(text: str, name: str) -> TemplateFile:
    """A template from a text: Jinja, or the JSON of a tokenizer_config.json.

    Raises:
        RequestError: it is JSON without a template.

    >>> parse_template('{"chat_template": "{{ messages }}", "eos_token": "</s>"}', "a").roles
    {'eos_token': '</s>'}
    """
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return TemplateFile(text, name)
    template = _template_of(config, Path(name)) if isinstance(config, dict) else None
    if template is None:
        _refuse(Path(name), "is JSON without a chat_template")
    return TemplateFile(template, name, *_known(config))


def read_template(path: Path) -> TemplateFile:
    """Read a template: a Jinja file, a tokenizer_config.json, or a directory that has either.

    Raises:
        RequestError: there is none, or a file cannot be read.
    """
    if path.is_dir():
        return _read_directory(path)
    text = _read(path)
    if path.suffix == ".json":
        config = _object(text, path)
        template = _template_of(config, path)
        if template is None and _is_file(path.parent / _JINJA):
            return TemplateFile(
                _read(path.parent / _JINJA), str(path.parent / _JINJA), *_known(config)
            )
        if template is None:
            _refuse(path, f"has no chat_template, and no {_JINJA} stands beside it")
        return TemplateFile(template, str(path), *_known(config))
    config = _config_beside(path)
    return TemplateFile(text, str(path), *_known(config))


def _read_directory(directory: Path) -> TemplateFile:
    if _is_file(directory / _JINJA):
        return read_template(directory / _JINJA)
    config = _config_beside(directory / _CONFIG)
    for name in (_CONFIG, _JSON):
        file = directory / name
        if _is_file(file) and (template := _template_of(_object(_read(file), file), file)):
            return TemplateFile(template, str(file), *_known(config))
    return _refuse(directory, f"has no {_JINJA}, and no chat_template in {_CONFIG} or {_JSON}")


def _config_beside(path: Path) -> dict[str, Any]:
    file = path.parent / _CONFIG
    return _object(_read(file), file) if _is_file(file) else {}


def _template_of(config: Mapping[str, Any], path: Path) -> str | None:
    given = config.get("chat_template")
    if isinstance(given, list):
        named = {
            entry["name"]: entry["template"]
            for entry in given
            if isinstance(entry, dict)
            and isinstance(entry.get("name"), str)
            and "template" in entry
        }
        given = next((named[name] for name in _WITH_TOOLS if name in named), None)
        if given is None:
            _refuse(path, f"none of its chat templates is named {' or '.join(_WITH_TOOLS)}")
    if given is not None and not isinstance(given, str):
        _refuse(path, f"chat_template must be text or a list, not {type(given).__name__}")
    return given


def _known(config: Mapping[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
    roles = {role: text for role in ROLES for text in _texts(config.get(role))}
    listed = config.get("added_tokens_decoder")
    entries = listed.values() if isinstance(listed, dict) else ()
    tokens = [*roles.values(), *(text for entry in entries for text in _texts(entry))]
    for key in _LISTS:
        given = config.get(key)
        tokens += _all_texts(given.values() if isinstance(given, dict) else given)
    return roles, tuple(dict.fromkeys(tokens))


def _all_texts(values: Any) -> Iterator[str]:
    for value in values if isinstance(values, Iterable) else ():
        yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    """A token as text, or as an object with its `content`."""
    text = value.get("content") if isinstance(value, dict) else value
    if isinstance(text, str) and text.strip():
        yield text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_special(path: Path) -> bool:
    try:
        return path.exists() and not path.is_file()
    except (OSError, ValueError):
        return False


def _object(text: str, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        _refuse(path, f"is no JSON ({reason})")
    if not isinstance(value, dict):
        _refuse(path, f"must hold a JSON object, not {type(value).__name__}")
    return value


def _read(path: Path) -> str:
    if _is_special(path):
        # Opening a pipe would wait for whoever writes to it.
        _refuse(path, "is no regular file; give a file or a directory")
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        _refuse(
            path, f"cannot be read ({reason}); give {_CONFIG}, {_JINJA} or a directory with one"
        )
    if len(data) > MAX_BYTES:
        _refuse(path, f"is larger than {MAX_BYTES // 1024 // 1024} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(path, f"is no UTF-8 text (byte {error.start}); save it as UTF-8")


def _refuse(path: Path, what: str) -> NoReturn:
    raise RequestError(_FIELD, f"{shortened(str(path), 300)} {what}")
