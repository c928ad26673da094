"""How vLLM finds the parsers: by the entry point, in processes of its own, whatever is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm_kit import Served, chat, fresh, parser_class

from tagsmith.integrations.naming import adapter_names
from tagsmith.integrations.vllm import register
from tagsmith.registry import default_registry

Install = Callable[..., Path]


AT_START = """
import json, sys, time
import vllm.plugins
before, begun = set(sys.modules), time.perf_counter()
vllm.plugins.load_general_plugins()
seconds, new = time.perf_counter() - begun, set(sys.modules) - before
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.entrypoints.common.cli_args import make_arg_parser, validate_api_server_args
from vllm.platforms import current_platform
from vllm.utils.argparse_utils import FlexibleArgumentParser
current_platform.device_type = "cpu"
words = ["--reasoning-parser", "tagsmith", "--tool-call-parser", "tagsmith-qwen3"]
words += ["--enable-auto-tool-choice", "--model", "m"]
validate_api_server_args(make_arg_parser(FlexibleArgumentParser()).parse_args(words))
print(json.dumps({
    "seconds": seconds,
    "new": sorted(new),
    "reasoning": ReasoningParserManager.list_registered(),
    "tools": ToolParserManager.list_registered(),
    "loaded": [n for n in sys.modules if n.startswith("tagsmith.integrations.vllm.")],
}))
"""


def test_vllm_calls_the_entry_point_and_knows_the_names_on_its_command_line() -> None:
    told, logged = fresh(AT_START)
    assert not logged
    # Nothing is read or imported for it but the package itself.
    assert not [name for name in told["new"] if name.startswith(("vllm", "torch", "jsonschema"))]
    assert "tagsmith_families" not in told["new"]
    assert told["seconds"] < 5
    names = {"tagsmith", *(f"tagsmith-{name}" for name in default_registry().ids())}
    for kind in ("reasoning", "tools"):
        assert {name for name in told[kind] if name.startswith("tagsmith")} == names
        assert {"cohere_command3", "qwen3_coder"} & set(told[kind])
    # What reads output is imported when vLLM asks for a parser.
    assert "tagsmith.integrations.vllm.parser" not in told["loaded"]


FAMILY = "tagsmith: 1\nid: {}\nextends: cohere-command-a\n"
OFFERED = """
import json
import vllm.plugins
vllm.plugins.load_general_plugins()
from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from tagsmith.testing import MockTokenizer
import tagsmith
told = {}
request = ChatCompletionRequest(messages=[])
for name in ("acme-file", "acme-plugin", "qwen3"):
    tokenizer = MockTokenizer.for_family(tagsmith.get_family(name))
    made = ParserManager.get_parser(
        f"tagsmith-{name}", f"tagsmith-{name}", True, "m", tokenizer=tokenizer
    )
    told[name] = made(tokenizer).parse("<|START_RESPONSE|>Hi<|END_RESPONSE|>", request)[1]
print(json.dumps([told, ReasoningParserManager.list_registered()]))
"""


def test_a_bad_family_is_logged_once_and_the_others_are_there(
    install: Install, tmp_path: Path
) -> None:
    package = install(
        "acme",
        "tagsmith.families",
        "acme",
        a__yaml=FAMILY.format("acme-plugin"),
        bad__yaml="id: [\n",
    )
    files = tmp_path / "families"
    files.mkdir()
    (files / "acme.yaml").write_text(FAMILY.format("acme-file"))
    (files / "worse.yaml").write_text(FAMILY.format("acme-worse") + "engin: native\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    (told, names), logged = fresh(OFFERED, PYTHONPATH=path, TAGSMITH_FAMILIES=str(files))
    marked = "<|START_RESPONSE|>Hi<|END_RESPONSE|>"
    assert told == {"acme-file": "Hi", "acme-plugin": "Hi", "qwen3": marked}
    assert {"tagsmith-acme-file", "tagsmith-acme-plugin"} <= set(names)
    assert "tagsmith-acme-worse" not in names
    assert len([name for name in names if name.startswith("tagsmith")]) == len(adapter_names()) + 2
    assert len(logged) == 2
    assert sum(f"{package / 'bad.yaml'}:" in line for line in logged) == 1
    assert sum(f"{files / 'worse.yaml'}:4:1: " in line for line in logged) == 1


BROKEN = """
import json, sys
import vllm.plugins
vllm.plugins.load_general_plugins()
sys.modules["tagsmith.integrations.vllm.offering"] = None
import tagsmith.registry
from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
found = ParserManager.get_parser("qwen3_coder", "qwen3", True, "m")
print(json.dumps([found.__name__, ReasoningParserManager.list_registered()]))
"""


def test_vllm_starts_when_the_adapter_is_broken() -> None:
    (found, names), logged = fresh(BROKEN)
    assert found
    assert not [name for name in names if name.startswith("tagsmith")]
    assert len(logged) == 1
    assert "no parser is offered to vLLM" in logged[0]


ANOTHER_VERSION = """
import inspect, json, sys
import vllm.plugins
vllm.plugins.load_general_plugins()
change = sys.argv[1]
if change == "the adapter's own part is not there":
    sys.modules["tagsmith.integrations.vllm.manager"] = None
