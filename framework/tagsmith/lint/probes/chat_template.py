"""Chat-template rules: a prompt must begin the turn, and open the regions, as the family says.

The template is rendered as a server would, with sentinels in place of what people say, and what
stands around them is read by the family.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.engine.tables import marker_meanings
from tagsmith.errors import Location, RequestError
from tagsmith.family import Family
from tagsmith.lint.probes.places import place
from tagsmith.lint.probes.tokenizer_files import ChatTemplate, TokenizerFiles
from tagsmith.lint.rules import Finding, LintSubject
from tagsmith.loading.nodes import Path
from tagsmith.message import Message
from tagsmith.spec.policies import InitialRegion
from tagsmith.wording import shortened

_QUESTION, _ANSWER, _THOUGHT = "sentinel-question", "sentinel-answer", "sentinel-thought"
_NAME, _ARGUMENTS = "sentinel_tool", {"sentinel_key": "sentinel-value"}
_MODES = ("auto", "enabled", "disabled")
_FIELD = "chat_template: "
_FAULT = re.compile(_FIELD + "(?:line ([0-9]+): )?.*", re.DOTALL)
_SHOWN = 120

Turn = Mapping[str, Any]

_SYSTEM: Turn = {"role": "system", "content": "sentinel-rules"}
_ASKED: Turn = {"role": "user", "content": _QUESTION}
_ANSWERED: Turn = {"role": "assistant", "content": _ANSWER}
_CALLED: Turn = {
    "role": "assistant",
    "content": None,
    "reasoning_content": _THOUGHT,
    "tool_calls": [
        {
            "id": "sentinel0",
            "type": "function",
            "function": {"name": _NAME, "arguments": json.dumps(_ARGUMENTS)},
        }
    ],
}
_RESULT: Turn = {"role": "tool", "tool_call_id": "sentinel0", "content": "sentinel-result"}


@dataclass(frozen=True, slots=True)
class _Renderer:
    """A model's template with the family that it is rendered for."""

    family: Family
    template: ChatTemplate
    special_tokens: Mapping[str, str]
    opening: tuple[Turn, ...] = ()
    """What every conversation begins with."""

    def render(self, *turns: Turn, reasoning: str = "auto") -> str:
        """The prompt. Raises `RequestError` where the template fails or refuses it."""
        return self.family.render(
            [*self.opening, *turns],
            chat_template=self.template.text,
            special_tokens=self.special_tokens,
            reasoning=reasoning,
        )

    def rendered(self, *turns: Turn, reasoning: str = "auto") -> str | None:
        """The same; None where the template fails or refuses it."""
        try:
            return self.render(*turns, reasoning=reasoning)
        except RequestError:
            return None

    def tail(self, prompt: str) -> str | None:
        """What follows the last turn start, if there is one after the question."""
        asked = max(prompt.rfind(_QUESTION), 0)
        start = _past_last(prompt, self.family.spec.tokens.turn_start, asked)
        return None if start is None else prompt[start:]

    def turn(self, sentinel: str, *turns: Turn) -> str | None:
        """The turn of the assistant that a sentinel stands in, with its end; None if none does."""
        tokens, prompt = self.family.spec.tokens, self.rendered(*turns) or ""
        at = prompt.find(sentinel)
        start = _past_last(prompt[: max(at, 0)], tokens.turn_start)
        ends = [prompt.find(end, at) + len(end) for end in tokens.turn_end if end in prompt[at:]]
        return None if start is None or not ends else prompt[start : min(ends)]


def _begin(files: TokenizerFiles, subject: LintSubject) -> tuple[_Renderer, str] | None:
    """The renderer of a template that can be used, and the prompt of a question.

    Some templates want a system message first.
    """
    if files.template is None:
        return None
    for opening in ((), (_SYSTEM,)):
        renderer = _Renderer(subject.family, files.template, files.special_tokens, opening)
        prompt = renderer.rendered(_ASKED)
        if prompt is not None:
            return renderer, prompt
    return None


