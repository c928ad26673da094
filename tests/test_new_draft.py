"""`tagsmith new --from-template`: a draft made from what a chat template writes.

The templates in data/chat_templates are written for these tests, in the shapes of public models.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tagsmith.authoring import (
    Draft,
    TemplateFile,
    bounded_render,
    draft_family,
    package_from,
    read_template,
    write_package,
)
from tagsmith.authoring.bounded_render import Prompt, Wanted, render_bounded
from tagsmith.authoring.render_worker import first_rendered
from tagsmith.cli import main
from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.lint.run import lint
from tagsmith.loading import load_families
from tagsmith.plugins import load_plugins
from tagsmith.registry import default_registry, installed_layers, load_registry
from tagsmith.spec.models import FamilySpec
from tagsmith.testing import Case, load_cases
from tagsmith.testing.differences import message_differences

HERE = Path(__file__).parent
TEMPLATES = HERE / "data" / "chat_templates"
SHORT = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "cohere-north",
}
"""What the cases of Cohere's families call them."""
FILES = [HERE / "cases" / "cohere.yaml", *(HERE.parent / "families").rglob("*.cases.yaml")]


@dataclass(frozen=True)
class Model:
    """What is known of a model, and how much of its family's format its template shows."""

    reads: float = 1.0
    """The share of the golden cases of its family that a draft must read at least."""
    roles: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    differs: Mapping[str, Any] = field(default_factory=dict)
    """Where the draft says something else than the family of the model."""


DEEPSEEK = {"eos_token": "<｜end▁of▁sentence｜>", "bos_token": "<｜begin▁of▁sentence｜>"}
MISTRAL = {"eos_token": "</s>", "bos_token": "<s>"}
MODELS = {
    "hermes": Model(0.9),
    "qwen3": Model(),
    "qwen3-thinking": Model(),
    "qwen3-coder": Model(0.9),
    "qwen3.5": Model(),
    "seed-oss": Model(0.8),
    "mistral": Model(roles=MISTRAL),
    "mistral-v11": Model(0.6, MISTRAL),
    "llama-3": Model(0.6, differs={"tag_style.tool_calls.start": None}),
    "llama-4": Model(
        0.7, differs={"tag_style.tool_calls.start": None, "tag_style.tool_calls.end": None}
    ),
    "llama-4-json": Model(0.6, differs={"tool_calls.unmarked": "never"}),
    "kimi-k2": Model(0.8),
    "deepseek-r1": Model(0.8, DEEPSEEK),
    "deepseek-v3": Model(
        0.8, DEEPSEEK, differs={"tag_style.reasoning.start": None, "tag_style.reasoning.end": None}
    ),
    "deepseek-v3.1": Model(0.9, DEEPSEEK),
    "glm-4.5": Model(0.8),
    "glm-4.7": Model(0.8),
    "cohere-command-a": Model(0.6, differs={"tool_calls.id.pattern": "[0-9]+"}),
    "cohere-north": Model(0.8),
    "cohere-command-r": Model(0.7),
    "gemma-4": Model(0.8),
    "minimax-m2": Model(tokens=("]~!b[", "]~b]", "[e~[")),
    "granite-4": Model(0.9),
    "exaone-4": Model(0.9),
    "jamba": Model(0.9),
}
"""gpt-oss writes calls in forms that its template shows one of: see the test of its own."""
SAME = (
    "initial_region",
    "tag_style.reasoning.start",
    "tag_style.reasoning.end",
    "tag_style.tool_calls.start",
    "tag_style.tool_calls.end",
    "tool_calls.layout",
    "tool_calls.unmarked",
    "tool_calls.keys.id",
    "tool_calls.arguments.encoding",
    "tool_calls.id.format",
)
"""What a draft says as the family does, but where its template shows something else."""


def here(template: str, wanted: Wanted) -> dict[str, Prompt]:
    """What renders in this process: the templates of these tests end."""
    made = {name: first_rendered(template, list(ways)) for name, ways in wanted.items()}
    return {name: Prompt(one.get("text"), one.get("error", "")) for name, one in made.items()}


def drafted(name: str) -> Draft:
    model = MODELS.get(name, Model())
    text = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")
    tokens = (*model.roles.values(), *model.tokens)
    template = TemplateFile(text, f"{name}.jinja", model.roles, tokens)
    return draft_family(template, "my-family", "My Family", render=here)


def draft_of(template: str, **known: Any) -> Draft:
    return draft_family(TemplateFile(template, "t.jinja", **known), "x", "X", render=here)


