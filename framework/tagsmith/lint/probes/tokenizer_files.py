"""A model's tokenizer, read from its files, and what is wrong with these.

The files are those of Hugging Face: `tokenizer.json` as the library `tokenizers` writes it, and
beside it `tokenizer_config.json` and `chat_template.jinja` as `transformers` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tagsmith.errors import Location, MissingDependencyError
from tagsmith.lint.rules import Finding
from tagsmith.wording import one_line, shortened

MAX_TOKENIZER = 256 * 1024 * 1024
"""The largest tokenizer.json that is read, in bytes."""
MAX_OTHER = 16 * 1024 * 1024
"""The largest other file that is read, in bytes."""

_TOKENIZER, _CONFIG = "tokenizer.json", "tokenizer_config.json"
_TEMPLATE, _TEMPLATE_JSON = "chat_template.jinja", "chat_template.json"
_ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_LONGEST_REASON = 200

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a tokenizer says of single tokens. `special` are those that decoding may leave out."""

    tokenizer: Any
    special: frozenset[str]
    unknown: str | None
    added_tokens: Mapping[int, str]
    """The text of each token that was added to the vocabulary, as markers are."""

    def token_id(self, text: str) -> int | None:
        """The id of a text that is one token, and is written as that token."""
        found: int | None = self.tokenizer.token_to_id(text)
        return found if found is not None and found in self.ids(text) else None

    def ids(self, text: str) -> tuple[int, ...]:
        """The ids that a text is written with; none where the tokenizer fails."""
        encode = self.tokenizer.encode
        return _answer(lambda: tuple(encode(text, add_special_tokens=False).ids), ())

    def is_unknown(self, text: str) -> bool:
        """Whether the unknown token stands for a part of a text."""
        return self.unknown is not None and self.tokenizer.token_to_id(self.unknown) in self.ids(
            text
        )

    def added(self, text: str) -> tuple[str, ...]:
        """Those of them that were added to the vocabulary."""
        found = (self.added_tokens.get(token_id) for token_id in self.ids(text))
        return tuple(token for token in found if token is not None)

    def decoded(self, token_id: int) -> str:
        """The text of one token, special or not."""
        decode = self.tokenizer.decode
        return _answer(lambda: str(decode([token_id], skip_special_tokens=False)), "")


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A model's chat template, and the file that holds it."""

    text: str
    file: str
    is_own_file: bool
    """Whether the file is the template, so that its lines are the template's."""


@dataclass(frozen=True, slots=True)
class TokenizerFiles:
    """Everything that was read. What could not be is None, and has a problem."""

    vocabulary: Vocabulary | None = None
    template: ChatTemplate | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    """The special tokens that a chat template may name, such as `bos_token`."""
    problems: tuple[Finding, ...] = ()


class _UnreadableError(Exception):
    """A file that cannot be read, and why."""

    def __init__(self, path: Path, what: str, line: int = 1, column: int = 1) -> None:
        super().__init__(what)
        self.finding = Finding(what, Location(str(path), line, column))


def read_tokenizer(path: Path) -> TokenizerFiles:
    """Read a tokenizer.json, or a model's directory with one.

    Nothing in the files makes it raise: what is wrong with them is in the result.

    Args:
        path: The file, or the directory.

    Raises:
        MissingDependencyError: the library `tokenizers` is not installed.
    """
    problems: list[Finding] = []
    config: dict[str, Any] = {}
    template = vocabulary = None
    is_directory = _is_directory(path)
    if is_directory:
        with _noted(problems):
            if _exists(path / _CONFIG):
                config = _read_object(path / _CONFIG, MAX_OTHER)
        with _noted(problems):
            template = _read_template(path, config)
    with _noted(problems):
        vocabulary = _read_vocabulary(path / _TOKENIZER if is_directory else path, config)
    roles = {role: text for role in _ROLES if (text := _token_text(config.get(role)))}
    return TokenizerFiles(vocabulary, template, roles, tuple(problems))


@contextmanager
def _noted(problems: list[Finding]) -> Iterator[None]:
    try:
        yield
    except _UnreadableError as error:
        problems.append(error.finding)


def _read_vocabulary(path: Path, config: Mapping[str, Any]) -> Vocabulary:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingDependencyError(
            "looking into a tokenizer needs tokenizers; run: pip install 'tagsmith[lint]'"
        ) from error
    text = _read_text(path, MAX_TOKENIZER)
    model = _parse_object(text, path).get("model")
    if not isinstance(model, dict):
        what = "is no tokenizer.json: it has no 'model'; give tokenizer.json, or its directory"
        raise _UnreadableError(path, what)
    try:
        tokenizer = Tokenizer.from_str(text)
        tokenizer.no_padding()
        tokenizer.no_truncation()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        # A panic in the library's Rust arrives as a BaseException that is no Exception.
        raise _UnreadableError(path, f"tokenizers cannot load it ({_reason(error)})") from error
    configured = _add_configured(tokenizer, config)
    added = tokenizer.get_added_tokens_decoder()
    special = configured.union(token.content for token in added.values() if token.special)
    unknown = _token_text(config.get("unk_token")) or _unknown_of(model)
    texts = {token_id: token.content for token_id, token in added.items()}
    return Vocabulary(tokenizer, frozenset(special), unknown, texts)