def _unusable(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS711."""
    if files.template is None or _begin(files, subject) is not None:
        return
    try:
        _Renderer(subject.family, files.template, files.special_tokens).render(_ASKED)
    except RequestError as error:
        fault = _FAULT.fullmatch(str(error))
        if fault is not None:
            line = int(fault[1] or 1) if files.template.is_own_file else 1
            what = f"the chat template cannot be rendered: {fault[0].removeprefix(_FIELD)}"
            yield Finding(what, Location(files.template.file, line))


def _missing_start(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS712."""
    begun, starts = _begin(files, subject), subject.spec.tokens.turn_start
    if begun is None or not starts:
        return
    renderer, prompt = begun
    if renderer.tail(prompt) is None:
        what = (
            f"the prompt that the chat template makes has no {' or '.join(map(repr, starts))} after"
            f" the user's message: it ends with {_end_of(prompt)!r}; correct it, so that markers in"
            " the message are not taken for the model's own"
        )
        yield Finding(what, place(subject, ["tokens", "turn_start"]))


def _unknown_opening(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS713."""
    begun = _begin(files, subject)
    if begun is None:
        return
    told: set[str] = set()
    for mode in _MODES:
        prompt = begun[0].rendered(_ASKED, reasoning=mode) or ""
        unknown = _without_markers(subject.family, begun[0].tail(prompt) or "").strip()
        if unknown and unknown not in told:
            told.add(unknown)
            what = (
                f"the prompt that the chat template makes (reasoning {mode}) goes on after the turn"
                f" start with {shortened(unknown, _SHOWN)!r}, which is no marker of the family; add"
                " it to tag_style or tokens"
            )
            yield Finding(what, place(subject, ["tag_style", "reasoning"], ["tag_style"]))


def _other_region(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS714."""
    begun = _begin(files, subject)
    tail = None if begun is None else begun[0].tail(begun[1])
    if begun is None or tail is None or not _has_region_marker(subject.family, tail):
        return
    message = subject.family.parse("word", prompt=begun[1])
    region = InitialRegion.CONTENT if message.reasoning is None else InitialRegion.REASONING
    if region is not subject.spec.initial_region:
        what = (
            f"the prompt that the chat template makes ends with {_end_of(tail)!r}, so that the"
            f" output begins in {region}, and initial_region is {subject.spec.initial_region}: a"
            f" parser that is not given the prompt reads it wrong; write initial_region: {region}"
        )
        yield Finding(what, place(subject, ["initial_region"], ["id"]))


def _misread_turns(files: TokenizerFiles, subject: LintSubject) -> Iterator[Finding]:
    """TS715."""
    begun = _begin(files, subject)
    if begun is None:
        return
    answer = begun[0].turn(_ANSWER, _ASKED, _ANSWERED, _ASKED)
    if answer is not None and not _is_answer(subject.family.parse(answer)):
        yield _misread(subject, answer, ["tag_style", "content"])
    call = begun[0].turn(_NAME, _ASKED, _CALLED, _RESULT)
    if call is not None and not _is_call(subject.family.parse(call), call):
        yield _misread(subject, call, ["tool_calls"])


def _misread(subject: LintSubject, turn: str, path: Path) -> Finding:
    what = (
        f"a turn that the chat template writes as {shortened(repr(turn), _SHOWN)} is read as"
        f" {_told(subject.family.parse(turn))}; correct the family, if the model writes so too"
    )
    return Finding(what, place(subject, path, ["tag_style"]))


def _is_answer(message: Message) -> bool:
    """Whether nothing but the answer is shown; in which region, a prompt need not say."""
    return ((message.reasoning or "") + (message.content or "")).strip() == _ANSWER


def _is_call(message: Message, turn: str) -> bool:
    """Whether the call is read, and the thought, where the template does not leave it out."""
    if _THOUGHT in turn and (message.reasoning or "").strip() != _THOUGHT:
        return False
    try:
        calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    except ValueError:
        return False
    return calls == [(_NAME, _ARGUMENTS)]


def _told(message: Message) -> str:
    parts = [f"a call of {call.name!r} with {call.arguments}" for call in message.tool_calls]
    texts = (("reasoning", message.reasoning), ("content", message.content))
    parts += [f"{kind} {text!r}" for kind, text in texts if text]
    return shortened(", ".join(parts) or "nothing", _SHOWN)


def _past_last(text: str, markers: Sequence[str], start: int = 0) -> int | None:
    """The place behind the last of these markers, if one stands after `start`."""
    ends = [text.rfind(marker) + len(marker) for marker in markers if marker in text[start:]]
    return max(ends, default=None)


def _without_markers(family: Family, text: str) -> str:
    for marker in sorted(family.markers, key=len, reverse=True):
        text = text.replace(marker, " ")
    return text


def _has_region_marker(family: Family, text: str) -> bool:
    return any(
        marker in text
        for marker, meaning in marker_meanings(family.spec).items()
        if meaning.opens is not None or meaning.closes
    )


def _end_of(text: str) -> str:
    return text if len(text) <= _SHOWN else f"...{text[-_SHOWN:]}"


TEMPLATE_RULES = (
    (
        "TS711",
        "chat-template-unusable",
        "A chat template that cannot be rendered.",
        _unusable,
    ),
    (
        "TS712",
        "turn-start-not-in-prompt",
        "A turn start that the chat template does not write.",
        _missing_start,
    ),
    (
        "TS713",
        "prompt-opens-unknown",
        "What the chat template begins the turn with, and the family does not know.",
        _unknown_opening,
    ),
    (
        "TS714",
        "prompt-opens-other-region",
        "A chat template that opens another region than `initial_region`.",
        _other_region,
    ),
    (
        "TS715",
        "template-turn-misread",
        "A turn of the assistant in the chat template's form that the family misreads.",
        _misread_turns,
    ),
)
"""The rules on the chat template: each a code, a name, a summary and a check."""
