"""Grammar rules: what a family's structural tags let through must be what its parser reads.

Each kind of request that the family can serve is asked for, over tools with hostile names. Every
tag must compile in xgrammar, let the family's own calls through, and write nothing but texts that
parse as the request asks (docs/laws.md, law 8). The texts are few, and the same at every run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.grammar import check_structural_tag
from tagsmith.lint.probes.asked import (
    Asked,
    ToolDict,
    ask,
    hostile_tools,
    requests_of,
    writable_tools,
)
from tagsmith.lint.probes.misread import misread
from tagsmith.lint.probes.places import place
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.loading.nodes import Path
from tagsmith.message import Message
from tagsmith.spec.models import CallId
from tagsmith.testing.sampling import sample_texts
from tagsmith.testing.writing import WritingError, write_call
from tagsmith.wording import one_line, shortened

SAMPLES = 2
"""How many texts of each tag are read."""
_SHOWN_TEXT = 200
_VALUE = "x"
_NOT_THE_REASON = re.compile(
    r"^structural_tag: xgrammar cannot compile it: (\[[0-9:]+\] \S+:[0-9]+: )?"
    r"(Check failed: \(.*?\) is (false|true): )?"
)


@dataclass(frozen=True, slots=True)
class _Fault:
    code: str
    path: Path
    message: str


def _findings(code: str, subject: LintSubject) -> Iterator[Finding]:
    for fault in _faults(subject.family):
        if fault.code == code:
            yield Finding(fault.message, place(subject, fault.path, ["tag_style"]))


@lru_cache(maxsize=1)
def _faults(family: Family) -> tuple[_Fault, ...]:
    """Everything at once: the rules look at one family after the other."""
    return (*_own_call_faults(family), *_sample_faults(family))


def _own_call_faults(family: Family) -> Iterator[_Fault]:
    """Calls written from the file, against the tag of the same file."""
    family = _with_plain_ids(family)
    tools = tuple(writable_tools(family, hostile_tools()))
    if not tools:
        return
    asked = ask(family, tools, "required")
    try:
        calls = [(tool["name"], _arguments(tool)) for tool in tools]
        texts = [write_call(family.spec, name, arguments) for name, arguments in calls]
        results = check_structural_tag(asked.tag.to_dict(), texts, markers=family.markers)
    except (WritingError, RequestError):
        # Nobody can write the encoding; or the tag does not compile, which the samples tell.
        return
    wrong = []
    for (name, arguments), text, result in zip(calls, texts, results, strict=True):
        message = family.parse(text, tools=list(tools), engine="native")
        if result.stopped_at is not None:
            fault = f"is refused by the family's structural tag at character {result.stopped_at}"
            wrong.append((text, fault))
        elif not _is_call(message, name, arguments):
            wrong.append((text, f"is read as {_told(message)}"))
    if wrong:
        text, fault = wrong[0]
        told = f"the call {_shown(text)}, written as the family says, {fault}{_more(wrong)}"
        yield _Fault("TS502", ["tool_calls"], told)


def _sample_faults(family: Family) -> Iterator[_Fault]:
    """Texts that the tags write, against the parser."""
    refused: dict[str, Asked] = {}
    wrong: list[tuple[Asked, str, str]] = []
    for number, asked in enumerate(requests_of(family)):
        tag = asked.tag.to_dict()
        try:
            samples = sample_texts(tag, SAMPLES, seed=number, markers=family.markers)
        except RequestError as error:
            refused.setdefault(_reason(error), asked)
            continue
        for text in (sample.text for sample in samples if sample.finished):
            fault = misread(family, asked, text)
            if fault is not None:
                wrong.append((asked, text, fault))
    for reason, asked in refused.items():
        told = f"the structural tag of a request ({asked}) does not compile: {reason}"
        yield _Fault("TS501", _refused_path(family, asked), told)
    if wrong:
        asked, text, fault = min(wrong, key=lambda found: len(found[1]))
        told = (
            f"the structural tag of a request ({asked}) lets {_shown(text)} through, which the"
            f" parser reads with {one_line(fault)}{_more(wrong)}"
        )
        yield _Fault("TS503", _path(family, asked), told)


def _reason(error: RequestError) -> str:
    """xgrammar's reason, without the time and the line of its own source."""
    return shortened(_NOT_THE_REASON.sub("", one_line(str(error))), _SHOWN_TEXT)


def _more(wrong: Sequence[object]) -> str:
    return f"; {len(wrong) - 1} more like it" if len(wrong) > 1 else ""


def _refused_path(family: Family, asked: Asked) -> Path:
    """The pattern of ids where that is what xgrammar refuses."""
    with suppress(RequestError):
        plain = asked.of(_with_plain_ids(family)).tag
        check_structural_tag(plain.to_dict(), [], markers=family.markers)
        return ["tool_calls", "id", "pattern"]
    return _path(family, asked)


def _path(family: Family, asked: Asked) -> Path:
    if asked.may_call:
        return ["tool_calls"]
    return ["tag_style"] if "tag_style" in family.spec.model_fields_set else ["id"]


def _with_plain_ids(family: Family) -> Family:
    """The same family with ids that the writer of calls can write: `0`, `1`."""
    calls = family.spec.tool_calls
    if calls is None:
        return family
    plain = calls.model_copy(update={"id": CallId(format=calls.id.format)})
    spec = family.spec.model_copy(update={"tool_calls": plain})
    return replace(family, spec=spec)


def _arguments(tool: ToolDict) -> dict[str, str]:
    return dict.fromkeys(tool["parameters"]["required"], _VALUE)


def _is_call(message: Message, name: str, arguments: dict[str, str]) -> bool:
    if message.diagnostics or message.content or len(message.tool_calls) != 1:
        return False
    [call] = message.tool_calls
    try:
        given = json.loads(call.arguments)
    except ValueError:
        return False
    return call.complete and (call.name, given) == (name, arguments)


def _told(message: Message) -> str:
    parts = [f"a call of {call.name!r} with {call.arguments}" for call in message.tool_calls]
    if message.content:
        parts.append(f"content {message.content!r}")
    parts += [f"'{diagnostic.code}'" for diagnostic in message.diagnostics]
    return shortened(one_line(", ".join(parts) or "nothing"), _SHOWN_TEXT)


def _shown(text: str) -> str:
    return shortened(repr(text), _SHOWN_TEXT)


RULES = tuple(
    Rule(code, name, summary, partial(_findings, code))
    for code, name, summary in (
        ("TS501", "tag-not-compiled", "A structural tag of the family that does not compile."),
        ("TS502", "own-call-refused", "A call of the family's own that its grammar refuses."),
        ("TS503", "sample-misread", "A text that the grammar writes and the parser misreads."),
    )
)
"""The rules TS5xx. Each needs xgrammar and raises `MissingDependencyError` without it."""