def _add_configured(tokenizer: Any, config: Mapping[str, Any]) -> set[str]:
    """Add the tokens that tokenizer_config.json names, as transformers does; returns the special.

    One that is in the vocabulary already keeps its id.
    """
    from tokenizers import AddedToken

    listed = config.get("added_tokens_decoder")
    entries = list(listed.values()) if isinstance(listed, dict) else []
    special = {
        text
        for entry in entries
        if isinstance(entry, dict) and entry.get("special") is True and (text := _token_text(entry))
    }
    named: list[Any] = [config.get(role) for role in _ROLES]
    for key in _LISTS:
        given = config.get(key)
        named += given.values() if isinstance(given, dict) else _listed(given)
    special |= {text for value in named if (text := _token_text(value))}
    known = [text for entry in entries if (text := _token_text(entry))]
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    for text in dict.fromkeys([*known, *sorted(special)]):
        if text not in added:
            token = AddedToken(text, special=text in special, normalized=False)
            (tokenizer.add_special_tokens if text in special else tokenizer.add_tokens)([token])
    return special


def _unknown_of(model: Mapping[str, Any]) -> str | None:
    """The unknown token: by its text, or, in a Unigram model, by its place in the vocabulary."""
    unknown, vocabulary = model.get("unk_id"), _listed(model.get("vocab"))
    if isinstance(unknown, int) and 0 <= unknown < len(vocabulary):
        return next(map(_token_text, _listed(vocabulary[unknown])), None)
    return _token_text(model.get("unk_token"))


def _read_template(directory: Path, config: Mapping[str, Any]) -> ChatTemplate | None:
    """The template that transformers would take; of several, the default one."""
    if _exists(directory / _TEMPLATE):
        file = directory / _TEMPLATE
        return ChatTemplate(_read_text(file, MAX_OTHER), str(file), is_own_file=True)
    file = directory / _CONFIG
    given = config.get("chat_template")
    if given is None and _exists(directory / _TEMPLATE_JSON):
        file = directory / _TEMPLATE_JSON
        given = _read_object(file, MAX_OTHER).get("chat_template")
    if isinstance(given, list):
        entries = [entry for entry in given if isinstance(entry, dict)]
        named = [entry.get("template") for entry in entries if entry.get("name") == "default"]
        if not named:
            raise _UnreadableError(file, "chat_template: none of the list is named 'default'")
        given = named[0]
    if given is None:
        return None
    if not isinstance(given, str):
        what = f"chat_template must be text or a list, not {type(given).__name__}"
        raise _UnreadableError(file, what)
    if _HALF_CHARACTER.search(given):
        raise _UnreadableError(file, "chat_template holds half a character (a lone surrogate)")
    return ChatTemplate(given, str(file), is_own_file=False)


def _read_object(path: Path, limit: int) -> dict[str, Any]:
    return _parse_object(_read_text(path, limit), path)


def _parse_object(text: str, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        what = f"is no JSON ({error.msg}); give another file, or get it anew"
        raise _UnreadableError(path, what, error.lineno, error.colno) from None
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(path, f"is no JSON ({_reason(error)})") from None
    if not isinstance(value, dict):
        raise _UnreadableError(path, f"must be a JSON object, not {type(value).__name__}")
    return value


def _read_text(path: Path, limit: int) -> str:
    try:
        if path.exists() and not path.is_file():
            # Opening a pipe would wait for whoever writes to it.
            raise _UnreadableError(path, "is no regular file; give a file")
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise _UnreadableError(path, f"is larger than {limit // 1024 // 1024} MiB")
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"is no UTF-8 text (byte 0x{data[error.start]:02x}); save it as UTF-8"
        raise _UnreadableError(path, what) from None
    except FileNotFoundError:
        raise _UnreadableError(path, "there is no such file; " + _absent(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise _UnreadableError(path, f"cannot be read ({reason})") from None


def _absent(path: Path) -> str:
    for other in ("tokenizer.model", "tekken.json"):
        if _exists(path.parent / other):
            return f"{other} is not read; convert it with the transformers library"
    return "give a tokenizer.json, or a directory with one"


def _exists(path: Path) -> bool:
    """Whether something has this name, a broken link too."""
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _token_text(value: Any) -> str | None:
    """A token as text, or as an object with its `content`."""
    text = value.get("content") if isinstance(value, dict) else value
    is_text = isinstance(text, str) and text and not _HALF_CHARACTER.search(text)
    return text if is_text else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _answer(ask: Callable[[], Answer], otherwise: Answer) -> Answer:
    """What the library answers, or something else where it fails."""
    try:
        return ask()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:
        return otherwise


def _reason(error: BaseException) -> str:
    return shortened(one_line(str(error) or type(error).__name__), _LONGEST_REASON)
