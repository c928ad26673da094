"""Rows: what is read of them, what is written, and what is wrong with bad ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

import pytest

from batch_rows import FAMILY, TOOLS, answer
from tagsmith.batch import rows as rows_module
from tagsmith.batch.chunks import Chunk, Place
from tagsmith.batch.jsonl import MAX_LINE, to_json
from tagsmith.batch.options import Field, RowOptions
from tagsmith.batch.rows import Fault, RowReader
from tagsmith.batch.tally import MAX_PROBLEMS, Problem, Tally
from tagsmith.batch.work import Conversion, Format
from tagsmith.errors import RequestError, UnknownFamilyError
from tagsmith.family import Family
from tagsmith.registry import default_registry

QWEN_CALL = "<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>"
CITED = answer("It is <co>warm</co: 0:[0]>.")


@pytest.fixture(autouse=True)
def one_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The families are loaded once, not for each reader."""
    monkeypatch.setattr(rows_module, "load_registry", lambda _: default_registry())


def converted(data: bytes | str | list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    """The rows that lines become."""
    if isinstance(data, list):
        data = "".join(json.dumps(row) + "\n" for row in data)
    if isinstance(data, str):
        data = data.encode()
    if not options.keys() & {"family", "read"}:
        options["family"] = FAMILY
    work = Conversion(RowOptions(**options), Format.JSONL, Format.JSONL)
    found = work(Chunk(data, 1, Place()))
    return [json.loads(line) for line in found.data.decode().split("\n")[:-1]]


def read(row: dict[str, Any], **fields: str) -> dict[str, Any]:
    """The one row that a row becomes where these fields are read of it."""
    [found] = converted([row], family=FAMILY, read=fields)
    return found


def test_the_output_becomes_a_message_and_other_columns_stay() -> None:
    [row] = converted([{"id": 7, "output": answer("Hé"), "n": [1.5, None]}])
    assert list(row) == ["id", "n", "message"]
    assert (row["id"], row["n"]) == (7, [1.5, None])
    assert row["message"]["content"] == "Hé"
    assert row["message"]["reasoning"] == "hm"


def test_an_error_in_what_is_written_is_always_that_of_a_bad_row() -> None:
    good, bad = converted([{"error": "mine", "output": answer("Hi")}, {"error": "mine"}])
    assert "error" not in good
    assert bad["error"]["code"] == "no-output"


@pytest.mark.parametrize("text", [CITED, QWEN_CALL, '<|START_ACTION|>[{"tool_name": "f"', ""])
@pytest.mark.parametrize("name", [FAMILY, "qwen3-coder"])
def test_the_shape_of_a_message_is_that_of_to_dict(name: str, text: str) -> None:
    family = RowReader(RowOptions(family=name))._get(name, None)
    message = family.parse(text, documents=[{"id": "d", "data": {"text": "warm"}}])
    assert message.to_dict() == asdict(message)
    assert list(message.to_dict()) == list(asdict(message))


def test_shapes_and_columns() -> None:
    given = [{"id": 1, "text": CITED, "message": "old"}]
    [openai] = converted(given, column="text", shape="openai", into="answer")
    assert openai["answer"]["content"] == "It is warm."
    assert (openai["id"], openai["message"]) == (1, "old")
    [cohere] = converted(given, column="text", shape="cohere", keep=["text", "absent"])
    assert cohere["message"]["content"][-1] == {"type": "text", "text": "It is warm."}
    assert list(cohere) == ["text", "message"]


def test_each_row_may_say_its_family_and_model() -> None:
    rows = [
        {"family": "qwen3-coder", "output": QWEN_CALL},
        {"family": None, "output": answer("Hi")},
        {"model": "Qwen/Qwen3-Coder-30B-A3B-Instruct", "output": QWEN_CALL},
        {"family": "Cohere2VisionForConditionalGeneration", "output": "Hi"},
        {"family": "cohere-comand-a", "output": "Hi"},
        {"family": 5, "output": "Hi"},
    ]
    found = converted(rows, family=FAMILY, read={"family": "family"})
    assert found[0]["message"]["tool_calls"][0]["name"] == "f"
    assert found[1]["message"]["content"] == "Hi"
    assert "model's name" in found[3]["error"]["message"]
    assert "nearest: cohere-command-a" in found[4]["error"]["message"]
    assert found[5]["error"]["message"] == "family: must be text, not int"
    codes = [row.get("error", {}).get("code") for row in found]
    assert codes == [None, None, None, "no-family", "no-family", "bad-request"]
    by_model = converted(rows[2:3], read={"model": "model"})
    assert by_model[0]["message"]["tool_calls"][0]["name"] == "f"
    assert converted(rows[1:2], read={"model": "model"})[0]["error"]["code"] == "no-family"


@pytest.mark.parametrize("tools", [TOOLS, json.dumps(TOOLS)])
def test_each_row_may_have_its_tools(tools: Any) -> None:
    rows = [{"output": QWEN_CALL, "functions": tools}, {"output": QWEN_CALL}]
    found = converted(rows, family="qwen3-coder", read={"tools": "functions"})
    calls = [row["message"]["tool_calls"][0]["arguments"] for row in found]
    assert calls == ['{"a": 5}', '{"a": "5"}']
    [common] = converted(rows[1:], family="qwen3-coder", tools=TOOLS)
    assert common["message"]["tool_calls"][0]["arguments"] == '{"a": 5}'


def test_what_else_is_read_of_a_row() -> None:
    documents = [{"id": "d", "data": {"text": "warm"}}]
    for given in (documents, json.dumps(documents)):
        row = read({"output": CITED, "documents": given}, documents="documents")
        assert row["message"]["citations"][0]["sources"][0]["id"] == "d"
    prompt = "<|CHATBOT_TOKEN|><|START_THINKING|>"
    assert read({"output": "hm", "p": prompt}, prompt="p")["message"]["reasoning"] == "hm"
    stopped = read({"output": answer("a END b"), "stop": ["END"]}, stop="stop")["message"]
    assert (stopped["content"], stopped["stop"]) == ("a", "END")
    for said, told in {"max_tokens": "length", None: "stop", "eos_token": "stop"}.items():
        row = read({"output": "x", "reason": said}, finish_reason="reason")
        assert row["message"]["finish_reason"] == told
    call = '<|START_ACTION|>[{"tool_name": "f", "parameters": {}}]<|END_ACTION|>'
    none = read({"output": call, "tool_choice": "none"}, tool_choice="tool_choice")["message"]
    assert [found["code"] for found in none["diagnostics"]] == ["unexpected-call"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("tools", {"name": "f"}, "tools: "),
        ("tools", "{", "tools: "),
        ("documents", "[", "documents: "),
        ("documents", 5, "documents: "),
        ("messages", [5], "messages[0]: "),
        ("prompt", ["p"], "prompt: "),
        ("stop", [""], "stop: "),
        ("finish_reason", 1, "finish_reason: "),
        ("tool_choice", "f", "tool_choice: "),
    ],
)
def test_a_wrong_field_is_named(field: str, value: Any, told: str) -> None:
    row = read({"output": CITED, field: value}, **{field: field})
    assert row["message"] is None
    assert row["error"]["code"] == Fault.BAD_REQUEST
    assert row["error"]["message"].startswith(told)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nothing", "not-json"),
        (b'{"output": "a"', "not-json"),
        (b'{"output": "a\tb"}', "not-json"),
        (b"[" * 100_000, "not-json"),
        (b"9" * 5000, "not-json"),
        (b"[1]", "not-an-object"),
        (b"null", "not-an-object"),
        (b'{"output": "\xff"}', "not-utf-8"),
        (b"\x00", "not-json"),
        (b"{}", "no-output"),
        (b'{"output": null}', "no-output"),
        (b'{"output": ["a"]}', "no-output"),
        (b'{"output": "' + b"a" * MAX_LINE + b'"}', "too-long"),
    ],
    ids=range(13),
)
def test_a_line_that_cannot_be_read_is_a_bad_row(line: bytes, code: str) -> None:
    good = b'{"output": "a"}\n'
    before, bad, after = converted(good + line + b"\r\n" + good)
    assert before == after
    assert bad["message"] is None
    assert (bad["error"]["code"], bad["error"]["row"]) == (code, 2)


