"""Lint's own rules, and what only several families or packages show together."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from tagsmith.cli import main
from tagsmith.errors import MissingDependencyError
from tagsmith.lint.builtin import RULES
from tagsmith.lint.builtin.backtracking import slow_reason
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.lint.run import lint
from tagsmith.loading import load_families
from tagsmith.plugins import load_plugins
from tagsmith.registry import installed_layers
from tagsmith.testing.writing import write_call

HEAD = "tagsmith: 1\nid: acme\n"
REGION = "tag_style: {tool_calls: {start: <calls>, end: </calls>}}\n"
CALL = '"<call>{name}: {arguments}</call>"'


def told(directory: Path, text: str, **options: list[str]) -> list[tuple[str, str]]:
    (directory / "acme.yaml").write_text(HEAD + text, encoding="utf-8")
    problems = lint([directory], **({"ignore": ["TS801"]} | options)).problems
    return [(str(problem.code), problem.message) for problem in problems]


def template(call: str, rest: str = "") -> str:
    return f"tool_calls: {{layout: template, call: {call}{rest}}}\n"


def with_id(form: str, call: str = '"<c>{id}<with>{arguments}</c>"') -> str:
    return template(call, f", id: {{format: {form}}}")


def with_pattern(pattern: str) -> str:
    return f"{REGION}tool_calls: {{layout: json, keys: {{id: id}}, id: {{pattern: '{pattern}'}}}}\n"


WRONG = {
    "a call's opener begins another": (
        "tag_style: {reasoning: {start: <call>x, end: </r>}}\n" + template(CALL),
        ["TS802"],
        ["'<call>x' (tag_style.reasoning.start) begins with '<call>' (what tool_calls.call begins"],
    ),
    "a hidden marker swallows an opener": (
        'tag_style: {reasoning: {start: <r>, end: </r>}}\ntokens: {hidden: ["<r>!"]}\n',
        ["TS802"],
        ["tokens.hidden[0]"],
    ),
    "a closer begins another region's closer": (
        "tag_style: {reasoning: {start: <r>, end: </}, content: [{start: <c>, end: </c>}]}\n",
        ["TS802"],
        ["'</c>'"],
    ),
    "citations begin as a region does": (
        "tag_style: {reasoning: {start: <co, end: </r>}}\n"
        "citations: {markup: {open: '<co>', close: '</co: {positions}>'}}\n",
        ["TS802"],
        ["citations.markup.open"],
    ),
    "a closer inside of an opener": (
        "tag_style: {reasoning: {start: <r>, end: </r>}, content: [{start: '<a></r>'}]}\n",
        ["TS803"],
        ["'</r>' (tag_style.reasoning.end) stands inside of '<a></r>'"],
    ),
    "the turn's end inside of an opener": (
        "tokens: {turn_end: <end>}\n"
        "tag_style: {reasoning: {start: <r>, end: </r>}, content: [{start: '<end><answer>'}]}\n",
        ["TS803"],
        ["generation stops there"],
    ),
    "blanks that stand once": (
        'tag_style: {reasoning: {start: <r>, end: "</r>\\n\\n"}, content: [{start: "\\n<a>"}]}\n',
        ["TS803"],
        ["begins with blanks"],
    ),
    "reasoning that nothing ends": (
        "tag_style: {reasoning: {start: <r>}}\n",
        ["TS804"],
        ["no content can follow reasoning", "tag_style.reasoning.end"],
    ),
    "reasoning that ends the turn": (
        "tokens: {turn_end: </r>}\ntag_style: {reasoning: {start: <r>, end: </r>}}\n",
        ["TS804"],
        ["its closer ends the turn"],
    ),
    "reasoning that keeps every opener": (
        "tag_style:\n  reasoning: {start: <r>, on_opener: text}\n"
        "  content: [{start: <a>}]\n  tool_calls: {start: <calls>, end: </calls>}\n"
        "tool_calls: {layout: json}\n",
        ["TS804"],
        ["no content and tool calls can follow"],
    ),
    "reasoning from the start, and nothing else": (
        "initial_region: reasoning\n",
        ["TS804"],
        ["no marker ends it", "initial_region: content"],
    ),
    "an id of nothing": (with_pattern("[a-z]*"), ["TS805"], ["ask for a character"]),
    "an id that blows up": (with_pattern("(a|aa)+"), ["TS806"], ["may take very long"]),
    "an id that looks ahead": (with_pattern("(?=a)[a-z]+"), ["TS806", "TS807"], ["lookaround"]),
    "an id with anchors": (with_pattern("^[0-9]+$"), ["TS807"], ["without anchors"]),
    "citations that open as they close": (
        "citations: {markup: {open: <co>, close: '<co>{positions}>'}}\n",
        ["TS305"],
        ["one cited span"],
    ),
    "citations that close as a region does": (
        "tag_style: {reasoning: {start: <r>, end: </r>}}\n"
        "citations: {markup: {open: <co>, close: '</r>{positions}>'}}\n",
        ["TS307"],
        ["tag_style.reasoning.end already"],
    ),
    "a call that begins with its region's marker": (
        REGION + template('"<calls>call {name}: {arguments}</call>"'),
        ["TS307"],
        ["has '<calls>' in it, which is tag_style.tool_calls.start"],
    ),
    "a call that ends with its region's marker": (
        REGION + template('"<call>{name}: {arguments}</call></calls>"'),
        ["TS307"],
        ["has '</calls>' in it, which is tag_style.tool_calls.end"],
    ),
    "a document's id with another hole": (
        "citations: {markup: {open: <co>, close: '</co: {positions}>'}, "
        "key_map: {documents: {fallback_id: 'doc_{number}'}}}\n",
        ["TS316", "TS317"],
        ["'{number}' is no hole", "all documents have one id"],
    ),
    "an id whose name ends nowhere": (with_id("'{name}1{index}'"), ["TS323"], ["but digits"]),
    "an id with blanks at an edge": (with_id("'f {name}:{index} '"), ["TS323"], ["blanks around"]),
    "an id of two lines": (with_id('"f\\n{name}:{index}"'), ["TS323"], ["one line"]),
    "an id that holds what ends it": (
        with_id("'f.{name}<with>{index}'"),
        ["TS323"],
        ["'<with>' ends an id"],
    ),
    "an id that holds a marker": (
        "tokens: {hidden: [<x>]}\n" + with_id("'<x>{name}:{index}'"),
        ["TS323"],
        ["'<x>' ends an id"],
    ),
    "a pattern that no id is written by": (
        f"{REGION}tool_calls: {{layout: json, id: {{pattern: x}}}}\n",
        ["TS312"],
        ["tool_calls.keys.id"],
    ),
    "a pattern beside a format": (
        template('"<c>{id}<with>{arguments}</c>"', ", id: {pattern: x, format: '{name}:{index}'}"),
        ["TS312"],
        ["beside id.format"],
    ),
    "a pattern of ids in Python": (
        f"{REGION}tool_calls: {{layout: pythonic, id: {{pattern: x}}}}\n",
        ["TS312"],
        ["layout: pythonic"],
    ),
    "a pattern of ids that are only read": (
        template(
            '["<c>{name}: {arguments}</c>", "<c {id}>{name}: {arguments}</c>"]',
            ", id: {pattern: x}",
        ),
        ["TS312"],
        ["has no {id}"],
    ),
    "a policy of regions without any": (
        "tool_calls: {layout: json, unmarked: at-start, on_malformed: drop}\n",
        ["TS312"],
        ["where no marker opens calls"],
    ),
    "a header that is not hidden": (
        "tag_style: {reasoning: {start: <r>, end: </r>}}\n"
        "tokens: {hidden: [<h>, </h>], header: {start: [<h>, <r>], end: </h>}}\n",
        ["TS326"],
        ["tokens.header.start[1]"],
    ),
    "a header without an end": (
        "tokens: {hidden: [<h>], header: {start: <h>, end: </h>}}\n",
        ["TS326"],
        ["nothing ends the header"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "codes", "parts"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_what_to_do(
    tmp_path: Path, text: str, codes: list[str], parts: list[str]
) -> None:
    problems = told(tmp_path, text)
    assert [code for code, _ in problems] == codes
    assert [part for part in parts if not any(part in message for _, message in problems)] == []
    assert all("\n" not in message for _, message in problems)


RIGHT = {
    "markers that do the same": (
        "tag_style: {content: [{start: <a>, end: </a>}, {start: '<a>!', end: '</a>!'}]}\n"
    ),
    "a further spelling": (
        "tag_style: {reasoning: {start: <r>, end: </r>, also: [{start: <a, end: </r>}]}, "
        "content: [{start: <a>}]}\n"
    ),
    "a further form of a call": (
        "tag_style: {reasoning: {start: '<c>think', end: </r>}}\n"
        + template('["<call>{name}: {arguments}</call>", "<c>{name}: {arguments}</call>"]')
    ),
    "what is hidden begins and ends markers": (
        "tokens: {hidden: [<h>, <m>]}\ntag_style: {reasoning: {start: '<h>r<m>', end: </r>}}\n"
    ),
    "the turn's end at the end of a marker": (
        "tokens: {turn_end: <end>}\ntag_style: {content: [{start: <a>, end: '</a><end>'}]}\n"
    ),
    "an opener ends reasoning": ("tag_style: {reasoning: {start: <r>}, content: [{start: <a>}]}\n"),
    "calls end reasoning": "initial_region: reasoning\n" + template(CALL),
    "reasoning that may end the turn or not": (
        "tokens: {turn_end: </r>}\ntag_style: {reasoning: {start: <r>, end: </r>, "
        "also: [{start: <r>x, end: </r2>}]}}\n"
    ),
    "no calls after content": (
        "tag_style: {reasoning: {start: <r>, end: </r>}}\n"
        "tool_calls: {layout: json, unmarked: at-start}\n"
    ),
    "an id in one part": with_pattern("call_[A-Za-z0-9]{9,}"),
    "a format in JSON": (
        f"{REGION}tool_calls: {{layout: json, id: {{format: '{{name}}1{{index}}'}}}}\n"
    ),
    "a header between turn markers": (
        "tokens: {turn_start: <h>, turn_end: </h>, header: {start: <h>, end: </h>}}\n"
    ),
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_not_told(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == []


@settings(max_examples=60, deadline=None)
@given(
    form=st.tuples(
        st.sampled_from(["", "f.", "a b", "<x>", " "]),
        st.sampled_from([":", "_", "1", "-1", " ", "<with>"]),
        st.sampled_from(["", "!", "0", " ", "</c>"]),
    ),
    name=st.sampled_from(["get_time", "a-1", "b.c:2"]),
    index=st.sampled_from([0, 7, 110]),
)
def test_an_id_format_that_lint_takes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, form: tuple[str, str, str], name: str, index: int
) -> None:
    before, between, after = form
    file = tmp_path_factory.mktemp("ids") / "acme.yaml"
    file.write_text(
        HEAD + "tokens: {hidden: [<x>]}\n" + with_id(f"'{before}{{name}}{between}{{index}}{after}'")
    )
    result = load_families([file])
    for found in result.families:
        family = tagsmith.Family(found.spec)
        [call] = family.parse(write_call(found.spec, name, {}, index)).tool_calls
        assert (call.name, call.id) == (name, f"{before}{name}{between}{index}{after}")
    assert bool(result.families) != bool(result.errors)


QUICK = [
    "[0-9]+", "call_[a-z0-9]{24}", "(a|ab)*c", "[a-z]+[a-z0-9]+", r"\w+_\d+", "((a|b)+,)*", "a{,3}",
    "[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", "[]]+x", "(?P<x>a)b", "(?:ab)++", "[^a-z]*",
]  # fmt: skip
SLOW = [
    "(a+)+", "(a*)*b", "(a|a)*", "(a|b|ab)*c", "(x+x+)+y", "(a?){30}a{30}", "a?" * 20, "(.*)*",
    "[a-z]+[a-z0-9]+[a-z]+[a-z]*", r"(\w+\s?)*", "(é|[^a])*", "(?i)a", r"(a)\1", "((a{1,9}){1,9})b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", QUICK)
def test_patterns_that_are_quick(pattern: str) -> None:
    assert slow_reason(pattern) is None


@pytest.mark.parametrize("pattern", SLOW)
def test_patterns_that_may_be_slow(pattern: str) -> None:
    assert slow_reason(pattern) is not None


def test_long_patterns_are_looked_through_in_time() -> None:
    started = time.process_time()
    assert slow_reason("(" * 5000 + "a" + ")" * 5000) == "it is nested too deeply"
    assert "longer than" in str(slow_reason("[a-z]" * 1000))
    assert slow_reason("|".join(f"({c}[a-z]+)*" for c in "abcdefghijklmnopqrstuvwxyz")) is not None
    assert time.process_time() - started < 2


ATOMS = st.sampled_from(["a", "b", "[ab]", ".", "(?:ab)", "(?:a|b)", "(?:a|ab)"])
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{0,3}"])
PATTERNS = st.recursive(
    st.builds(str.__add__, ATOMS, REPEATS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.builds("(?:{}){}".format, inner, REPEATS),
        st.builds("(?:{}|{})".format, inner, inner),
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(pattern=PATTERNS)
def test_what_is_called_quick_is_quick(pattern: str) -> None:
    if slow_reason(pattern) is None:
        compiled = re.compile(pattern)
        started = time.process_time()
        for text in ("a" * 40, "ab" * 20, "b" * 40):
            compiled.fullmatch(text + "!")
        assert time.process_time() - started < 1


CASE = "- {{id: one, family: {}, text: Hi, content: Hi}}\n"


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({}, ["TS801"]),
        ({"acme.cases.yaml": CASE.format("acme")}, []),
        ({"all.cases.yml": CASE.format("other") + CASE.format("acme")}, []),
        ({"acme.cases.yaml": CASE.format("AcmeForCausalLM")}, []),
        ({"acme.cases.yaml": CASE.format("acme/one-x")}, []),
        ({"acme.cases.yaml": CASE.format("other")}, ["TS801"]),
        ({"acme.cases.yaml": "[: no yaml"}, ["TS801"]),
        ({"acme.cases.yaml": "family: acme\n"}, ["TS801"]),
        ({"cases.yaml.txt": CASE.format("acme")}, ["TS801"]),
    ],
)
def test_golden_cases_stand_beside_the_file(
    tmp_path: Path, files: dict[str, str], codes: list[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    match = "match: {architectures: [AcmeForCausalLM], models: ['acme/one-*']}\n"
    problems = told(tmp_path, match, ignore=[])
    assert [code for code, _ in problems] == codes
    assert all("acme.cases.yaml" in message for _, message in problems)


MODELS = {
    "taken in": ("'acme/*'", "'acme/one-*'", ["TS403", "TS403"]),
    "letter case": ("'Acme/*'", "'acme/One'", ["TS403", "TS403"]),
    "both open": ("'acme/a-*'", "'acme/*-b'", []),
    "one character": ("'acme/?'", "'acme/*'", ["TS403", "TS403"]),
    "one character is not any": ("'acme/a?'", "'acme/a*b'", []),
    "others": ("'acme/a*'", "'acme/b*'", []),
}


@pytest.mark.parametrize(("one", "two", "codes"), MODELS.values(), ids=MODELS)
def test_a_pattern_of_models_that_takes_in_another(
    tmp_path: Path, one: str, two: str, codes: list[str]
) -> None:
    (tmp_path / "two.yaml").write_text(f"tagsmith: 1\nid: two\nmatch: {{models: [{two}]}}\n")
    problems = told(tmp_path, f"match: {{models: [{one}]}}\n")
    assert [code for code, _ in problems] == codes
    relations = [message.split("' ")[1].split(" '")[0] for _, message in problems]
    assert sorted(relations) == sorted(["takes in", "is taken in by"][: len(codes)])


PROJECTS = {
    "no project": (None, []),
    "a project that depends on it": ('name = "mine"\ndependencies = ["Other_Base>=1"]', []),
    "the project itself": ('name = "other.base"', []),
    "a project that does not": ('name = "mine"\ndependencies = ["tagsmith"]', ["TS204"]),
    "an extra may be absent": (
        'name = "mine"\n[project.optional-dependencies]\nx = ["other-base"]',
        ["TS204"],
    ),
    "a project that is broken": ("name =", []),
}


@pytest.mark.parametrize(("project", "codes"), PROJECTS.values(), ids=PROJECTS)
def test_extending_a_family_of_another_package(
    project: str | None, codes: list[str], tmp_path: Path, install: Callable[..., Path]
) -> None:
    base = "tagsmith: 1\nid: other-base\n"
    install("other_base", "tagsmith.families", "other_base", __init____py="", base__yaml=base)
    mine = tmp_path / "mine" / "src"
    mine.mkdir(parents=True)
    if project is not None:
        (mine.parent / "pyproject.toml").write_text(f"[project]\n{project}\n")
    (mine / "a.yaml").write_text("tagsmith: 1\nid: a\nextends: other-base\n")
    (mine / "b.yaml").write_text("tagsmith: 1\nid: b\nextends: cohere-command-a\n")
    (mine / "c.yaml").write_text("tagsmith: 1\nid: c\nextends: a\n")
    plugins = load_plugins()
    report = lint([mine], installed_layers(plugins), ignore=["TS801"], plugins=plugins)
    assert [str(problem.code) for problem in report.problems] == codes
    assert all("'other_base' (other_base)" in problem.message for problem in report.problems)


def test_what_a_family_inherits_is_told_once_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("tagsmith: 1\nid: b\nextends: acme\n")
    (tmp_path / "c.yaml").write_text("tagsmith: 1\nid: c\nextends: b\n")
    assert [code for code, _ in told(tmp_path, "tag_style: {reasoning: {start: <r>}}\n")] == [
        "TS804"
    ]


def title_rule(subject: LintSubject) -> list[Finding]:
    if subject.spec.title is None:
        return [Finding("give it a title", subject.locate(["id"]))]
    return [Finding(f"'{subject.family.title}' is taken", subject.locate_key(["title"]))]


def failing_rule(subject: LintSubject) -> list[Finding]:
    raise ValueError(f"two\nlines of {subject.path}")


def test_rules_of_others_are_checked_beside_these(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tagsmith: 1\nid: a\n")
    (tmp_path / "b.yaml").write_text("tagsmith: 1\nid: b\ntitle: B\n")
    (tmp_path / "c.yaml").write_text("tagsmith: 1\nid: c\nnot: usable\n")
    rules = (*RULES, Rule("ACME001", "title", "A title.", title_rule))
    report = lint([tmp_path], ignore=["TS801", "TS101"], rules=rules)
    assert [(p.line, p.column, p.code, p.message) for p in report.problems] == [
        (2, 5, "ACME001", "give it a title"),
        (3, 1, "ACME001", "'B' is taken"),
    ]
    assert report.catalog["ACME001"].name == "title"


def test_a_rule_that_fails_is_told_and_the_others_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tagsmith: 1\nid: a\n")
    rules = (Rule("ACME002", "fails", "Fails.", failing_rule), *RULES)
    first, second = lint([tmp_path], rules=rules).problems
    assert (first.line, first.code, second.code) == (2, "TS801", "TS903")
    assert "ACME002 (fails) failed: ValueError: two lines of" in second.message


def test_a_library_that_a_rule_needs_is_named(tmp_path: Path) -> None:
    def needy(subject: LintSubject) -> list[Finding]:
        raise MissingDependencyError("needs acme: pip install acme")

    (tmp_path / "a.yaml").write_text("tagsmith: 1\nid: a\n")
    with pytest.raises(MissingDependencyError, match="pip install acme"):
        lint([tmp_path], rules=[Rule("ACME003", "needy", "Needs a library.", needy)])


PLUGIN = """\
import tagsmith
from tagsmith.lint.rules import Finding, Rule

