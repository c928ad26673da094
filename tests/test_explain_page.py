"""The page of `tagsmith explain --html`: what it shows, and that nothing in it is out of hand."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from enum import StrEnum
from typing import Any

import pytest

import tagsmith
from pages import CALLS, CITED, DIAGNOSED, FAMILY, HOSTILE, OPTIONS, Page
from pages import hostile_html as html_of
from pages import hostile_page as page_of
from pages import hostile_report as report_of
from tagsmith.engine.spans import SpanKind
from tagsmith.events import DiagnosticCode
from tagsmith.family import Family
from tagsmith.registry import default_registry
from tagsmith.report import build_report, render_page
from tagsmith.report.characters import SIGNS, escape_signs
from tagsmith.report.limits import MAX_STEPS
from tagsmith.report.steps import playback
from tagsmith.report.wording import CODES, KINDS
from tagsmith.spec.models import FamilySpec
from tagsmith.testing import Case, load_cases
from workspace import ROOT

FILES = [ROOT / "tests" / "cases" / "cohere.yaml", *sorted(ROOT.glob("families/*/*.cases.yaml"))]


def first_cases() -> dict[str, Case]:
    """The first golden case of every family that has one."""
    names = {"a": "cohere-command-a", "v": "cohere-command-a-vision", "m": "cohere-command-a-plus"}
    cases = [case for file in FILES for case in load_cases(file, names)]
    return {case.family: case for case in reversed(cases)}


FIRST_CASES = first_cases()
# Its cases are those of the family that it extends.
WITHOUT_CASES = {"cohere-north"}


def test_every_family_is_tried() -> None:
    assert set(default_registry().ids()) <= FIRST_CASES.keys() | WITHOUT_CASES


@pytest.mark.parametrize("name", FIRST_CASES)
def test_every_family_gives_a_page(name: str) -> None:
    case = FIRST_CASES[name]
    report = build_report(tagsmith.get_family(name), case.text, tools=case.tools)
    page = Page.read(render_page(report))
    assert page.raw_text == case.text
    assert report.tag.reason is None


@pytest.mark.parametrize("name", HOSTILE)
def test_the_raw_text_is_there_to_the_letter(name: str) -> None:
    assert page_of(name).raw_text == HOSTILE[name]


@pytest.mark.parametrize("name", HOSTILE)
def test_the_page_asks_nobody_for_anything(name: str) -> None:
    page = page_of(name)
    identifiers = [element.id for element in page.elements if element.id]
    assert len(set(identifiers)) == len(identifiers)
    for element in page.elements:
        assert element.name not in {"link", "img", "iframe", "object", "embed", "base", "svg"}
        for key, value in element.attributes.items():
            assert key not in {"src", "srcset", "action", "style", "background"}
            assert not key.startswith("on")
            if key == "href":
                assert value is not None
                assert value[0] == "#"
                assert value[1:] in identifiers
    style = next(element.text for element in page.elements if element.name == "style")
    assert not re.search(r"url\(|@import|@font-face", style)


@pytest.mark.parametrize("name", ["empty", "end of script"])
def test_the_policy_allows_the_pages_own_style_and_script_alone(name: str) -> None:
    page = page_of(name)
    [policy] = [
        element.attributes["content"]
        for element in page.elements
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    [style] = [element.text for element in page.elements if element.name == "style"]
    [data, script] = [element for element in page.elements if element.name == "script"]
    assert data.attributes["type"] == "application/json"
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest(style)}'",
        f"script-src 'sha256-{digest(script.text)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("name", HOSTILE)
def test_the_slider_knows_how_long_each_text_is_after_each_delta(name: str) -> None:
    report, page = report_of(name), page_of(name)
    steps = json.loads(page["playback"].text)
    assert steps == playback(report)
    lengths: dict[str, int] = {}
    for step in steps:
        for part, length in step["grown"].items():
            lengths[part] = lengths.get(part, 0) + length
    assert sum(step["fed"] for step in steps) == units(report.text)
    assert steps[-1]["at"] == len(report.text)
    message = report.message
    expected = {"reasoning": message.reasoning, "content": message.content}
    expected |= {f"call-{call.index}": call.arguments for call in message.tool_calls}
    assert lengths == {part: units(text) for part, text in expected.items() if text}
    shown = {
        str(element.attributes["data-part"]): element.text
        for element in page.elements
        if "data-part" in element.attributes
    }
    assert shown == {
        part: re.sub(r"[\x00\ud800-\udfff]", "\ufffd", text)
        for part, text in expected.items()
        if text is not None
    }


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(("length", "asked", "delta"), [(9, 4, 4), (9_000, 4, 5), (9_000, 50, 50)])
def test_a_long_text_is_fed_in_longer_deltas(length: int, asked: int, delta: int) -> None:
    report = build_report(FAMILY, "x" * length, delta=asked)
    assert report.delta == delta
    assert len(report.steps) <= MAX_STEPS + 1
    assert "".join(step.fed for step in report.steps) == report.text
    assert f"Deltas of {delta} characters" in render_page(report)


@pytest.mark.parametrize("delta", [0, -1, 1.5, "4"])
def test_a_delta_that_is_no_length(delta: Any) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"delta: .* give 1 or more characters"):
        build_report(FAMILY, "x", delta=delta)


def test_the_message_is_there_in_all_its_shapes() -> None:
    report, page = report_of("calls"), page_of("calls")
    names = [element.text for element in page.elements if element.name == "h4"]
    assert names == ["get_forecast", "get_forecast"]
    [openai, cohere, tag] = [json.loads(element.text) for element in page.of("json")]
    assert openai == json.loads(json.dumps(report.message.to_openai()))
    assert cohere == json.loads(json.dumps(report.message.to_cohere()))
    tools = OPTIONS["tools"]
    assert tag == FAMILY.structural_tag(tools=tools)


def test_what_cannot_be_seen_is_escaped_in_json_and_means_the_same() -> None:
    value = "a\u202e\x7f\ud800\U000e0041\u200d"
    written = escape_signs(json.dumps(value, ensure_ascii=False))
    assert not SIGNS.search(written)
    assert json.loads(written) == value


def test_diagnostics_are_linked_both_ways() -> None:
    report, page = report_of("diagnostics"), page_of("diagnostics")
    codes = [diagnostic.code for diagnostic in report.message.diagnostics]
    assert {DiagnosticCode.STRAY_MARKER, DiagnosticCode.TRUNCATED} <= set(codes)
    for number, diagnostic in enumerate(report.message.diagnostics, 1):
        sign, row = page[f"at-{number}"], page[f"diagnostic-{number}"]
        assert sign.attributes["href"] == f"#diagnostic-{number}"
        assert diagnostic.code in str(sign.attributes["aria-label"])
        assert CODES[diagnostic.code] in row.text
        assert diagnostic.message in row.text
        links = [e.attributes.get("href") for e in page.inside(f"diagnostic-{number}")]
        assert f"#at-{number}" in links


def test_a_diagnostic_stands_at_its_offset() -> None:
    html, report = html_of("diagnostics"), report_of("diagnostics")
    for number, diagnostic in enumerate(report.message.diagnostics, 1):
        before = html[: html.index(f'<a id="at-{number}"')]
        shown = Page()
        shown.feed(before)
        assert shown.raw_text == DIAGNOSED[: diagnostic.offset]


def test_citations_are_marked_in_their_text() -> None:
    report, page = report_of("citations"), page_of("citations")
    assert len(report.message.citations) == 3
    marked = "".join(element.text for element in page.elements if element.name == "mark")
    assert marked == "warmthe inner one"
    rows = [page[f"citation-{number}"].text for number in (1, 2, 3)]
    assert ["<d>" in row for row in rows] == [True, False, True]
    assert "no source of the request stands there" in rows[1]
    assert len(page.of("reference")) == 3


def test_what_comes_later_knows_its_step() -> None:
    page = Page.read(render_page(build_report(FAMILY, CALLS, delta=len(CALLS))))
    steps = {e.attributes["data-step"] for e in page.elements if "data-step" in e.attributes}
    assert steps == {"1", "2"}
    [badge, _] = page.of("badge")
    assert (badge.text, badge.attributes["data-step"]) == ("complete", "1")


def test_a_tag_that_cannot_be_built_says_why() -> None:
    plain = Family(FamilySpec(tagsmith=1, id="plain"))
    report = build_report(plain, "x", tools=[{"name": "f"}])
    assert report.tag.value is None
    assert "It cannot be built: tools: family plain writes no tool calls" in render_page(report)
    tools = [{"name": "f", "parameters": {"properties": {"a": {"pattern": "(?=x)"}}}}]
    page = render_page(build_report(FAMILY, "x", tools=tools))
    assert "It does not hold:" in page
    assert "lookaround" in page


def test_limits_are_said_in_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagsmith.report.message.MAX_ITEMS", 5)
    monkeypatch.setattr("tagsmith.report.raw.MAX_ITEMS", 0)
    monkeypatch.setattr("tagsmith.report.markup.MAX_JSON", 100)
    monkeypatch.setattr("tagsmith.report.steps.MAX_EVENTS_OF_STEP", 6)
    cited = "<co>a</co: 0:[0]>" * 7
    called = ",".join('{"tool_call_id": "0", "tool_name": "f", "parameters": {}}' for _ in range(8))
    text = f"<|START_RESPONSE|>{cited}<|END_RESPONSE|><|START_ACTION|>[{called}]<|END_ACTION|>"
    html = render_page(build_report(FAMILY, text, delta=1_000))
    assert "and 2 more citations" in html
    assert "and 3 more calls" in html
    assert "and 2 more diagnostics" in html
    assert "The first 0 diagnostics are marked" in html
    assert "Cut after 100 characters; tagsmith parse --format openai prints it whole." in html
    assert re.search(r"and \d+ more</li>", html)
    assert Page.read(html).raw_text == text


def test_too_much_white_space_is_not_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagsmith.report.raw.MAX_MARKS", 3)
    html = render_page(build_report(FAMILY, "a\nb\nc\nd\ne\0\r"))
    assert "White space is not marked" in html
    page = Page.read(html)
    assert not page.of("line")
    assert page.raw_text == "a\nb\nc\nd\ne\0\r"


def test_one_report_gives_one_page() -> None:
    delta = report_of("citations").delta
    again = build_report(FAMILY, CITED, name="citations.txt", delta=delta, **OPTIONS)
    assert render_page(again) == html_of("citations")


def test_a_name_cannot_mislead() -> None:
    html = render_page(build_report(FAMILY, "x", name="<b>\u202etxt.exe"))
    assert "<h1>&lt;b&gt;&lt;U+202E&gt;txt.exe</h1>" in html


def test_every_kind_and_code_is_told() -> None:
    assert list(KINDS) == list(SpanKind)
    assert list(CODES) == list(DiagnosticCode)
    style = (ROOT / "framework/tagsmith/report/page.css").read_text()
    for kind in SpanKind:
        assert f'[data-kind="{kind}"] {{' in style


@pytest.mark.parametrize(("page", "table"), [("diagnostics.md", CODES), ("explain.md", KINDS)])
def test_codes_and_kinds_mean_what_the_documentation_says(
    page: str, table: dict[StrEnum, str]
) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", text, re.MULTILINE)
    assert {code: meaning.replace("`", "") for code, meaning in rows} == table


def test_what_cannot_be_seen_has_a_sign() -> None:
    kept = {0x9, 0xA, 0x200C, 0x200D}
    shown = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
    hieroglyphs = range(0x13430, 0x13440)  # They join the signs beside them.
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            is_left = code in kept or code in hieroglyphs or shown.match(character)
            assert bool(SIGNS.match(character)) is not bool(is_left), f"U+{code:04X}"