def family_of(draft: Draft) -> Family:
    return Family(FamilySpec.model_validate(dict(draft.values)))


def said(spec: Any, path: str) -> Any:
    for key in path.split("."):
        spec = None if spec is None else getattr(spec, key)
    return spec


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    """The golden cases of each family."""
    found: dict[str, list[Case]] = {}
    for file in FILES:
        for case in load_cases(file, families=SHORT):
            found.setdefault(case.family, []).append(case)
    return found


def is_read(family: Family, case: Case) -> bool:
    message = family.parse(case.text, finish_reason=case.finish_reason, **case.request)
    return not list(message_differences(case, message))


@pytest.mark.heavy
@pytest.mark.parametrize("name", MODELS)
def test_the_draft_is_whole_and_reads_what_the_family_reads(
    name: str, cases: dict[str, list[Case]]
) -> None:
    draft, model = drafted(name), MODELS[name]
    assert draft.missing == ()
    family, built_in = family_of(draft), default_registry().get(name)
    read = [case for case in cases[name] if is_read(family, case)]
    assert len(read) >= model.reads * len(cases[name])
    for path in SAME:
        expected = model.differs.get(path, said(built_in.spec, path))
        assert said(family.spec, path) == expected, path


def test_every_template_is_tried() -> None:
    assert {path.stem for path in TEMPLATES.glob("*.jinja")} == {*MODELS, "gpt-oss"}


def test_a_dialect_that_its_template_shows_in_part() -> None:
    draft = draft_of((TEMPLATES / "gpt-oss.jinja").read_text(), roles={"eos_token": "<|return|>"})
    assert draft.missing == ()
    values = draft.values
    assert values["tag_style"] == {
        "reasoning": {"start": "<|channel|>analysis<|message|>", "end": "<|end|>"},
        "content": [{"start": "<|channel|>final<|message|>", "end": "<|end|>"}],
    }
    assert values["tool_calls"]["call"] == (
        "<|start|>assistant to=functions.{name}<|channel|>commentary json<|message|>"
        "{arguments}<|call|>"
    )
    assert values["tokens"]["turn_end"] == ["<|return|>", "<|call|>"]


def test_every_guess_has_a_comment_and_some_are_unsure() -> None:
    lines = drafted("kimi-k2").text.splitlines()
    above = {line.strip(): before.strip() for before, line in pairwise(lines)}
    assert above['id: {format: "functions.{name}:{index}"}'] == (
        "# unsure: a call has no name of its own, so that its id must carry it; write how"
    )
    assert above["reasoning: {start: <think>, end: </think>}"] == "# around a thought"