from vllm.parser import ParserManager
if change == "a module that a parser needs is not there":
    sys.modules["vllm.entrypoints.cohere.cohere_chat_message"] = None
options = {}
if change == "another argument":
    from tagsmith.integrations.vllm.manager import unify
    inner = inspect.unwrap(ParserManager.get_parser.__func__)
    def get_parser(cls, tool_parser_name, reasoning_parser_name, *, enable_auto_tools, brand_new):
        return inner(cls, tool_parser_name, reasoning_parser_name, enable_auto_tools)
    ParserManager.get_parser = classmethod(get_parser)
    unify()
    options = {"brand_new": 1}
told = []
for names in (("hermes", "qwen3"), ("tagsmith-qwen3", "tagsmith-qwen3")):
    try:
        told.append(ParserManager.get_parser(*names, enable_auto_tools=True, **options).__name__)
    except Exception as error:
        told.append(type(error).__name__)
print(json.dumps(told))
"""


@pytest.mark.parametrize(
    ("change", "ours"),
    [
        ("another argument", "TagsmithParser"),
        ("a module that a parser needs is not there", "ModuleNotFoundError"),
        ("the adapter's own part is not there", "TypeError"),
    ],
)
def test_another_vllm_keeps_its_parsers_and_starts_with_ours_or_not_at_all(
    change: str, ours: str
) -> None:
    code = ANOTHER_VERSION.replace("sys.argv[1]", repr(change))
    (own, told), _ = fresh(code)
    assert own == "_Parser"
    assert told == ours


def test_names_are_offered_though_the_families_cannot_be_listed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OSError("disk on fire")

    monkeypatch.setattr("tagsmith.integrations.naming.default_registry", fail)
    register()
    assert adapter_names() == {"tagsmith": None}
    assert [record.getMessage() for record in caplog.records] == [
        "tagsmith: the families cannot be listed: OSError('disk on fire')"
    ]


def test_registering_again_changes_nothing() -> None:
    def state() -> tuple[Any, ...]:
        managers = (ReasoningParserManager, ToolParserManager)
        names = [dict(manager.lazy_parsers) for manager in managers]
        return *names, ParserManager.get_parser.__func__

    register()
    before = state()
    register()
    assert state() == before
    assert parser_class("tagsmith-qwen3") is not None


@pytest.mark.parametrize("name", default_registry().ids())
def test_every_family_gives_a_pair_of_parsers(name: str) -> None:
    served = Served(name)
    made = served.parser(chat())
    assert made.family.id == name
    assert made.reasoning_parser.family is made.family
    assert made.tool_parser is not None


def test_a_pair_is_of_one_name() -> None:
    with pytest.raises(TypeError, match="name the same one of Tagsmith's for both"):
        parser_class("tagsmith-qwen3", reasoning_parser_name="tagsmith-hermes")
    with pytest.raises(TypeError, match="name the same one of Tagsmith's for both"):
        parser_class("tagsmith-qwen3", tool_parser_name="hermes")


def test_a_name_that_is_not_there_is_vllms_own_error() -> None:
    with pytest.raises(TypeError, match="tagsmith-nobody"):
        parser_class("tagsmith-nobody")


def test_other_parsers_stay_as_they_are() -> None:
    made = parser_class("qwen3_coder", reasoning_parser_name="qwen3")
    assert "tagsmith" not in made.__module__
    assert ParserManager.get_parser(None, None) is None


def test_gpt_oss_stays_with_vllm() -> None:
    made = parser_class("tagsmith-gpt-oss", is_harmony=True)
    assert made.__name__ == "HarmonyParser"
