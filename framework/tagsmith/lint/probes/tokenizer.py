"""Tokenizer rules: a model's tokenizer must hold the family's markers as the family says.

Servers decode a model's tokens to text, and most leave special tokens out of it unless they are
told to keep some; `family.serving.preserve_tokens`, the family's markers, are those to keep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from os import PathLike
from pathlib import Path

from tagsmith.lint.probes.chat_template import TEMPLATE_RULES
from tagsmith.lint.probes.literals import Literal, Use, literals_of
from tagsmith.lint.probes.places import place
from tagsmith.lint.probes.tokenizer_files import TokenizerFiles, Vocabulary, read_tokenizer
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.wording import did_you_mean, shortened

_LIKE_A_TOKEN = re.compile(r"(?![\w\s])\S*(?<![\w\s])")
"""No blank in it, and no letter at either edge: `<think>`, `[/INST]`, and no `Action:` or `to=`."""

Check = Callable[[TokenizerFiles, LintSubject], Iterator[Finding]]


def tokenizer_rules(path: str | PathLike[str]) -> tuple[Rule, ...]:
    """The rules TS7xx, for one tokenizer, which is read when the first of them is checked.

    Args:
        path: A tokenizer.json, or a model's directory with one. With a directory, its
            `tokenizer_config.json` counts too, and so does its chat template.

    Each raises `MissingDependencyError` where the library `tokenizers`, or, for a chat template,
    `jinja2` is not installed. What is wrong with the files is told as TS701.
    """
    files = cache(lambda: read_tokenizer(Path(path)))

    def checked(check: Check, subject: LintSubject) -> Iterator[Finding]:
        # A tokenizer without the tokens that the family is told by is another model's.
        is_told = check in (_unreadable, _missing_tokens)
        if is_told or not any(True for _ in _missing_tokens(files(), subject)):
            yield from check(files(), subject)

    return tuple(
        Rule(code, name, summary, partial(checked, check))
        for code, name, summary, check in (*_RULES, *TEMPLATE_RULES)
    )


def _unreadable(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS701."""
    yield from files.problems