CHAT = """
{%- for message in messages %}<|{{ message.role }}|>{{ message.content }}
{%- for call in message.tool_calls or [] %}CALL{% endfor %}<|end|>{% endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""
"""A chat whose calls are to be put in."""


def calls(form: str) -> str:
    return CHAT.replace("CALL", form)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            '<c>{"name": "{{ call.function.name }}", "arguments": '
            "{{ call.function.arguments | tojson | tojson }}}</c>",
            {"layout": "json", "container": "object"},
        ),
        (
            '<c>{"id": "{{ call.id }}", "fn": "{{ call.function.name }}", "args": '
            "{{ call.function.arguments | tojson }}}</c>",
            {"keys": {"id": "id", "name": "fn", "arguments": "args"}},
        ),
        (
            "<c n={{ call.function.name }}>{% for k, v in call.function.arguments | items %}"
            "<p {{ k }}>{{ v | tojson }}</p>{% endfor %}</c>",
            {
                "call": "<c n={name}>{arguments}</c>",
                "arguments": {
                    "encoding": "tagged",
                    "parameter": "<p {key}>{value}</p>",
                    "values": {"string": "json"},
                },
            },
        ),
        (
            "<c n={{ call.function.name }}>{% for k, v in call.function.arguments | items %}"
            "<p {{ k }} string={{ 'yes' if v is string else 'no' }}>{{ v }}</p>{% endfor %}</c>",
            {
                "arguments": {
                    "encoding": "tagged",
                    "parameter": "<p {key} string={type}>{value}</p>",
                    "types": {"string": "yes", "other": ["no"]},
                },
            },
        ),
        (
            "<c>{{ call.id }}<n>{{ call.function.name }}<a>"
            "{{ call.function.arguments | tojson }}</c>",
            {"call": "<c>{id}<n>{name}<a>{arguments}</c>", "arguments": {"encoding": "json"}},
        ),
        (
            "<c>[{{ call.function.name }}({% for k, v in call.function.arguments | items %}"
            "{{ k }}={{ v | tojson }}{{ '' if loop.last else ', ' }}{% endfor %})]</c>",
            {"layout": "pythonic"},
        ),
    ],
)
def test_forms_of_calls(form: str, expected: dict[str, Any]) -> None:
    draft = draft_of(calls(form))
    assert draft.missing == ()
    found = draft.values["tool_calls"]
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("template", "what"),
    [
        (calls(""), "tool_calls: the template shows none (it leaves them out of its prompts)"),
        (
            calls("{{ raise_exception('no tools here') }}"),
            "tool_calls: the template shows none (line 3: no tools here)",
        ),
        (
            calls('<c>{"function": {{ call.function | tojson }}}</c>'),
            "tool_calls: they are written as",
        ),
        (
            calls("").replace("<|end|>", "{{ eos_token }}"),
            "tokens.turn_end: the template names it, and tokenizer_config.json says which it is",
        ),
    ],
)
def test_what_is_missing_is_said(template: str, what: str) -> None:
    draft = draft_of(template)
    assert any(told.startswith(what) for told in draft.missing), draft.missing
    for told in draft.missing:
        assert f"# Missing: {told}" in draft.text


def test_a_turn_that_is_read_otherwise_is_missing() -> None:
    template = calls(
        '<c>{"name": "{{ call.function.name }}", "arguments": '
        "{{ call.function.arguments | tojson }}}{{ ' more' if call.function.arguments | "
        "length == 2 }}</c>"
    )
    [told] = draft_of(template).missing
    assert "a call with two arguments" in told


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("", "it leaves out what the user says"),
        ("hello", "it leaves out what the user says"),
        ("{{", "line 1: unexpected"),
        ("\n{% if %}", "line 2: "),
        ("{{ 1 / 0 }}", "line 1: division by zero"),
        ("{{ messages.__class__.__mro__ }}", "line 1: access to attribute '__class__'"),
        ("{{ cycler.__init__.__globals__.os }}", "line 1: access to attribute"),
        ("{{ ''.__class__ }}", "it leaves out what the user says"),
        ("{% set x = messages.append(1) %}", "line 1: access to attribute 'append'"),
        ("{% for i in range(1000000) %}{% endfor %}", "line 1: Range too big"),
        ("{{ 'a' * 200000 }}", "writes more than 100000 characters"),
        ("{{ cycler }}{% include 'x' %}", "line 1: "),
        ("{{ raise_exception('never') }}", "line 1: never"),
    ],
)
def test_a_hostile_template_ends_with_an_error(template: str, why: str) -> None:
    with pytest.raises(RequestError, match="chat_template: makes no prompt of a question") as told:
        draft_of(template)
    assert why in str(told.value)
    assert "\n" not in str(told.value)


LONG = {
    "text": "'a' * 90000",
    "blanks": "' ' * 90000 ~ 'a'",
    "words": "'a ' * 45000",
    "tags": "'<think>' * 12000",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_prompt_makes_a_short_draft(text: str) -> None:
    turns = "{% for m in messages %}{{ m.role }}:{{ m.content }}\n{% endfor %}"
    draft = draft_of(f"{turns}{{{{ {text} }}}}")
    assert draft.missing
    assert len(draft.text) < 4000


def test_a_module_beside_the_template_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the directory of a model that was downloaded."""
    for module in ("json", "jinja2"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    assert render_bounded("x", {"one": [{"messages": []}]}) == {"one": Prompt("x")}


@pytest.mark.heavy
def test_memory_is_bounded() -> None:
    made = render_bounded(
        "{{ 'a' * 10000000000 }}", {"one": [{"messages": []}], "two": [{"messages": []}]}
    )
    assert made["one"] == made["two"] == Prompt(None, "line 1: MemoryError")


@pytest.mark.heavy
def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_render, "SECONDS", 3)
    loops = "{% for i in range(90000) %}" * 3 + "{% endfor %}" * 3
    with pytest.raises(RequestError, match="takes longer than 3 seconds"):
        render_bounded(loops, {"one": [{}]})


def test_a_template_is_rendered_by_itself_as_in_this_process() -> None:
    text = (TEMPLATES / "qwen3.jinja").read_text()
    template = TemplateFile(text, "qwen3.jinja")
    assert draft_family(template, "x", "X") == draft_family(template, "x", "X", render=here)


def config(**values: Any) -> str:
    return json.dumps({"eos_token": {"content": "<|end|>"}, **values})


