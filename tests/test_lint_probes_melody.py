"""The melody probe: the preset that a family names, tried on texts of the family's own markers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lint_subjects import built_in, found, subject_of
from strategies import FAMILIES
from tagsmith import MissingDependencyError
from tagsmith.engine import melody_filter
from tagsmith.lint.probes import melody
from tagsmith.lint.probes.melody import RULES

FAULTS = {
    "a preset that begins elsewhere": (
        "extends: cohere-command-a\ninitial_region: reasoning\n",
        [("TS601", "4:17", "the preset cmd3 reads 'answer' as content 'answer', the family as")],
        "; cmd4 would read all as the family does",
    ),
    "regions the other way round": (
        """\
extends: cohere-command-a
tag_style:
  reasoning: {start: <|START_RESPONSE|>, end: <|END_RESPONSE|>}
  content: [{start: <|START_THINKING|>, end: <|END_THINKING|>}]
""",
        [
            ("TS601", "5:14", "as content 'thought', the"),
            ("TS601", "6:13", "as reasoning 'answer'"),
        ],
        "",
    ),
    "other keys of a call": (
        """\
extends: cohere-command-a
tool_calls:
  keys: {id: id, name: name, arguments: arguments}
""",
        [("TS601", "5:3", "as nothing, the family as call 'get_weather' with {")],
        "",
    ),
    "calls without ids": (
        "extends: cohere-command-a\ntool_calls: {keys: {id: null}}\n",
        [("TS601", "4:13", "as nothing, the family as call 'get_weather'")],
        "",
    ),
    "markers of another model": (
        "melody: {preset: cmd3}\ntag_style: {reasoning: {start: <think>, end: </think>}}\n",
        [
            ("TS602", "4:32", "does not know '<think>' or '</think>': it reads '<think>"),
            ("TS603", "3:18", "takes '<|START_THINKING|>' for a marker, and the family does not"),
        ],
        "",
    ),
    "one closer of another model": (
        "extends: cohere-command-a\ntag_style: {reasoning: {end: </think>}}\n",
        [("TS602", "4:30", "does not know '</think>': it reads")],
        "",
    ),
    "another spelling of a marker": (
        """\
extends: cohere-command-a
tag_style: {reasoning: {also: [{start: <think>, end: </think>}]}}
""",
        [("TS602", "4:40", "does not know '<think>' or '</think>'")],
        "",
    ),
    "a wrapper that the preset does not know": (
        """\
extends: cohere-command-a
tag_style: {content: [{start: <|START_TEXT|>, end: <|END_TEXT|>}]}
""",
        [("TS602", "4:31", "does not know '<|START_TEXT|>' or '<|END_TEXT|>'")],
        "",
    ),
    "other markup of citations": (
        """\
extends: cohere-command-a
citations:
  markup: {open: <cite>, close: "</cite: {positions}>"}
""",
        [("TS602", "5:18", "the family as content 'see this', citation of 'this' at [(0, 1)]")],
        "",
    ),
    "a preset of other calls": (
        "extends: cohere-command-xml\nmelody: {preset: cmd4}\n",
        [
            ("TS602", "4:18", "does not know '<cofl:tool_calls>' or '</cofl:tool_calls>'"),
        ],
        "; cmd5 would read all as the family does",
    ),
    "a wrapper that the family does not know": (
        """\
extends: cohere-north
tokens: {reserved: []}
tag_style:
  content: [{start: <|START_RESPONSE|>, end: <|END_RESPONSE|>}]
""",
        [("TS603", "6:12", "takes '<|START_TEXT|>' for a marker")],
        "",
    ),
}


@pytest.mark.parametrize(("text", "faults", "advice"), FAULTS.values(), ids=FAULTS)
def test_a_preset_that_reads_otherwise_is_told(
    text: str, faults: list[tuple[str, str, str]], advice: str, tmp_path: Path
) -> None:
    told = found(RULES, subject_of(tmp_path, text))
    expected = [(code, place) for code, place, _ in faults]
    assert [(code, place) for code, place, _ in told if code != "TS603"] == [
        pair for pair in expected if pair[0] != "TS603"
    ]
    for code, place, words in faults:
        assert any((code, place) == one[:2] and words in one[2] for one in told), told
    assert advice in told[0][2]


AGREEING = {
    "no preset": "tag_style: {reasoning: {start: <think>, end: </think>}}\n",
    "a preset and no markers": "melody: {preset: cmd3}\n",
    "an output that begins in content": "extends: cohere-north\ninitial_region: content\n",
    "no reasoning": "extends: cohere-command-a\ntag_style: {reasoning: null}\n",
    "no calls": "extends: cohere-command-a\ntag_style: {tool_calls: null}\ntool_calls: null\n",
    "no citations": "extends: cohere-command-xml\ncitations: null\n",
    "a call too long to try": """\
extends: cohere-command-xml
tool_calls: {call: '<cofl:tool_call id="{id}" name="{name}" LONG="">{arguments}</cofl:tool_call>'}
""".replace("LONG", "x" * 4000),
    "a marker that is reserved": """\
extends: cohere-north
tokens: {reserved: [<|START_TEXT|>, <|END_TEXT|>]}
tag_style: {content: [{start: <|START_RESPONSE|>, end: <|END_RESPONSE|>}]}
""",
}


@pytest.mark.parametrize("text", AGREEING.values(), ids=AGREEING)
def test_a_preset_that_reads_alike_has_no_finding(text: str, tmp_path: Path) -> None:
    assert found(RULES, subject_of(tmp_path, text)) == []


@pytest.mark.parametrize("name", FAMILIES)
def test_built_in_families_have_no_finding_but_one_that_is_meant(name: str) -> None:
    told = [(code, place) for code, place, _ in found(RULES, built_in(name))]
    # Command A Vision writes one wrapper more than its preset knows.
    assert [code for code, _ in told] == (["TS602"] if name == "cohere-command-a-vision" else [])


class Broken:
    """A library that fails in each of its ways."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def process_full_text(self, text: str) -> None:
        raise self.error


class PanicException(BaseException):
    """As the library's own: no `Exception`."""


@pytest.mark.parametrize("error", [ValueError("no"), PanicException("index out of bounds")])
def test_a_library_that_fails_is_a_finding(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(melody, "filter_maker", lambda *_: lambda: Broken(error))
    told = found(RULES, built_in("cohere-command-a"))
    assert {code for code, _, _ in told} >= {"TS601"}
    assert f"{type(error).__name__}: {error}" in told[0][2]


def test_nobody_is_kept_from_stopping_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(melody, "filter_maker", lambda *_: lambda: Broken(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        found(RULES, built_in("cohere-command-a"))


def test_a_missing_library_is_told_where_a_family_names_a_preset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    melody_filter.load_melody.cache_clear()
    monkeypatch.setitem(sys.modules, "cohere_melody", None)
    assert found(RULES, built_in("qwen3")) == []
    with pytest.raises(MissingDependencyError, match="cohere-melody"):
        found(RULES, built_in("cohere-command-a"))
    melody_filter.load_melody.cache_clear()
