"""The tokenizer probe: a model's tokenizer, held against what a family says of its tokens."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lint_subjects import built_in, codes, found, subject_of
from strategies import FAMILIES
from tagsmith import MissingDependencyError
from tagsmith.lint.probes import tokenizer_files
from tagsmith.lint.probes.tokenizer import tokenizer_rules

pytest.importorskip("tokenizers", reason="needs tokenizers: pip install 'tagsmith[lint]'")

from tokenizers import AddedToken, Tokenizer, decoders, models

from model_files import bytes_tokenizer, words_tokenizer, write_model

FAMILY = """\
match: {tokens: [<|start|>]}
tokens:
  turn_start: <|start|>assistant
  turn_end: <|end|>
  hidden: [<|start|>, <|pad|>]
tag_style:
  reasoning: {start: <think>, end: </think>, also: [{start: <thought>, end: </thought>}]}
  tool_calls: {start: "Action:", end: <|end_action|>}
tool_calls: {layout: json}
"""
TOKENS = ["<|start|>", "<|end|>", "<|pad|>", "<think>", "</think>", "<|end_action|>"]


def without(token: str) -> Tokenizer:
    return bytes_tokenizer([known for known in TOKENS if known != token])


def unknown_to_words() -> Tokenizer:
    tokenizer = words_tokenizer("Action:", "assistant", "<thought>", "</thought>")
    tokenizer.add_special_tokens([token for token in TOKENS if token != "<think>"])
    return tokenizer


def decoding_to_blanks() -> Tokenizer:
    tokenizer = without("</think>")
    tokenizer.add_special_tokens(["</think>"])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("</", "< /"), decoders.ByteLevel()])
    return tokenizer


FAULTS: dict[str, tuple[Callable[[], Tokenizer], list[tuple[str, str, str]]]] = {
    "a token that the family is chosen by": (
        lambda: without("<|start|>"),
        [("TS702", "3:18", "no token '<|start|>', which it writes with 9; the family is chosen")],
    ),
    "an opener": (
        lambda: without("<think>"),
        [("TS703", "9:22", "no token '<think>', which it writes with 7, so that nothing tells")],
    ),
    "a closer, with another like it": (
        lambda: bytes_tokenizer([*TOKENS[:-1], "<|end_actions|>"]),
        [("TS703", "10:39", "; did you mean '<|end_actions|>'?")],
    ),
    "the end of the turn": (
        lambda: without("<|end|>"),
        [("TS703", "6:13", "no token '<|end|>', which it writes with 7, so that a server cannot")],
    ),
    "a hidden token": (
        lambda: without("<|pad|>"),
        [("TS704", "7:23", "no token '<|pad|>', which it writes with 7, so that there is nothing")],
    ),
    "the unknown token in its place": (
        unknown_to_words,
        [("TS705", "9:22", "writes '<think>' with its unknown token '<unk>'")],
    ),
    "a token that is decoded otherwise": (
        decoding_to_blanks,
        [("TS706", "9:36", "decodes its token '</think>' as '< /think>'")],
    ),
    "a special token in a marker that is text": (
        lambda: bytes_tokenizer([*TOKENS, "Action"]),
        [("TS707", "10:23", "special token 'Action' is no marker of the family: servers leave it")],
    ),
}


@pytest.mark.parametrize(("make", "faults"), FAULTS.values(), ids=FAULTS)
def test_a_tokenizer_that_does_not_fit_is_told(
    make: Callable[[], Tokenizer], faults: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    rules = tokenizer_rules(write_model(tmp_path / "model", make()))
    told = found(rules, subject_of(tmp_path, FAMILY))
    assert [one[:2] for one in told] == [fault[:2] for fault in faults]
    for (_, _, words), (_, _, message) in zip(faults, told, strict=True):
        assert words in message


FITTING = {
    "special tokens": lambda: bytes_tokenizer(TOKENS),
    "tokens that are not special": lambda: bytes_tokenizer(plain=TOKENS),
    "a special token that has no part in the family": lambda: bytes_tokenizer([*TOKENS, "<|eot|>"]),
    "a token that is no special one in a marker": lambda: bytes_tokenizer(TOKENS, ["Action"]),
}


@pytest.mark.parametrize("make", FITTING.values(), ids=FITTING)
def test_a_tokenizer_that_fits_has_no_finding(
    make: Callable[[], Tokenizer], tmp_path: Path
) -> None:
    directory = write_model(tmp_path / "model", make())
    for path in (directory, directory / "tokenizer.json", str(directory)):
        assert found(tokenizer_rules(path), subject_of(tmp_path, FAMILY)) == []


@pytest.mark.parametrize("name", FAMILIES)
def test_a_tokenizer_of_their_own_fits_the_built_in_families(name: str, tmp_path: Path) -> None:
    subject = built_in(name)
    tokens = {*subject.family.markers, *subject.spec.match.tokens}
    own = [t for t in sorted(tokens) if not (t[0].isalnum() or any(c.isspace() for c in t))]
    # One that holds another is made of it.
    own = [t for t in own if not any(o != t and o in t for o in own)]
    subject_tokens = write_model(tmp_path, bytes_tokenizer(plain=own))
    assert found(tokenizer_rules(subject_tokens), subject) == []


MARKUP = {
    "a parameter": (
        'parameter: "<|arg|>{key}<sep>{value}</arg>"',
        "<|arg|>",
        "TS707",
    ),
    "a hidden one": ('parameter: "<|pad|>{key}<sep>{value}</arg>"', "<|pad|>", None),
}


@pytest.mark.parametrize(("line", "token", "code"), MARKUP.values(), ids=MARKUP)
def test_a_special_token_in_a_call_is_lost_unless_it_is_kept(
    line: str, token: str, code: str | None, tmp_path: Path
) -> None:
    text = f"""\
