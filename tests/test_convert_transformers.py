"""Response templates in transformers itself: they load, and read the golden texts."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tagsmith.convert import to_response_template
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.registry import default_registry
from tagsmith.testing import Case, load_cases

pytestmark = pytest.mark.heavy
chat_parsing = pytest.importorskip("transformers.utils.chat_parsing")

HERE = Path(__file__).parent
ROOT = HERE.parent
FILES = [HERE / "cases" / "cohere.yaml", *sorted((ROOT / "families").rglob("*.cases.yaml"))]
DIFFERENCES: Mapping[str, Mapping[str, list[str]]] = yaml.safe_load(
    (HERE / "data" / "response_template_differences.yaml").read_text(encoding="utf-8")
)
SHORT = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "cohere-north",
}
"""What the cases of Cohere's families call them."""
CASES: dict[str, list[Case]] = {name: [] for name in default_registry().ids()}
for file in FILES:
    for case in load_cases(file, families=SHORT):
        CASES.setdefault(case.family, []).append(case)

Read = tuple[str | None, str | None, list[tuple[str, Any]]]


def read_by_tagsmith(case: Case, family: Family) -> tuple[Message, Read]:
    message = family.parse(case.text, finish_reason=case.finish_reason, **case.request)
    calls = [(call.name, _value(call.arguments)) for call in message.tool_calls]
    return message, (message.reasoning, message.content, calls)


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def read_by_transformers(case: Case, template: dict[str, Any]) -> Read | str:
    """The same of the message that transformers makes; why it makes none."""
    tools = [
        {"type": "function", "function": tool.get("function", tool)} for tool in case.tools or ()
    ]
    try:
        message = chat_parsing.parse_response(
            case.text, template, prefix=case.prompt or "", tools=tools
        )
    except (ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    functions = [call["function"] for call in message.get("tool_calls", ())]
    calls = [(function["name"], function["arguments"]) for function in functions]
    return message.get("reasoning_content"), message.get("content"), calls


def row(name: str) -> tuple[list[str], str]:
    """The golden texts without a diagnostic that come out otherwise, and a row of the table."""
    family = default_registry().get(name)
    template = to_response_template(family.spec).template
    same, clean, other = 0, 0, []
    for case in CASES[name]:
        message, expected = read_by_tagsmith(case, family)
        is_same = read_by_transformers(case, template) == expected
        same += is_same
        clean += not message.diagnostics
        if not message.diagnostics and not is_same:
            other.append(case.id)
    keys = [f"`{key}`" for key in DIFFERENCES.get(name, {})]
    cells = (
        f"`{name}`",
        f"{clean - len(other)} of {clean}",
        f"{same} of {len(CASES[name])}",
        ", ".join(keys) or "-",
    )
    return other, f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("name", CASES)
def test_what_comes_out_otherwise_is_named(name: str) -> None:
    found, _ = row(name)
    listed = DIFFERENCES.get(name, {})
    assert sorted(found) == sorted(case for cases in listed.values() for case in cases)
    lost = {loss.key for loss in to_response_template(default_registry().get(name).spec).losses}
    assert listed.keys() <= lost


def test_the_table_of_the_documentation_is_current() -> None:
    rows = [row(name)[1] for name in CASES]
    page = (ROOT / "docs" / "convert.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if re.search(r"\| \d+ of \d+ \|", line)]
    assert shown == rows, "put this in docs/convert.md:\n" + "\n".join(rows)


@pytest.mark.parametrize("name", CASES)
def test_a_stream_gives_what_the_whole_text_gives(name: str) -> None:
    written = to_response_template(default_registry().get(name).spec)
    template = written.template
    if "tag_style" in {loss.key for loss in written.losses}:
        pytest.skip("a stream takes a marker inside a longer one for itself")
    for case in CASES[name]:
        whole = read_by_transformers(case, template)
        if isinstance(whole, str):
            continue
        parser = chat_parsing.ResponseParser(template, prefix=case.prompt or "")
        for char in case.text:
            parser.feed(char)
        message, _ = parser.finalize()
        assert (message.get("reasoning_content"), message.get("content")) == whole[:2], case.id
        assert len(message.get("tool_calls", ())) == len(whole[2]), case.id


def test_a_tokenizer_keeps_the_template(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    template = to_response_template(default_registry().get("qwen3").spec).template
    bare = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bare)
    tokenizer.response_template = template
    tokenizer.save_pretrained(tmp_path)
    kept = json.loads((tmp_path / "tokenizer_config.json").read_text())["response_template"]
    assert kept == template
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    message = loaded.parse_response("<think>\nHm.\n</think>\n\nHi<|im_end|>", prefix="")
    assert message == {"role": "assistant", "reasoning_content": "Hm.", "content": "Hi"}