def untitled(subject):
    if subject.spec.title is None:
        yield Finding("give it a title", subject.locate(["id"]))

@tagsmith.hookimpl
def tagsmith_lint_rules():
    return [Rule("ACME001", "untitled", "A family without a title.", untitled)]
"""


def test_the_command_checks_the_rules_of_plugins(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    install("acme_rules", "tagsmith", "acme_rules", __init____py=PLUGIN)
    file = tmp_path / "a.yaml"
    file.write_text("tagsmith: 1\nid: a\n")
    result = CliRunner().invoke(main, ["lint", str(file), "--select", "ACME"])
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{file}:2:5: ACME001 give it a title\n")
    file.write_text("tagsmith: 1\nid: a # tagsmith: ignore[ACME001, TS801]\n")
    assert CliRunner().invoke(main, ["lint", str(file)]).exit_code == 0


def test_a_newer_format_says_to_upgrade(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tagsmith: 2\nid: a\nnew: key\n")
    [problem] = lint([tmp_path]).problems
    assert (problem.code, problem.line, problem.column) == ("TS107", 1, 11)
    assert "newer version" in problem.message
    assert "pip install --upgrade tagsmith" in problem.message


@pytest.mark.skipif(os.name == "nt", reason="the built-in families are installed by path")
def test_the_rules_are_quick_enough_for_every_save() -> None:
    families = Path(__file__).parent.parent / "families"
    started = time.process_time()
    lint([families], ignore=["TS801"])
    assert time.process_time() - started < 3