ALONE = "{% for m in messages %}<u>{{ m.content }}{% endfor %}{{ eos_token }}"


@pytest.mark.parametrize(
    ("files", "named", "expected"),
    [
        ({"chat_template.jinja": ALONE}, "chat_template.jinja", {}),
        ({"chat_template.jinja": ALONE}, "", {}),
        ({"any.txt": ALONE}, "any.txt", {}),
        ({"tokenizer_config.json": config(chat_template=ALONE)}, "", {"eos_token": "<|end|>"}),
        (
            {"tokenizer_config.json": config(), "chat_template.jinja": ALONE},
            "tokenizer_config.json",
            {"eos_token": "<|end|>"},
        ),
        (
            {"tokenizer_config.json": config(), "chat_template.jinja": ALONE},
            "chat_template.jinja",
            {"eos_token": "<|end|>"},
        ),
        (
            {
                "tokenizer_config.json": config(),
                "chat_template.json": json.dumps({"chat_template": ALONE}),
            },
            "",
            {"eos_token": "<|end|>"},
        ),
        (
            {
                "tokenizer_config.json": config(
                    chat_template=[
                        {"name": "default", "template": "x"},
                        {"name": "tool_use", "template": ALONE},
                    ]
                )
            },
            "tokenizer_config.json",
            {"eos_token": "<|end|>"},
        ),
    ],
)
def test_where_a_template_may_stand(
    files: dict[str, str], named: str, expected: dict[str, str], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = read_template(tmp_path / named if named else tmp_path)
    assert (found.text, found.roles) == (ALONE, expected)


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("tokenizer_config.json", b"{", "is no JSON"),
        ("tokenizer_config.json", b"[]", "must hold a JSON object, not list"),
        ("tokenizer_config.json", b"[" * 100_000, "is no JSON (nested too deeply)"),
        ("tokenizer_config.json", b"{}", "has no chat_template, and no chat_template.jinja"),
        ("tokenizer_config.json", b'{"chat_template": 5}', "must be text or a list, not int"),
        ("tokenizer_config.json", b'{"chat_template": [5]}', "is named tool_use or default"),
        (
            "tokenizer_config.json",
            b'{"chat_template": [{"name": ["default"], "template": "x"}]}',
            "is named tool_use or default",
        ),
        ("chat_template.jinja", b"\xff\xfe", "is no UTF-8 text (byte 0)"),
        ("chat_template.jinja", None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_file_that_is_none_is_told_in_one_line(
    name: str, data: bytes | None, what: str, tmp_path: Path
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = run("--from-template", str(tmp_path / name))
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert what in done.stderr


def run(*args: str, **options: Any) -> Result:
    return CliRunner().invoke(main, ["new", *args], **options)


@pytest.mark.heavy
def test_the_command_prints_a_draft_that_lints_clean(tmp_path: Path) -> None:
    file, template = tmp_path / "my_family.yaml", TEMPLATES / "qwen3-coder.jinja"
    done = run("--from-template", str(template), "--output", str(file))
    assert (done.exit_code, done.output) == (0, "")
    assert lint([file], ignore=["TS801"]).problems == ()
    assert load_families([file]).families[0].spec.id == "my-family"
    again = run("--from-template", str(template), "--output", str(file))
    assert (again.exit_code, again.stderr.count("\n")) == (2, 1)
    printed = run("--from-template", "-", input=template.read_text())
    assert printed.stdout.splitlines()[4:] == file.read_text().splitlines()[4:]


def test_the_command_says_what_is_missing_and_writes_the_draft() -> None:
    done = run("--from-template", "-", input=calls(""))
    assert done.exit_code == 1
    assert done.stderr.startswith("tagsmith: missing: tool_calls: ")
    assert "tagsmith: 1\nid: my-family\n" in done.stdout


def test_a_package_of_a_draft_lints_and_passes(tmp_path: Path) -> None:
    text = (TEMPLATES / "minimax-m2.jinja").read_text()
    template = TemplateFile(text, "t.jinja", {}, MODELS["minimax-m2"].tokens)
    package, draft = package_from("my-family", template, default_registry(), render=here)
    write_package(package, tmp_path / "package")
    assert draft.missing == ()
    assert lint([tmp_path], installed_layers(load_plugins())).problems == ()
    family = load_registry([tmp_path]).get("MyFamilyForCausalLM")
    [file] = tmp_path.rglob("*.cases.yaml")
    found = load_cases(file)
    assert len(found) > 4
    assert all(is_read(family, case) for case in found)
