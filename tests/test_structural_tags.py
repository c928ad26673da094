"""What a structural tag lets through: compiled in xgrammar, and tried on whole outputs."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tagsmith
from tagsmith.grammar import build_structural_tag, check_structural_tag
from tagsmith.request import read_request
from tagsmith.spec.models import FamilySpec

pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

CASES = json.loads((Path(__file__).parent / "cases" / "structural_tags.json").read_text("utf-8"))
COMMAND_A = "cohere-command-a"
VISION = "cohere-command-a-vision"
NORTH = "cohere-north"
COHERE = [COMMAND_A, VISION, "cohere-command-a-plus", NORTH]

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOLS = [{"name": "get_weather", "parameters": CITY}, {"name": "count", "parameters": COUNT}]
ANSWER = {"type": "json_schema", "json_schema": {"name": "a", "schema": CITY}}
DOCUMENT = '{"city": "Paris"}'
CLOSED = {"type": "object", "additionalProperties": False}


def call(name: str, arguments: Any, call_id: str = "0") -> str:
    return (
        f'{{"tool_call_id": "{call_id}", "tool_name": {json.dumps(name, ensure_ascii=False)}, '
        f'"parameters": {json.dumps(arguments, ensure_ascii=False)}}}'
    )


def calls(*written: str) -> str:
    return f"<|START_ACTION|>[{', '.join(written)}]<|END_ACTION|>"


def said(text: str, wrapper: str = "RESPONSE") -> str:
    return f"<|START_{wrapper}|>{text}<|END_{wrapper}|>"


def thought(text: str) -> str:
    return f"<|START_THINKING|>{text}<|END_THINKING|>"


WEATHER = call("get_weather", {"city": "P"})
LATER = calls(call("count", {"n": 1}, "1"))
TWO = calls(WEATHER, call("count", {"n": 2}, "1"))
ONE = calls(WEATHER)


def assert_language(family_name: str, accept: list[str], reject: list[str], **asked: Any) -> None:
    """The tag of this request accepts these texts and refuses those; what it accepts, parses."""
    family = tagsmith.get_family(family_name)
    results = check_structural_tag(
        family.structural_tag(**asked), [*accept, *reject], markers=family.markers
    )
    accepted = dict(zip([*accept, *reject], [r.accepted for r in results], strict=True))
    assert accepted == dict.fromkeys(accept, True) | dict.fromkeys(reject, False)
    prompt = "<|CHATBOT_TOKEN|>"
    if asked.get("reasoning") == "enabled":
        prompt += "<|START_THINKING|>"
    elif asked.get("reasoning") != "auto":
        prompt += thought("")
    for text in accept:
        message = family.parse(text, tools=asked.get("tools"), prompt=prompt)
        assert not message.diagnostics, (text, message.diagnostics)
        for made in message.tool_calls:
            assert_valid(made.name, made.arguments, asked["tools"])


def assert_valid(name: str, arguments: str, tools: list[dict[str, Any]]) -> None:
    [tool] = [t for t in (x.get("function", x) for x in tools) if t["name"] == name]
    value = json.loads(arguments)
    assert isinstance(value, dict)
    if tool.get("strict") is not False:
        jsonschema.validate(value, tool.get("parameters") or {})


@pytest.mark.parametrize("family", [COMMAND_A, NORTH])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_case(case: dict[str, Any], family: str) -> None:
    assert_language(
        family, list(case["accept"].values()), list(case["reject"].values()), tools=case["tools"]
    )


NOTHING, CHAT = "", "Hello."
STRAYS = ["<|END_ACTION|>", "a<|START_THINKING|>b", "<|END_THINKING|>"]
AROUND_CALLS = [CHAT, ONE, TWO, said(CHAT), f"On it. {ONE} Done.", said(CHAT) + ONE, ONE + LATER]
LOOSE = ["<|START_RESPONSE|>open", "a<|END_RESPONSE|>", said(ONE)]
MORE_DOCUMENTS = [
    said(DOCUMENT) * 2,
    "x" + said(DOCUMENT),
    ONE,
    said(CHAT),
    said('{"city": "a<|END_RESPONSE|>"}'),
    said('{"city": "a <co>b</co: 0:[0]>"}'),
]

LANGUAGES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "auto": (
        {"tools": TOOLS},
        [NOTHING, *AROUND_CALLS, *LOOSE],
        [*STRAYS, calls(), "<|START_ACTION|>", ONE[:-1]],
    ),
    "auto, spelled": ({"tools": TOOLS, "tool_choice": "auto"}, [CHAT, ONE], [calls()]),
    "auto, one call": (
        {"tools": TOOLS, "parallel_tool_calls": False},
        [NOTHING, CHAT, ONE, f"On it. {ONE}", said(CHAT) + ONE],
        [TWO, ONE + ONE, ONE + "more", *STRAYS],
    ),
    "none": (
        {"tools": TOOLS, "tool_choice": "none"},
        [NOTHING, CHAT, said(CHAT), "<|START_ACT"],
        [ONE, "<|START_ACTION|>", "a<|START_ACTION|>", said(ONE), *STRAYS],
    ),
    "no tools": ({}, [NOTHING, CHAT, said(CHAT)], [ONE, "<|START_ACTION|>[", *STRAYS]),
    "empty tools": ({"tools": []}, [NOTHING, CHAT], [ONE]),
    "required": (
        {"tools": TOOLS, "tool_choice": "required"},
        [ONE, TWO],
        [NOTHING, CHAT, calls(), "hi" + ONE, said(CHAT), ONE + "hi", ONE + ONE],
    ),
    "required, Cohere's word": (
        {"tools": TOOLS, "tool_choice": "REQUIRED"},
        [ONE],
        [NOTHING, CHAT],
    ),
    "required, one call": (
        {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False},
        [ONE],
        [NOTHING, CHAT, TWO, calls()],
    ),
    "named": (
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "count"}}},
        [calls(call("count", {"n": 1}))],
        [NOTHING, CHAT, ONE, TWO],
    ),
    "allowed, auto": (
        {
            "tools": TOOLS,
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "count"}],
            },
        },
        [CHAT, calls(call("count", {"n": 1}))],
        [ONE, TWO],
    ),
    "allowed, required": (
        {
            "tools": TOOLS,
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "count"}}],
                },
            },
        },
        [calls(call("count", {"n": 1}))],
        [NOTHING, CHAT, ONE],
    ),
    "a schema": (
        {"response_format": ANSWER},
        [said(DOCUMENT), said('{"city":"P"}'), said('{\n  "city": "P"\n}')],
        [NOTHING, CHAT, DOCUMENT, said("{}"), said("[]"), said(DOCUMENT) + CHAT, *MORE_DOCUMENTS],
    ),
    "a schema that limits lengths": (
        {"response_format": {"type": "json_schema", "schema": {"type": "string", "maxLength": 3}}},
        [said('"abc"')],
        [said('"abcd"')],
    ),
    "a schema, no tool": (
        {"response_format": ANSWER, "tools": TOOLS, "tool_choice": "none"},
        [said(DOCUMENT)],
        [NOTHING, CHAT, ONE],
    ),
    "a schema, or calls": (
        {"response_format": ANSWER, "tools": TOOLS},
        [said(DOCUMENT), ONE, TWO],
        [
            NOTHING,
            CHAT,
            said(CHAT),
            ONE + said(DOCUMENT),
            said(DOCUMENT) + ONE,
            ONE + CHAT,
            calls(),
        ],
    ),
    "a schema, or one call": (
        {"response_format": ANSWER, "tools": TOOLS, "parallel_tool_calls": False},
        [said(DOCUMENT), ONE],
        [NOTHING, TWO],
    ),
    "a schema, a call required": (
        {"response_format": ANSWER, "tools": TOOLS, "tool_choice": "required"},
        [ONE, TWO],
        [NOTHING, said(DOCUMENT)],
    ),
    "json_object": (
        {"response_format": {"type": "json_object"}},
        [said("{}"), said('{"a": [1, {"b": null}]}')],
        [NOTHING, "{}", said("[]"), said("1"), said("{")],
    ),
    "text": ({"response_format": {"type": "text"}}, [CHAT, said(CHAT)], [ONE]),
    "disabled": ({"tools": TOOLS, "reasoning": "disabled"}, [CHAT, ONE], [thought("x") + ONE]),
    "enabled": (
        {"tools": TOOLS, "reasoning": "enabled"},
        ["hm<|END_THINKING|>" + ONE, "<|END_THINKING|>\n" + said(CHAT), "hm<|END_THINKING|>"],
        [
            NOTHING,
            "hm",
            ONE,
            thought("hm"),
            "hm<|START_ACTION|>",
            "a<|END_THINKING|><|END_THINKING|>",
        ],
    ),
    "enabled, required": (
        {"tools": TOOLS, "reasoning": "enabled", "tool_choice": "required"},
        ["hm<|END_THINKING|>" + ONE, "hm<|END_THINKING|>\n" + ONE],
        ["hm<|END_THINKING|>", "hm<|END_THINKING|>hi" + ONE, ONE],
    ),
    "auto reasoning": (
        {"tools": TOOLS, "reasoning": "auto", "tool_choice": "required"},
        [ONE, thought("hm") + ONE, thought("") + "\n" + TWO],
        [NOTHING, thought("hm"), thought("a") * 2 + ONE, "<|START_THINKING|>" + ONE],
    ),
    "auto reasoning, a schema": (
        {"response_format": ANSWER, "reasoning": "auto"},
        [thought("hm") + said(DOCUMENT), said(DOCUMENT)],
        [thought("hm"), thought("hm") + CHAT],
    ),
}


@pytest.mark.parametrize("family", [COMMAND_A, NORTH])
@pytest.mark.parametrize("asked", LANGUAGES)
def test_what_a_request_asks(asked: str, family: str) -> None:
    request, accept, reject = LANGUAGES[asked]
    assert_language(family, accept, reject, **request)


@pytest.mark.parametrize("family", COHERE)
def test_each_wrapper_of_the_family_may_hold_the_answer(family: str) -> None:
    wrappers = ["RESPONSE"] if family == COMMAND_A else ["RESPONSE", "TEXT"]
    others = [] if "TEXT" in wrappers else [said(DOCUMENT, "TEXT")]
    assert_language(
        family, [said(DOCUMENT, wrapper) for wrapper in wrappers], others, response_format=ANSWER
    )


def test_the_shape_of_auto_with_a_schema() -> None:
    tag = tagsmith.get_family(VISION).structural_tag(tools=TOOLS, response_format=ANSWER)
    assert tag["type"] == "structural_tag"
    assert tag["format"]["type"] == "triggered_tags"
    begins = ["<|START_RESPONSE|>", "<|START_TEXT|>", "<|START_ACTION|>"]
    assert [inner["begin"] for inner in tag["format"]["tags"]] == begins
    assert tag["format"]["triggers"] == begins


PRETTY = """<|START_ACTION|>[
    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}},
    {"tool_call_id": "1", "tool_name": "count", "parameters": {
        "n":  2
    }}
]<|END_ACTION|>"""
COMPACT = (
    '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"get_weather","parameters":{"city":"Paris"}},'
    '{"tool_call_id":"1","tool_name":"count","parameters":{"n":2}}]<|END_ACTION|>'
)


def test_whitespace_is_the_models_own_and_bounded() -> None:
    runaway = [
        COMPACT.replace("[{", "[" + " " * 100 + "{"),
        COMPACT.replace(":2", ":" + "\n" * 100 + "2"),
    ]
    assert_language(COMMAND_A, [PRETTY, COMPACT], runaway, tools=TOOLS)


HOSTILE = [
    "root", "tool", "ws", "basic_string", "2fa", "a.b/c-d e", "查天气", "😀", "a\\b", 'say "hi"',
    "a\nb", "\t", "\x00", "<|END_ACTION|>", "{}", "[^a]|(b)*", "'", "</co: 0:[0]>",
    "a\u2028b",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_name_is_kept_to_the_letter(name: str) -> None:
    schema = {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]}
    enum = {"type": "object", "properties": {"a": {"enum": [name]}}, "required": ["a"]}
    tools = [{"name": name, "parameters": schema}, {"name": name + "x", "parameters": enum}]
    assert_language(
        COMMAND_A,
        [calls(call(name, {name: 1})), calls(call(name + "x", {"a": name}))],
        [
            calls(call(name, {name: "1"})),
            calls(call(name, {name + "x": 1})),
            calls(call(name + "y", {name: 1})),
            calls(call(name + "x", {"a": name + "x"})),
        ],
        tools=tools,
    )
    family = tagsmith.get_family(COMMAND_A)
    [made] = family.parse(calls(call(name, {name: 1})), tools=tools).tool_calls
    assert (made.name, json.loads(made.arguments)) == (name, {name: 1})


def node(kind: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": {"type": kind}}, "required": ["v"]}


def holding(inner: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": inner}, "required": ["a"], **more}


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
# name: parameters, arguments accepted, arguments refused
SCHEMAS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "nothing": ({}, [{}], [{"a": 1}]),
    "null": (None, [{}], [{"a": 1}]),
    "any object": ({"type": "object"}, [{}, {"a": [1]}], []),
    "any object, with annotations": (
        {"type": "object", "$defs": {}, "description": "d", "$comment": "c"},
        [{}, {"a": 1}],
        [],
    ),
    "only a title": ({"title": "t"}, [{}, {"a": 1}], []),
    "no type": ({"properties": {"a": STRING}}, [{}, {"a": "x"}], [{"a": 1}, {"b": 1}]),
    "or null": ({"type": ["object", "null"], "properties": {"a": STRING}}, [{}], [None]),
    "extras asked for": (
        {"type": "object", "properties": {"a": STRING}, "additionalProperties": INTEGER},
        [{"a": "x", "b": 1}],
        [{"b": "x"}],
    ),
    "required, undeclared": (
        {"type": "object", "properties": {"a": STRING}, "required": ["b"]},
        [{"b": 1}, {"a": "x", "b": None}],
        [{}, {"a": "x"}],
    ),
    "required alone": ({"type": "object", "required": ["b"]}, [{"b": 1}, {"b": 1, "c": 2}], [{}]),
    "an array's lengths": (
        holding({"type": "array", "minItems": 1, "maxItems": 2}),
        [{"a": [1]}, {"a": ["x", None]}],
        [{"a": []}, {"a": [1, 2, 3]}],
    ),
    "a tuple longer than allowed": (
        holding({"type": "array", "prefixItems": [STRING, INTEGER], "maxItems": 1}),
        [{"a": ["x"]}],
        [{"a": [1]}, {"a": ["x", 1]}],
    ),
    "a tuple shorter than asked": (
        holding({"type": "array", "prefixItems": [STRING], "minItems": 2}),
        [{"a": ["x", 1]}],
        [{"a": ["x"]}, {"a": [1, 1]}],
    ),
    "more properties than declared": (
        {"type": "object", "properties": {"a": STRING}, "minProperties": 2},
        [{"a": "x", "b": 1}],
        [{"a": "x"}, {"a": 1, "b": 1}],
    ),
    "an integer between fractions": (
        holding({"type": "integer", "minimum": 1.5, "exclusiveMaximum": 4.0}),
        [{"a": 2}, {"a": 3}],
        [{"a": 1}, {"a": 4}, {"a": 2.5}],
    ),
    "a tuple of an older draft": (
        holding({"type": "array", "items": [STRING, INTEGER], "additionalItems": False})
        | {"$schema": "http://json-schema.org/draft-07/schema#"},
        [{"a": ["x", 1]}],
        [{"a": [1, "x"]}, {"a": ["x", 1, 2]}],
    ),
    "a pattern not anchored": (
        holding({"type": "string", "pattern": "^https?://"}),
        [{"a": "http://x.y"}, {"a": "https://"}],
        [{"a": "ftp://x"}],
    ),
    "a pattern of two": (
        holding({"type": "string", "pattern": "^a|b$"}),
        [{"a": "ax"}, {"a": "xb"}],
        [{"a": "xx"}],
    ),
    "pattern properties": (
        {"type": "object", "patternProperties": {"^x": {"type": "integer"}}},
        [{"xa": 1}],
        [{"xa": "1"}],
    ),
    "an enum beside its type": (
        holding({"type": "string", "enum": ["a", None, 1]}),
        [{"a": "a"}],
        [{"a": None}, {"a": 1}],
    ),
    "oneOf told apart": (
        holding(
            {"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
            **{
                "$defs": {
                    "A": {"properties": {"k": {"const": "a"}}, "required": ["k"]},
                    "B": {"properties": {"k": {"const": "b"}, "n": {}}, "required": ["k"]},
                }
            },
        ),
        [{"a": {"k": "a"}}, {"a": {"k": "b", "n": 1}}],
        [{"a": {"k": "a", "n": 1}}, {"a": {"k": "c"}}],
    ),
    "itself": (
        {"type": "object", "properties": {"v": STRING, "kid": {"$ref": "#"}}, "required": ["v"]},
        [{"v": "x", "kid": {"v": "y"}}],
        [{"v": "x", "kid": {}}, {"v": "x", "kid": {"v": 1}}],
    ),
    "by property": (
        {
            "type": "object",
            "properties": {"a": STRING, "b": {"$ref": "#/properties/a"}},
            "required": ["a", "b"],
        },
        [{"a": "x", "b": "y"}],
        [{"a": "x", "b": 1}],
    ),
    "nested $defs": (
        {
            "type": "object",
            "properties": {
                "a": {"$ref": "#/properties/b/$defs/N"},
                "b": {"$defs": {"N": node("integer")}},
            },
            "required": ["a"],
        },
        [{"a": {"v": 1}}],
        [{"a": {"v": "x"}}],
    ),
    "escaped pointers": (
        holding({"$ref": "#/$defs/a~1b%20~0"}, **{"$defs": {"a/b ~": node("integer")}}),
        [{"a": {"v": 1}}],
        [{"a": {"v": "x"}}],
    ),
    "two that hold each other": (
        holding(
            {"$ref": "#/$defs/A"},
            **{
                "$defs": {
                    "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
                    "B": {"properties": {"a": {"$ref": "#/$defs/A"}, "n": STRING}},
                }
            },
        ),
        [{"a": {}}, {"a": {"b": {"a": {"b": {"n": "x"}}}}}],
        [{"a": {"b": {"a": {"b": {"n": 1}}}}}],
    ),
    "the root by reference": (
        {"$ref": "#/$defs/Args", "$defs": {"Args": node("integer")}},
        [{"v": 1}],
        [{}, {"v": "x"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SCHEMAS)
def test_arguments_keep_to_the_tools_own_schema(shape: str) -> None:
    parameters, accept, reject = SCHEMAS[shape]
    assert_language(
        COMMAND_A,
        [calls(call("f", value)) for value in accept],
        [calls(call("f", value)) for value in [*reject, 5, [], "x"]],
        tools=[{"name": "f", "parameters": parameters}],
    )


def test_one_name_in_the_defs_of_two_tools_means_two_things() -> None:
    tools = [
        {"name": name, "parameters": holding({"$ref": "#/$defs/N"}, **{"$defs": {"N": node(kind)}})}
        for name, kind in (("f", "string"), ("g", "integer"))
    ]
    right = [calls(call("f", {"a": {"v": "x"}}), call("g", {"a": {"v": 1}}, "1"))]
    wrong = [calls(call("f", {"a": {"v": 1}})), calls(call("g", {"a": {"v": "x"}}))]
    assert_language(COMMAND_A, right, wrong, tools=tools)


def test_a_tool_that_is_not_strict_takes_any_object() -> None:
    tools = [{"name": "f", "parameters": CITY, "strict": False}]
    accept = [calls(call("f", value)) for value in ({}, {"x": [1]})]
    assert_language(COMMAND_A, accept, [calls(call("f", 5)), calls(call("g", {}))], tools=tools)


def family_spec(**parts: Any) -> FamilySpec:
    return FamilySpec.model_validate({"tagsmith": 1, "id": "odd", **parts})


JSON_CALLS = {"layout": "json", "container": "object"}
ODD = {"tag_style": {"tool_calls": {"start": "(?call", "end": "}]"}}, "tool_calls": JSON_CALLS}
F = '(?call{"name": "f", "arguments": {}}}]'
# name: the family, the request, accepted, refused
ODD_FAMILIES: dict[str, tuple[FamilySpec, dict[str, Any], list[str], list[str]]] = {
    "no markers at all": (family_spec(), {}, ["", "x"], []),
    "no wrapper": (
        family_spec(),
        {"response_format": ANSWER},
        [DOCUMENT],
        ["", "x", DOCUMENT + "x", said(DOCUMENT)],
    ),
    "no wrapper, with tools": (
        family_spec(**ODD),
        {"response_format": ANSWER, "tools": [{"name": "f"}]},
        [DOCUMENT, F, F + F],
        ["", "x", F + DOCUMENT, DOCUMENT + F],
    ),
    "one call a region": (
        family_spec(**ODD),
        {"tools": [{"name": "f"}]},
        ["", "x", F, F + F, "a" + F + "b"],
        [F[:-1], '(?call[{"name": "f", "arguments": {}}]}]', "}]"],
    ),
    "one call a region, required": (
        family_spec(**ODD),
        {"tools": [{"name": "f"}], "tool_choice": "required"},
        [F, F + F],
        ["", "x", F + "x"],
    ),
    "one call a region, and only one": (
        family_spec(**ODD),
        {"tools": [{"name": "f"}], "tool_choice": "required", "parallel_tool_calls": False},
        [F],
        ["", F + F],
    ),
    "keys and ids of its own": (
        family_spec(
            **ODD
            | {
                "tool_calls": {
                    "layout": "json",
                    "keys": {"id": 'i"d', "name": "n.m", "arguments": "a(r"},
                    "id": {"pattern": "c_[a-z]{2}|d"},
                }
            }
        ),
        {"tools": [{"name": "f"}], "tool_choice": "required"},
        [
            r'(?call[{"i\"d": "c_xy", "n.m": "f", "a(r": {}}]}]',
            r'(?call[{"i\"d":"d","n.m":"f","a(r":{}}]}]',
        ],
        [r'(?call[{"i\"d": "x", "n.m": "f", "a(r": {}}]}]', r'(?call[{"n.m": "f", "a(r": {}}]}]'],
    ),
    "two wrappers that open alike": (
        family_spec(
            tag_style={"content": [{"start": "<a", "end": ">"}, {"start": "<ab", "end": "</ab>"}]}
        ),
        {"response_format": ANSWER},
        [f"<a{DOCUMENT}>", f"<ab{DOCUMENT}</ab>"],
        [f"<ab{DOCUMENT}>x", ""],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD_FAMILIES)
def test_families_of_other_shapes(kind: str) -> None:
    spec, asked, accept, reject = ODD_FAMILIES[kind]
    tag = build_structural_tag(spec, read_request(**asked))
    results = check_structural_tag(tag, [*accept, *reject])
    assert [r.accepted for r in results] == [True] * len(accept) + [False] * len(reject)


def test_a_refused_text_says_where_it_stops() -> None:
    tag = tagsmith.get_family(COMMAND_A).structural_tag(tools=TOOLS, tool_choice="required")
    wrong, short = calls(call("gét", {})), ONE[:-5]
    results = check_structural_tag(tag, [ONE, wrong, short, "é"], markers=["<|START_ACTION|>"])
    assert [r.stopped_at for r in results] == [None, wrong.index("é"), len(short), 0]


def test_many_tools_make_a_tag_near_the_size_of_their_schemas() -> None:
    parameters = {
        "type": "object",
        "properties": {f"p{i}": holding(STRING) for i in range(12)},
        "required": ["p0"],
    }
    tools = [{"name": f"tool_{i}", "parameters": parameters} for i in range(50)]
    tag = tagsmith.get_family(COMMAND_A).structural_tag(tools=tools)
    assert len(json.dumps(tag)) < 1.5 * len(json.dumps(tools))
    arguments = {f"p{i}": {"a": "x"} for i in range(12)}
    [result] = check_structural_tag(tag, [calls(call("tool_49", arguments))])
    assert result.accepted
