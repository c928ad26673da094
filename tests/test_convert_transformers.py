"""Response templates in transformers itself: they load, and read the golden texts."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tagsmith.cli import main
from tagsmith.convert import to_response_template
from tagsmith.registry import default_registry

pytestmark = pytest.mark.heavy
chat_parsing = pytest.importorskip("transformers.utils.chat_parsing")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import response_templates as page  # noqa: E402

CASES = page.golden_texts()


@pytest.mark.parametrize("name", CASES)
def test_what_comes_out_otherwise_is_named(name: str) -> None:
    listed = page.differences().get(name, {})
    assert sorted(page.result(name).other) == sorted(
        case for ids in listed.values() for case in ids
    )
    lost = {loss.key for loss in to_response_template(default_registry().get(name).spec).losses}
    assert listed.keys() <= lost


def test_the_tables_of_the_documentation_are_current() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text == page.refreshed(text), "run: python examples/response_templates.py"
    results = [page.result(name) for name in CASES]
    same = sum(result.same for result in results)
    assert f" {same} of {same + sum(len(result.other) for result in results)} such" in text


@pytest.mark.parametrize("name", CASES)
def test_a_stream_gives_what_the_whole_text_gives(name: str) -> None:
    written = to_response_template(default_registry().get(name).spec)
    template = written.template
    if "tag_style" in {loss.key for loss in written.losses}:
        pytest.skip("a stream takes a marker inside a longer one for itself")
    for case in CASES[name]:
        whole = page.read_by_transformers(case, template)
        if isinstance(whole, str):
            continue
        parser = chat_parsing.ResponseParser(template, prefix=case.prompt or "")
        for char in case.text:
            parser.feed(char)
        message, _ = parser.finalize()
        assert (message.get("reasoning_content"), message.get("content")) == whole[:2], case.id
        assert len(message.get("tool_calls", ())) == len(whole[2]), case.id


@pytest.mark.parametrize("name", CASES)
def test_a_tokenizer_keeps_the_template_and_reads_its_own_ids(name: str, tmp_path: Path) -> None:
    """From the command to a message: every golden text that transformers reads as Tagsmith does."""
    family = default_registry().get(name)
    done = CliRunner().invoke(main, ["convert", name, "--to", "response_template"])
    saved = byte_tokenizer(family.markers)
    saved.response_template = json.loads(done.stdout)
    saved.save_pretrained(tmp_path)
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.response_template == saved.response_template
    others = page.result(name).other
    for case in CASES[name]:
        message, expected = page.read_by_tagsmith(case, family)
        if message.diagnostics or case.id in others:
            continue
        ids = loaded(case.text, add_special_tokens=False).input_ids
        prefix, tools = case.prompt or "", page.chat_tools(case)
        read = loaded.parse_response(ids, prefix=prefix, tools=tools)
        assert page.said_by_transformers(read) == expected, case.id


def byte_tokenizer(markers: Sequence[str]) -> Any:
    """A real tokenizer: a token for each byte, and one for each marker."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {char: place for place, char in enumerate(alphabet)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(list(markers))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made)
