"""Lint: codes and their documentation, checks over several families, reports, the command."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result

from tagsmith.cli import main
from tagsmith.errors import FamilyFileError
from tagsmith.lint.builtin import RULES
from tagsmith.lint.catalog import catalog_of
from tagsmith.lint.probing import Probe, probe_rules
from tagsmith.lint.run import lint
from tagsmith.loading import Layers, load_families
from tagsmith.plugins import load_plugins
from tagsmith.registry import installed_layers
from tagsmith.spec.schema import DIALECT, family_schema, family_schema_text

ROOT = Path(__file__).parent.parent
FAMILIES = ROOT / "families"
FAMILY_FILES = sorted(f for f in FAMILIES.rglob("*.yaml") if ".cases." not in f.name)
SECTION = re.compile(r"^### (TS\d{3})\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall((ROOT / "docs" / "lint.md").read_text(encoding="utf-8")))
EXAMPLES = {code: EXAMPLE.findall(text) for code, text in SECTIONS.items() if "```yaml" in text}


def run_lint(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["lint", "--ignore", "TS801", *map(str, args)])


def write(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        (directory / f"{name}.yaml").write_text(text, encoding="utf-8")
    return directory


def family(name: str, rest: str = "") -> str:
    return f"tagsmith: 1\nid: {name}\n{rest}"


def problems_in(path: Path, layers: Layers | None = None) -> tuple[FamilyFileError, ...]:
    """What lint tells of files that have no golden cases beside them, but for that."""
    return lint([path], layers, ignore=["TS801"]).problems


def test_every_code_is_documented_with_a_mend() -> None:
    rules = (*RULES, *probe_rules(tuple(Probe), "tokenizer.json"))
    assert list(SECTIONS) == list(catalog_of(rules))
    assert [code for code, text in SECTIONS.items() if "\nMend: " not in text] == []


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_documented_example_gives_its_code(code: str, tmp_path: Path) -> None:
    for text in EXAMPLES[code]:
        named = re.match(r"# (\w+)\.yaml\n", text)
        write(tmp_path, **{named[1] if named else "family": text})
    ignored = [] if code == "TS801" else ["TS801"]
    probes = [Probe.MELODY] if code.startswith("TS6") else []
    problems = lint([tmp_path], ignore=ignored, probes=probes).problems
    assert code in {problem.code for problem in problems}
    # TS203 is about a family beside one that is itself broken.
    assert {problem.code for problem in problems} <= {code, "TS007" if code == "TS203" else code}


def test_codes_that_have_no_example_cannot_be_shown_as_text() -> None:
    # The first are about bytes, the others take a plug-in, xgrammar or a tokenizer.
    about_bytes = {"TS001", "TS002", "TS003", "TS004"}
    with_plugins = {"TS204", "TS325", "TS327", "TS903"}
    probed = {code for code in SECTIONS if code.startswith(("TS5", "TS7"))}
    assert set(SECTIONS) - set(EXAMPLES) == about_bytes | with_plugins | probed


CLAIM = "match: {{architectures: [A], models: [{}], tokens: [{}]}}\n"
TOLD_APART = {
    "models": (CLAIM.format("a", ""), CLAIM.format("b", "")),
    "models of one alone": (CLAIM.format("a", ""), CLAIM.format("", "")),
    "tokens": (CLAIM.format("", "<x>"), CLAIM.format("", "<y>")),
    "tokens of one alone": (CLAIM.format("a", "<x>"), CLAIM.format("a", "")),
    "nothing in common": ("match: {architectures: [A]}\n", "match: {architectures: [B]}\n"),
    "letter case of an architecture": (
        "match: {architectures: [A]}\n",
        "match: {architectures: [a]}\n",
    ),
    "no claims": ("", ""),
}


@pytest.mark.parametrize(("one", "two"), TOLD_APART.values(), ids=TOLD_APART)
def test_families_that_can_be_told_apart(tmp_path: Path, one: str, two: str) -> None:
    write(tmp_path, one=family("one", one), two=family("two", two))
    assert problems_in(tmp_path) == ()


CLASHING = {
    "architecture": ("match: {architectures: [B, A]}\n", "match: {architectures: [A]}\n", "TS402"),
    "architecture, same tokens": (
        "match: {architectures: [B, A], tokens: [x, y]}\n",
        "match: {architectures: [A], tokens: [y, x]}\n",
        "TS402",
    ),
    "models": ("match: {models: [b, 'X/*']}\n", "match: {models: ['x/*']}\n", "TS403"),
}


@pytest.mark.parametrize(("one", "two", "code"), CLASHING.values(), ids=CLASHING)
def test_families_that_cannot_be_told_apart_are_both_told(
    tmp_path: Path, one: str, two: str, code: str
) -> None:
    write(tmp_path, one=family("one", one), two=family("two", two))
    first, second = problems_in(tmp_path)
    places = [f"{tmp_path}/{name}.yaml:3:{{}}" for name in ("one", "two")]
    columns = [one.index("A]") if code == "TS402" else one.index("'X"), two.index("[") + 1]
    starts = [place.format(column + 1) for place, column in zip(places, columns, strict=True)]
    assert str(first).startswith(f"{starts[0]}: {code} ")
    assert str(second).startswith(f"{starts[1]}: {code} ")
    assert "'two'" in first.message
    assert starts[1] in first.message
    assert "'one'" in second.message
    assert starts[0] in second.message


BROKEN = {
    "an unknown key": "titel: x\n",
    "a key twice": "title: a\ntitle: b\n",
    "an unknown family to extend": "extends: nothing-like-it\n",
    "a broken family to extend": "extends: base.yaml\n",
    "a wrong value": "engine: other\n",
}


@pytest.mark.parametrize("fault", BROKEN.values(), ids=BROKEN)
def test_clashes_are_told_beside_other_faults(tmp_path: Path, fault: str) -> None:
    match = "match: {architectures: [A], models: [m]}\n"
    write(
        tmp_path,
        one=family("one", match + fault),
        two=family("two", match),
        twice=family("two", fault),
        base="- broken\n",
    )
    told = {(Path(p.file).stem, str(p.code)) for p in problems_in(tmp_path)}
    clashes = {("one", "TS402"), ("one", "TS403"), ("two", "TS402"), ("two", "TS403")}
    assert clashes | {("two", "TS401"), ("twice", "TS401")} <= told
    assert {code for name, code in told if name == "one"} > {"TS402", "TS403"}


@pytest.mark.parametrize("match", ["{architectures: A}", "{architectures: [A], model: x}", "3"])
def test_a_match_that_cannot_be_read_claims_nothing(tmp_path: Path, match: str) -> None:
    write(tmp_path, one=family("one", f"match: {match}\n"))
    write(tmp_path, two=family("two", "match: {architectures: [A]}\n"))
    assert {Path(problem.file).stem for problem in problems_in(tmp_path)} == {"one"}


def test_a_clash_with_an_installed_family_is_told_in_the_linted_file(tmp_path: Path) -> None:
    claim = "match:\n  architectures: [Cohere2MoeForCausalLM]\n  models: ['CohereLabs/north-*']\n"
    write(tmp_path, mine=family("mine", claim))
    problems = problems_in(tmp_path, installed_layers(load_plugins()))
    assert [(p.file, p.code) for p in problems] == [
        (str(tmp_path / "mine.yaml"), "TS402"),
        (str(tmp_path / "mine.yaml"), "TS403"),
    ]
    assert "'cohere-north'" in problems[0].message


def test_one_id_twice_is_told_in_both_files(tmp_path: Path) -> None:
    write(tmp_path, one=family("one"), two=family("one"))
    first, second = problems_in(tmp_path)
    assert (first.line, first.column, first.code) == (2, 5, "TS401")
    assert str(tmp_path / "two.yaml") in first.message
    assert str(tmp_path / "one.yaml") in second.message


def test_built_in_families_are_clean_beside_their_installed_selves(tmp_path: Path) -> None:
    shutil.copytree(FAMILIES, tmp_path / "copy")
    for directory in (FAMILIES, tmp_path / "copy"):
        result = run_lint(directory)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"{len(FAMILY_FILES)} files, no problems\n"


def test_a_linted_family_extends_an_installed_one(tmp_path: Path) -> None:
    write(tmp_path, mine=family("mine", "extends: cohere-command-a\n"))
    assert run_lint(tmp_path).exit_code == 0
    write(tmp_path, mine=family("mine", "extends: cohere-comand-a\n"))
    assert "nearest: cohere-command-a" in run_lint(tmp_path).stdout


def test_problems_come_sorted_one_to_a_line_with_exit_code_1(tmp_path: Path) -> None:
    write(tmp_path, b=family("b", "x: 1\ntitle: 1\n"), a="- a\n")
    result = run_lint(tmp_path / "b.yaml", tmp_path)
    lines = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert result.exit_code == 1
    assert [line.split(" ")[:2] for line in lines[:-1]] == [
        [f"{tmp_path}/a.yaml:1:1:", "TS007"],
        [f"{tmp_path}/b.yaml:3:1:", "TS101"],
        [f"{tmp_path}/b.yaml:4:8:", "TS103"],
    ]
    assert lines[-1] == "2 files, 3 problems"


def test_problems_as_json(tmp_path: Path) -> None:
    file = write(tmp_path, b=family("b", "titel: 1\n")) / "b.yaml"
    result = run_lint(file, "--format", "json")
    report = json.loads(result.stdout)
    message = report["problems"][0].pop("message")
    assert result.exit_code == 1
    assert report == {
        "files": 1,
        "problems": [
            {"file": str(file), "line": 3, "column": 1, "code": "TS101", "name": "unknown-key"}
        ],
    }
    assert "did you mean 'title'" in message


def test_a_family_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, base=family("base")))
    text = family("mine", "extends: base.yaml\ntitel: x\n")
    result = CliRunner().invoke(main, ["lint", "-"], input=text)
    assert result.exit_code == 1
    assert result.stdout.startswith("-:4:1: TS101 unknown key 'titel'")
    assert result.stdout.endswith("\n1 file, 1 problem\n")


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ([], "PATH"),
        (["no-such-file.yaml"], "no such file or directory"),
        (["."], "no family file"),
        (["x" * 100_000], f"{'x' * 200}"),
        (["--format", "xml", "."], "'text', 'json', 'github', 'sarif'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    args: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_lint(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_schema_file_is_current() -> None:
    written = (ROOT / "schemas" / "family.schema.json").read_text(encoding="utf-8")
    assert written == family_schema_text()
    assert CliRunner().invoke(main, ["schema", "family"]).stdout == written


@pytest.fixture(scope="module")
def checker() -> jsonschema.Draft202012Validator:
    schema = family_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("file", FAMILY_FILES, ids=lambda file: file.name)
def test_built_in_families_are_of_the_schema(
    file: Path, checker: jsonschema.Draft202012Validator
) -> None:
    checker.validate(yaml.safe_load(file.read_text(encoding="utf-8")))


PIECES = {
    "an unknown key": (family("a", "titel: x\n"), False),
    "an unknown key below": (family("a", "tokens: {x: 1}\n"), False),
    "a number for text": (family("a", "title: 1\n"), False),
    "another value": (family("a", "initial_region: other\n"), False),
    "a key missing": (family("a", "tag_style: {reasoning: {end: a}}\n"), False),
    "a key missing deeper": (
        family("a", "citations: {markup: {open: a}, key_map: {}}\n"),
        False,
    ),
    "a key missing in a list": (family("a", "tag_style: {content: [{end: a}]}\n"), False),
    "a list without its keys, inherited": (
        family("a", "extends: b\ntag_style: {content: [{end: a}]}\n"),
        False,
    ),
    "an id as a path": (family("a.yaml"), False),
    "an id too long": (family("a" * 65), False),
    "the longest id": (family("a" * 64), True),
    "a key inherited": (family("a", "extends: b\ntag_style: {reasoning: {start: a}}\n"), True),
    "null": (family("a", "melody: null\n"), True),
    "a region without an end": (family("a", "tag_style: {reasoning: {start: a}}\n"), True),
    "one text for a list": (family("a", "tokens: {turn_end: a}\n"), True),
    "a list of no texts": (family("a", "tokens: {turn_end: []}\n"), False),
    "neither text nor list": (family("a", "tokens: {turn_end: {a: b}}\n"), False),
    "a key below a text": (family("a", "tool_calls: {layout: json, keys: {othr: a}}\n"), False),
}


@pytest.mark.parametrize(("text", "valid"), PIECES.values(), ids=PIECES)
def test_the_schema_asks_what_lint_asks(
    text: str, valid: bool, checker: jsonschema.Draft202012Validator, tmp_path: Path
) -> None:
    base = family("b", "tag_style: {reasoning: {start: x, end: y}}\n")
    assert checker.is_valid(yaml.safe_load(text)) is valid
    assert (load_families([write(tmp_path, a=text, b=base)]).errors == ()) is valid


def test_the_schema_explains_itself_and_needs_no_address() -> None:
    text = family_schema_text()
    schema = family_schema()
    assert schema["$schema"] == DIALECT
    assert '"$id"' not in text
    parts = [schema, *schema["$defs"].values()]
    mappings = [part for part in parts if part.get("type") == "object"]
    assert all(part["additionalProperties"] is False for part in mappings)
    assert all(part.get("description") for part in parts)
    properties = [value for part in mappings for value in part["properties"].values()]
    # A property that is described as its definition is has the description there.
    assert all(value.get("description") or "$ref" in value for value in properties)


def test_the_hook_of_pre_commit_checks_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *args = [*hook["entry"].split(), *hook["args"]]
    assert (program, hook["pass_filenames"]) == ("tagsmith", False)
    (tmp_path / "families").mkdir()
    write(tmp_path / "families", a=family("a", "titel: x\n"))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 1
    assert result.stdout.startswith("families/a.yaml:3:1: TS101")