tokens: {{turn_end: <|end|>, hidden: [<|pad|>]}}
tool_calls:
  layout: template
  call: "<call>{{name}}<br>{{arguments}}</call>"
  arguments:
    encoding: tagged
    {line}
"""
    model = write_model(tmp_path / "model", bytes_tokenizer(["<|end|>", "<|pad|>", token]))
    told = found(tokenizer_rules(model), subject_of(tmp_path, text))
    assert [(c, p) for c, p, _ in told] == ([(code, "9:16")] if code else [])


CONFIGS = {
    "its own tokens": {
        "added_tokens_decoder": {"900": {"content": "<think>", "special": False}},
    },
    "its own special tokens": {"additional_special_tokens": ["<think>"]},
    "special tokens by name": {"extra_special_tokens": {"thinker": "<think>"}},
    "a role": {"pad_token": {"content": "<think>", "__type": "AddedToken"}},
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_tokens_that_the_config_alone_holds_count(config: dict[str, Any], tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", without("<think>"), config)
    assert found(tokenizer_rules(model), subject_of(tmp_path, FAMILY)) == []
    alone = tokenizer_rules(model / "tokenizer.json")
    assert codes(alone, subject_of(tmp_path, FAMILY)) == ["TS703"]


@pytest.mark.parametrize(
    "config",
    [
        {"additional_special_tokens": ["Action"]},
        {"added_tokens_decoder": {"900": {"content": "Action", "special": True}}},
    ],
)
def test_the_config_says_which_tokens_are_special(config: Any, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", bytes_tokenizer(TOKENS, ["Action"]), config)
    assert codes(tokenizer_rules(model), subject_of(tmp_path, FAMILY)) == ["TS707"]


def test_the_unknown_token_of_a_unigram_model_is_known(tmp_path: Path) -> None:
    letters = [(letter, -1.0) for letter in "▁abcdefghijklmnopqrstuvwxyz<>/|:_"]
    tokenizer = Tokenizer(models.Unigram([("<?>", 0.0), *letters], 0, False))
    tokenizer.add_special_tokens([token for token in TOKENS if token != "<|end|>"])
    model = write_model(tmp_path / "model", tokenizer)
    told = found(tokenizer_rules(model), subject_of(tmp_path, FAMILY))
    assert [(code, place) for code, place, _ in told] == [("TS703", "6:13"), ("TS705", "10:23")]
    assert "its unknown token '<?>'" in told[1][2]


def test_the_unknown_token_may_be_hidden(tmp_path: Path) -> None:
    text = "tokens: {hidden: [<unk>]}\ntag_style: {reasoning: {start: <unk>, end: </think>}}\n"
    hidden = subject_of(tmp_path, text.splitlines()[0] + "\n")
    tokenizer = words_tokenizer("</think>")
    tokenizer.add_special_tokens(["<unk>"])
    model = write_model(tmp_path / "model", tokenizer)
    assert found(tokenizer_rules(model), hidden) == []


def test_a_token_of_the_vocabulary_itself_is_held(tmp_path: Path) -> None:
    words = ("</s>", "<think>", "</think>")
    text = "tokens: {turn_end: </s>}\ntag_style: {reasoning: {start: <think>, end: </think>}}\n"
    for config in ({}, {"eos_token": "</s>"}):
        model = write_model(tmp_path / "model", words_tokenizer(*words), config)
        assert found(tokenizer_rules(model), subject_of(tmp_path, text)) == []


def test_the_turn_may_end_with_any_of_its_tokens(tmp_path: Path) -> None:
    text = FAMILY.replace("turn_end: <|end|>", "turn_end: [<|end|>, <|eom|>]")
    model = write_model(tmp_path / "model", bytes_tokenizer(TOKENS))
    assert found(tokenizer_rules(model), subject_of(tmp_path, text)) == []


def test_padding_and_truncation_do_not_count(tmp_path: Path) -> None:
    tokenizer = bytes_tokenizer(TOKENS)
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(1)
    model = write_model(tmp_path / "model", tokenizer)
    assert found(tokenizer_rules(model), subject_of(tmp_path, FAMILY)) == []


def test_nothing_is_read_before_a_rule_is_checked(tmp_path: Path) -> None:
    rules = tokenizer_rules(tmp_path / "none")
    assert len({rule.code for rule in rules}) == len(rules)
    assert [rule.code for rule in rules] == sorted(rule.code for rule in rules)
    assert all(rule.name and rule.summary.endswith(".") for rule in rules)


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


ODD_TOKENIZERS: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "1:1 is no JSON (Expecting value)"),
    "no JSON": ('{\n  "model": }', "2:12 is no JSON (Expecting value)"),
    "nested too deeply": (deep(100_000), "1:1 is no JSON"),
    "a number of many digits": ("1" * 5000, "1:1 is no JSON"),
    "a list": ("[]", "1:1 must be a JSON object, not list"),
    "another file": ('{"architectures": []}', "1:1 is no tokenizer.json: it has no 'model'"),
    "a model that is none": ('{"model": 5}', "1:1 is no tokenizer.json"),
    "an unknown model": ('{"model": {"type": "X"}}', "1:1 tokenizers cannot load it ("),
    "binary": (b"\xff\xfe\x00", "1:1 is no UTF-8 text (byte 0xff)"),
}


@pytest.mark.parametrize(("data", "words"), ODD_TOKENIZERS.values(), ids=ODD_TOKENIZERS)
def test_an_odd_tokenizer_is_a_finding(data: str | bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    [(code, place, message)] = found(tokenizer_rules(path), subject_of(tmp_path, FAMILY))
    assert code == "TS701"
    assert f"{place.removeprefix(f'{path}:')} {message}".startswith(words)


ODD_CONFIGS = {
    "no JSON": "{",
    "a list": "[]",
    "a template of another type": {"chat_template": 5},
    "a template that is no text": {"chat_template": "\ud800"},
    "templates without a default": {"chat_template": [{"name": "rag", "template": "x"}, 3]},
}


@pytest.mark.parametrize("config", ODD_CONFIGS.values(), ids=ODD_CONFIGS)
def test_an_odd_config_is_a_finding_and_the_tokens_are_looked_at(
    config: Any, tmp_path: Path
) -> None:
    model = write_model(tmp_path / "model", without("<think>"), config)
    told = found(tokenizer_rules(model), subject_of(tmp_path, FAMILY))
    assert [code for code, _, _ in told] == ["TS701", "TS703"]
    assert told[0][1].startswith(str(model / "tokenizer_config.json"))


@pytest.mark.parametrize(
    "config",
    [
        {"added_tokens_decoder": [1], "additional_special_tokens": "x", "eos_token": 5},
        {"added_tokens_decoder": {"1": 1, "2": {"content": 5}}, "extra_special_tokens": None},
        {"added_tokens_decoder": {"1": {"content": ""}}, "unk_token": {"x": 1}},
        {"additional_special_tokens": ["\ud800", None], "bos_token": "\udfff"},
    ],
)
def test_what_the_config_spells_wrong_is_passed_over(config: Any, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", bytes_tokenizer(TOKENS), config)
    assert found(tokenizer_rules(model), subject_of(tmp_path, FAMILY)) == []


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


ODD_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "absent": (lambda path: None, "there is no such file; give a tokenizer.json"),
    "a pipe": (os.mkfifo, "is no regular file"),
    "a link to itself": (link_to_itself, "cannot be read ("),
    "a link to nothing": (lambda path: path.symlink_to("gone"), "there is no such file"),
    "a directory": (Path.mkdir, "is no regular file"),
    "another tokenizer beside it": (
        lambda path: (path.parent / "tekken.json").write_text("{}"),
        "there is no such file; tekken.json is not read; convert it",
    ),
}


@pytest.mark.parametrize(("make", "words"), ODD_FILES.values(), ids=ODD_FILES)
def test_an_odd_file_is_a_finding(
    make: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    model = write_model(tmp_path / "model")
    make(model / "tokenizer.json")
    [(code, _, message)] = found(tokenizer_rules(model), subject_of(tmp_path, FAMILY))
    assert code == "TS701"
    assert message.startswith(words)


def test_a_huge_file_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tokenizer_files, "MAX_TOKENIZER", 1024 * 1024)
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as stream:
        stream.truncate(1024 * 1024 + 1)
    [(code, _, message)] = found(tokenizer_rules(path), subject_of(tmp_path, FAMILY))
    assert (code, message) == ("TS701", "is larger than 1 MiB")


def test_a_path_that_is_none_is_a_finding(tmp_path: Path) -> None:
    for path in ("\0", "x" * 300, tmp_path / "gone"):
        assert codes(tokenizer_rules(path), subject_of(tmp_path, FAMILY)) == ["TS701"]


def test_a_tokenizer_that_fails_to_encode_is_no_error(tmp_path: Path) -> None:
    # A model of words whose unknown token is not among them cannot write others.
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="<none>"))
    tokenizer.add_tokens(
        [AddedToken(token, normalized=False) for token in TOKENS if token[0] == "<"]
    )
    model = write_model(tmp_path / "model", tokenizer)
    assert found(tokenizer_rules(model), subject_of(tmp_path, FAMILY)) == []
    text = FAMILY.replace("<think>", "<ponder>")
    [(code, _, message)] = found(tokenizer_rules(model), subject_of(tmp_path, text))
    assert code == "TS703"
    assert "no token '<ponder>', and no way to write it" in message


def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", bytes_tokenizer(TOKENS))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tagsmith\[lint\]'"):
        codes(tokenizer_rules(model), subject_of(tmp_path, FAMILY))


def test_a_tokenizer_of_another_version_is_told_in_one_line(tmp_path: Path) -> None:
    data = json.loads(bytes_tokenizer(TOKENS).to_str())
    data["decoder"] = {"type": "Unheard\nOf"}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data))
    [(code, _, message)] = found(tokenizer_rules(path), subject_of(tmp_path, FAMILY))
    assert code == "TS701"
    assert "\n" not in message