def _missing_tokens(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS702."""
    for number, token in enumerate(subject.spec.match.tokens):
        if files.vocabulary is not None and files.vocabulary.token_id(token) is None:
            what = (
                f"{_no_token(files.vocabulary, token)}; the family is chosen by it, so that the"
                " rest of the family is not held against this tokenizer"
                f"{_hint(files.vocabulary, subject, token)}"
            )
            yield Finding(what, subject.locate(["match", "tokens", number]))


def _split_markers(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS703."""
    vocabulary = files.vocabulary
    if vocabulary is None:
        return
    for literal in _once(subject):
        if literal.use is Use.REGION and _is_split(vocabulary, literal.text):
            what = (
                f"{_no_token(vocabulary, literal.text)}, so that nothing tells the marker from the"
                f" same text quoted{_hint(vocabulary, subject, literal.text)}"
            )
            yield Finding(what, place(subject, literal.path))
    ends = subject.spec.tokens.turn_end
    if ends and not any(_is_held(vocabulary, e) or vocabulary.is_unknown(e) for e in ends):
        what = (
            f"{_no_token(vocabulary, ends[0])}, so that a server cannot stop where the turn ends"
            f"{_hint(vocabulary, subject, ends[0])}"
        )
        yield Finding(what, place(subject, ["tokens", "turn_end"]))


def _absent_hidden(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS704."""
    vocabulary = files.vocabulary
    if vocabulary is None:
        return
    for literal in _once(subject):
        if literal.use is Use.HIDDEN and _is_split(vocabulary, literal.text):
            what = (
                f"{_no_token(vocabulary, literal.text)}, so that there is nothing to hide"
                f"{_hint(vocabulary, subject, literal.text)}"
            )
            yield Finding(what, place(subject, literal.path))


def _unknown_literals(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS705."""
    vocabulary = files.vocabulary
    if vocabulary is None:
        return
    for literal in _once(subject):
        if _is_unknown(vocabulary, literal):
            what = (
                f"the tokenizer writes {literal.text!r} with its unknown token"
                f" {vocabulary.unknown!r}, so that no output holds it; correct it, or give this"
                " model's tokenizer"
            )
            yield Finding(what, place(subject, literal.path))


def _changed_in_decoding(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS706."""
    vocabulary = files.vocabulary
    if vocabulary is None:
        return
    for literal in _once(subject):
        token_id = vocabulary.token_id(literal.text)
        decoded = None if token_id is None else vocabulary.decoded(token_id)
        if decoded is not None and decoded != literal.text:
            what = (
                f"the tokenizer decodes its token {literal.text!r} as {decoded!r}, which the"
                " family does not read; write it as it is decoded"
            )
            yield Finding(what, place(subject, literal.path))


def _lost_in_decoding(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS707."""
    vocabulary = files.vocabulary
    if vocabulary is None:
        return
    lost = vocabulary.special.difference(subject.family.serving.preserve_tokens)
    told: set[str] = set()
    for literal in _once(subject):
        for token in vocabulary.added(literal.text):
            if token in lost and token not in told:
                told.add(token)
                what = (
                    f"the special token {token!r} is no marker of the family: servers leave it out"
                    f" of the text, and with it a part of {shortened(literal.text)!r}; add it to"
                    " tokens.hidden, or have the server keep it"
                )
                yield Finding(what, place(subject, literal.path))


def _once(subject: LintSubject) -> Iterator[Literal]:
    """The literals, each at its first place: as a marker, where it is one."""
    seen: set[str] = set()
    for literal in sorted(literals_of(subject.spec), key=lambda literal: literal.use.value):
        if literal.text not in seen:
            seen.add(literal.text)
            yield literal


def _is_split(vocabulary: Vocabulary, marker: str) -> bool:
    """Whether a marker that looks like a token is none, and holds none."""
    if _is_held(vocabulary, marker) or vocabulary.is_unknown(marker):
        return False
    return _LIKE_A_TOKEN.fullmatch(marker) is not None


def _is_held(vocabulary: Vocabulary, marker: str) -> bool:
    """Whether a marker is a token, or holds one."""
    return vocabulary.token_id(marker) is not None or bool(vocabulary.added(marker))


def _is_unknown(vocabulary: Vocabulary, literal: Literal) -> bool:
    """Whether the unknown token stands for a part of a literal. It may itself be hidden."""
    is_itself = literal.text == vocabulary.unknown and literal.use is Use.HIDDEN
    return not is_itself and vocabulary.is_unknown(literal.text)


def _no_token(vocabulary: Vocabulary, text: str) -> str:
    count = len(vocabulary.ids(text))
    written = f"which it writes with {count}" if count else "and no way to write it"
    return f"the tokenizer has no token {text!r}, {written}"


def _hint(vocabulary: Vocabulary, subject: LintSubject, text: str) -> str:
    """The token that was meant, most likely; none that the family has already."""
    others = set(vocabulary.added_tokens.values()).difference(subject.family.markers)
    near = did_you_mean(text, sorted(others))
    return f"; did you mean {near!r}?" if near is not None else ""


_RULES: tuple[tuple[str, str, str, Check], ...] = (
    (
        "TS701",
        "tokenizer-unreadable",
        "A file of the tokenizer that cannot be read.",
        _unreadable,
    ),
    (
        "TS702",
        "matched-token-missing",
        "A token of `match.tokens` that the tokenizer does not hold.",
        _missing_tokens,
    ),
    (
        "TS703",
        "marker-not-a-token",
        "A marker that the tokenizer writes with several tokens.",
        _split_markers,
    ),
    (
        "TS704",
        "hidden-token-missing",
        "A hidden token that the tokenizer does not hold.",
        _absent_hidden,
    ),
    (
        "TS705",
        "marker-unknown",
        "A literal that the tokenizer writes with its unknown token.",
        _unknown_literals,
    ),
    (
        "TS706",
        "marker-decoded-otherwise",
        "A marker that the tokenizer decodes to another text.",
        _changed_in_decoding,
    ),
    (
        "TS707",
        "token-lost-in-decoding",
        "A special token inside a literal that servers leave out of the text.",
        _lost_in_decoding,
    ),
)
