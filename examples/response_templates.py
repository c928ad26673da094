"""Writes the tables of docs/convert.md anew: what transformers reads of the golden texts, by the
response template that each family becomes, and what is lost where it reads something else.

    python examples/response_templates.py

A table stands between `<!-- table: families -->`, or `keys`, and `<!-- end -->`. The columns of
vLLM and SGLang stay as they are: the tests in their own environments hold them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tagsmith.convert import to_response_template
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.registry import default_registry
from tagsmith.testing import Case, load_cases

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "convert.md"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SERVED = re.compile(r"^\| `([^`]+)` \| [^|]+ \| [^|]+ \| (\d+) \| (\d+) \|", re.MULTILINE)
SHORT = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "cohere-north",
}
"""What the cases of Cohere's families call them."""

Read = tuple[str | None, str | None, list[tuple[str, Any]]]
"""Reasoning, content, and of each call its name and arguments."""


@cache
def differences() -> Mapping[str, Mapping[str, list[str]]]:
    """The texts that come out otherwise, of each family, under the key of what is lost."""
    file = ROOT / "tests" / "data" / "response_template_differences.yaml"
    return dict(yaml.safe_load(file.read_text("utf-8")))


@cache
def golden_texts() -> Mapping[str, list[Case]]:
    """The golden cases of each family."""
    cases: dict[str, list[Case]] = {name: [] for name in default_registry().ids()}
    files = [ROOT / "tests" / "cases" / "cohere.yaml", *sorted((ROOT / "families").rglob("*.yaml"))]
    for file in files:
        if file.parent.name == "cases" or file.name.endswith(".cases.yaml"):
            for case in load_cases(file, families=SHORT):
                cases.setdefault(case.family, []).append(case)
    return cases


def read_by_tagsmith(case: Case, family: Family) -> tuple[Message, Read]:
    """The message, and what of it others can say too."""
    message = family.parse(case.text, finish_reason=case.finish_reason, **case.request)
    calls = [(call.name, value_of(call.arguments)) for call in message.tool_calls]
    return message, (message.reasoning, message.content, calls)


def value_of(arguments: str) -> Any:
    """Arguments as a value; those that are cut off stay text."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def chat_tools(case: Case) -> list[dict[str, Any]]:
    """The tools of a case in the shape of Chat Completions."""
    return [{"type": "function", "function": t.get("function", t)} for t in case.tools or ()]


def read_by_transformers(case: Case, template: dict[str, Any]) -> Read | str:
    """What transformers makes of the text, or why it makes nothing."""
    from transformers.utils.chat_parsing import parse_response

    prefix, tools = case.prompt or "", chat_tools(case)
    try:
        return said_by_transformers(parse_response(case.text, template, prefix=prefix, tools=tools))
    except (ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"


def said_by_transformers(message: Mapping[str, Any]) -> Read:
    """A message of transformers."""
    functions = [call["function"] for call in message.get("tool_calls", ())]
    calls = [(function["name"], function["arguments"]) for function in functions]
    return message.get("reasoning_content"), message.get("content"), calls


@dataclass(frozen=True)
class Result:
    """How the golden texts of a family come out."""

    name: str
    same: int
    """Of those that follow the format."""
    other: tuple[str, ...]
    """Those of them that come out otherwise."""
    same_of_all: int
    all: int


@cache
def result(name: str) -> Result:
    """How they come out in transformers."""
    family = default_registry().get(name)
    template = to_response_template(family.spec).template
    same, same_of_all, other = 0, 0, []
    for case in golden_texts()[name]:
        message, expected = read_by_tagsmith(case, family)
        is_same = read_by_transformers(case, template) == expected
        same_of_all += is_same
        if not message.diagnostics:
            same += is_same
            other += [] if is_same else [case.id]
    return Result(name, same, tuple(other), same_of_all, len(golden_texts()[name]))


def served(name: str, read: Callable[[Case, dict[str, Any]], Read]) -> int:
    """Of how many texts that follow the format a serving engine's reader makes the same."""
    family = default_registry().get(name)
    template = to_response_template(family.spec, reader="serving").template
    same = 0
    for case in golden_texts()[name]:
        message, expected = read_by_tagsmith(case, family)
        same += not message.diagnostics and read(case, template) == expected
    return same


def told_of_serving(page: str) -> dict[str, tuple[int, int]]:
    """What the page says of each family in vLLM and SGLang."""
    return {name: (int(vllm), int(sglang)) for name, vllm, sglang in SERVED.findall(page)}


def families_table(page: str) -> Iterator[str]:
    yield "| family | follow the format | of all | vLLM | SGLang | what is lost in the others |"
    yield "|---|---|---|---|---|---|"
    told = told_of_serving(page)
    for name in golden_texts():
        found = result(name)
        keys = ", ".join(f"`{key}`" for key in differences().get(name, ())) or "nothing"
        texts = f"{found.same} of {found.same + len(found.other)}"
        vllm, sglang = told.get(name, (0, 0))
        of_all = f"{found.same_of_all} of {found.all}"
        yield f"| `{name}` | {texts} | {of_all} | {vllm} | {sglang} | {keys} |"


def keys_table() -> Iterator[str]:
    yield "| key | what is lost | families |"
    yield "|---|---|---|"
    keys = sorted({key for lost in differences().values() for key in lost})
    for key in keys:
        names = [name for name in golden_texts() if key in differences().get(name, ())]
        losses = [
            loss.what
            for name in names
            for loss in to_response_template(default_registry().get(name).spec).losses
            if loss.key == key
        ]
        what = "; or: ".join(dict.fromkeys(losses))
        yield f"| `{key}` | {what} | {', '.join(f'`{name}`' for name in names)} |"


def refreshed(page: str) -> str:
    """The page with its tables as transformers reads the texts now."""
    tables = {"families": "\n".join(families_table(page)), "keys": "\n".join(keys_table())}
    return TABLE.sub(lambda found: f"{found[1]}\n{tables[found[2]]}\n\n{found[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text("utf-8")), "utf-8")
