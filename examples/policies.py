"""Prints docs/policies.md: each policy of the family format, its values, and what each does.

python examples/policies.py > docs/policies.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reference import Key, all_keys

import tagsmith
from tagsmith.authoring.family_yaml import write_family
from tagsmith.testing.writing import write_call

HEAD = """\
# Policies

A policy says what becomes of something that could be treated in more ways than one. Each is a key
of the family file ([family-format.md](family-format.md)) with a few named values, never true or
false. Below stands what each value makes of an output, in a family that extends a built-in one and
says nothing else.

`python examples/policies.py` makes this page."""

GOES_ON = ("whitespace.", "tool_calls.arguments.values.")
"""Where the meaning of a key goes on from that of the mapping that it is in."""
NO_POLICY = {"melody.preset", "tool_calls.layout"}
"""Named values that say what a family is like."""
TOOL = {
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    },
}


@dataclass(frozen=True)
class Example:
    """An output that the values of a policy treat differently."""

    family: str
    """Which built-in family it is an output of."""
    output: str = ""
    """Without one, it is shown how a call is written."""
    options: Mapping[str, Any] = field(default_factory=dict)
    asked: str = ""
    """What the options are, in words."""


WITH_TOOL = {"tools": [TOOL]}
ONE_TOOL = ", asked with the tool `weather` (`city`, a string, and `days`, an integer)"
HERMES = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
CUT_OFF = '<tool_call>{"name": "weather", "arguments": {"city": "Pa'


def tagged(*parameters: tuple[str, str]) -> str:
    """A call of Qwen3-Coder."""
    written = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters)
    return f"<tool_call>\n<function=weather>\n{written}</function>\n</tool_call>"


EXAMPLES = {
    "initial_region": Example("qwen3", "I should greet.</think>\n\nHello."),
    "tag_style.reasoning.on_opener": Example("qwen3", f"<think>I look.\n{HERMES}"),
    "tool_calls.unmarked": Example("hermes", '{"name": "weather", "arguments": {"city": "Paris"}}'),
    "tool_calls.container": Example("hermes"),
    "tool_calls.on_outside_region": Example(
        "qwen3-coder",
        tagged(("city", "Paris")).removeprefix("<tool_call>\n").removesuffix("\n</tool_call>"),
    ),
    "tool_calls.on_malformed": Example("hermes", f"<tool_call>{{weather}}</tool_call>\n{HERMES}"),
    "tool_calls.on_truncated": Example("hermes", CUT_OFF),
    "tool_calls.on_unknown_tool": Example(
        "hermes", HERMES.replace("weather", "climate"), WITH_TOOL, ONE_TOOL
    ),
    "tool_calls.on_repeated_parameter": Example(
        "qwen3-coder", tagged(("city", "Paris"), ("city", "Rome"))
    ),
    "tool_calls.on_unknown_parameter": Example(
        "qwen3-coder", tagged(("city", "Paris"), ("town", "Rome")), WITH_TOOL, ONE_TOOL
    ),
    "tool_calls.arguments.untyped": Example("qwen3-coder", tagged(("days", "2"))),
    "tool_calls.arguments.values.string": Example(
        "qwen3-coder", tagged(("city", '"Paris"')), WITH_TOOL, ONE_TOOL
    ),
    "tool_calls.arguments.values.other": Example(
        "qwen3-coder", tagged(("days", "2")), WITH_TOOL, ONE_TOOL
    ),
    "whitespace.reasoning": Example("qwen3", "<think>\nI should greet.\n</think>Hello."),
    "whitespace.content": Example("hermes", "\n\nHello.\n"),
    "whitespace.join": Example("hermes", f"One moment.{HERMES}Done."),
}


def policies() -> list[Key]:
    """Every key with named values that there is a choice of."""
    return [key for key in all_keys() if len(key.choices) > 1 and key.path not in NO_POLICY]


@cache
def with_value(family: str, path: str, value: str) -> tagsmith.Family | None:
    """A family that extends another and says this at a path; None where no file may say it."""
    said: Any = value
    for name in reversed(path.split(".")):
        said = {name: said}
    text = write_family({"tagsmith": 1, "id": "changed", "extends": family, **said})
    with TemporaryDirectory() as directory:
        (Path(directory) / "changed.yaml").write_text(text, "utf-8")
        try:
            return tagsmith.load_registry([directory]).get("changed")
        except tagsmith.TagsmithError:
            return None


def section(policy: Key) -> str:
    """One policy's part of the page."""
    example = EXAMPLES[policy.path]
    lines = [f"## `{policy.path}`", "", meaning(policy), ""]
    if example.output:
        lines += [*shown_output(example), ""]
    lines += [f"| value | {'message' if example.output else 'a call is written'} |", "|---|---|"]
    for value in policy.choices:
        family = with_value(example.family, policy.path, value)
        if family is not None:
            default = " (default)" if value == policy.default else ""
            lines.append(f"| `{value}`{default} | {outcome(family, example)} |")
    return "\n".join(lines)


def meaning(policy: Key) -> str:
    """What a policy decides."""
    if not policy.path.startswith(GOES_ON):
        return policy.meaning
    around = policy.path.rpartition(".")[0]
    return f"{next(key.meaning for key in all_keys() if key.path == around)} {policy.meaning}"


def shown_output(example: Example) -> list[str]:
    """The output; in one line where whitespace at its edges has to be seen."""
    head = f"An output of `{example.family}`{example.asked}:"
    if example.output != example.output.strip():
        return [f"{head} {code(example.output)}"]
    return [head, "", "```text", example.output, "```"]


def outcome(family: tagsmith.Family, example: Example) -> str:
    """What a family makes of an example, for a cell of a table."""
    if not example.output:
        return code(write_call(family.spec, "weather", {"city": "Paris"}))
    return "; ".join(_parts(family.parse(example.output, **example.options)))


def _parts(message: tagsmith.Message) -> Iterator[str]:
    if message.reasoning is not None:
        yield f"reasoning {code(message.reasoning)}"
    if message.content is not None:
        yield f"content {code(message.content)}"
    for call in message.tool_calls:
        complete = "" if call.complete else ", incomplete"
        yield f"call {code(f'{call.name} {call.arguments}')}{complete}"
    for diagnostic in message.diagnostics:
        yield f"diagnostic {code(diagnostic.code)}"


def code(text: str) -> str:
    """Text on one line, as code."""
    shown = text.replace("\n", "\\n")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def page() -> str:
    """The whole page."""
    return "\n\n".join([HEAD, *map(section, policies())]) + "\n"


if __name__ == "__main__":
    print(page(), end="")