def test_any_text_is_an_output() -> None:
    texts = ["", "\0", "\ud800", "\u2028\x85", "a" * 1_000_000, "<co>" * 1000, "\ufeff"]
    rows = converted([{"output": text, "id": "\udfff"} for text in texts])
    assert [row["message"]["content"] for row in rows[1:5]] == texts[1:5]
    assert all(row["id"] == "\udfff" for row in rows)


def test_deep_rows_are_passed_on_or_told() -> None:
    for depth in range(100, 1200, 50):
        inner = "[" * depth + "]" * depth
        [row] = converted(f'{{"output": "a", "deep": {inner}}}')
        assert row["message"] is None or row["message"]["content"] == "a"


@pytest.mark.parametrize(
    ("policy", "written"), [("keep", [1, 2, 3, 4]), ("drop", [1, 3]), ("stop", [1])]
)
def test_what_becomes_of_bad_rows(policy: str, written: list[int]) -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "output": "a"}, {"id": 2}]
    rows += [{"id": 3, "output": "a"}, {"id": 4, "output": 1}]
    assert [row["id"] for row in converted(rows, on_bad_row=policy)] == written


@pytest.mark.parametrize(
    ("raised", "told", "kept"),
    [
        (KeyError("plug-in"), "KeyError: 'plug-in'", ["id", "message", "error"]),
        (MemoryError(), "too much (MemoryError)", ["message", "error"]),
    ],
)
def test_one_row_that_fails_does_not_end_the_run(
    raised: Exception, told: str, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = Family.parse

    def failing(self: Family, text: str, **options: Any) -> Any:
        if text == "fail":
            raise raised
        return parse(self, text, **options)

    monkeypatch.setattr(Family, "parse", failing)
    bad, good = converted([{"id": 1, "output": "fail"}, {"output": "fine"}])
    assert bad["error"] == {"code": "failed", "message": told, "row": 1}
    assert list(bad) == kept
    assert good["message"]["content"] == "fine"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({}, "family"),
        ({"family": FAMILY, "read": {"color": "c"}}, "read"),
        ({"family": FAMILY, "shape": "xml"}, "shape"),
        ({"family": FAMILY, "on_bad_row": "ignore"}, "on_bad_row"),
        ({"family": FAMILY, "into": "error"}, "into"),
        ({"family": FAMILY, "column": None}, "column"),
        ({"family": FAMILY, "families": "a.yaml"}, "families"),
        ({"family": FAMILY, "tools": 5}, "tools"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestError) as raised:
        RowOptions(**options)
    assert raised.value.field == field


def test_a_family_that_there_is_not_is_told_before_any_row() -> None:
    with pytest.raises(UnknownFamilyError):
        RowReader(RowOptions(family="cohere-comand", read={Field.FAMILY: "family"}))


def test_json_is_one_line_of_utf8_whatever_it_holds() -> None:
    values = ["é\u2028\x85\n", "\ud800", b"\xff", {"a": float("inf")}]
    lines = [to_json(value) for value in values]
    assert not any(b"\n" in line for line in lines)
    assert [json.loads(line) for line in lines[:2]] == values[:2]
    assert lines[2] == b'"/w=="'


def test_tallies_add_up_and_are_restored() -> None:
    tally = Tally()
    for number in range(1, 31):
        one = Tally(rows=2)
        one.count_bad(Problem(number, "not-json", "no"))
        one.count_diagnostics(["truncated", "truncated"])
        one.absent["tools"] += 1
        tally.add(one)
    assert (tally.rows, tally.messages, tally.bad) == (60, 30, 30)
    assert [problem.row for problem in tally.problems] == list(range(1, MAX_PROBLEMS + 1))
    assert Tally.restored(json.loads(json.dumps(tally.saved()))) == tally
    lines = list(tally.lines("in.jsonl"))
    assert lines[:5] == [
        "60 rows: 30 messages, 30 bad rows",
        "bad rows",
        "  not-json  30",
        "diagnostics",
        "  truncated  60 in 30 rows",
    ]
    assert lines[5] == "in.jsonl:1: not-json: no"
    assert lines[-2:] == ["and 10 more", "in.jsonl: no row has a column 'tools'; check --read"]
    assert tally.to_dict()["diagnostics"] == {"truncated": {"count": 60, "rows": 30}}
    assert not Tally(rows=3, absent=Counter(tools=2)).has_problems
    assert not Tally().has_problems
