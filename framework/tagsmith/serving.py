"""What any server must know about a family, derived from its file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tagsmith.engine.tables import Meaning, Region, calls_stand_anywhere, marker_meanings
from tagsmith.engine.templates import call_closers
from tagsmith.message import told_finish_reason
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout


class CallIds(StrEnum):
    """Who gives a call its id: the model writes one, or the parser numbers the calls.

    `parser` also where only some models of a family write ids. A number is told apart from others
    within one message alone, so a server gives ids of its own in its place.
    """

    MODEL = "model"
    PARSER = "parser"


@dataclass(frozen=True, slots=True)
class Serving:
    """What a server needs to know about a family.

    `preserve_tokens` must survive decoding. `turn_start` opens the model's turn in a prompt, one of
    `stop_tokens` ends it, and `stop_strings_apply_to` names the region in which a user's stop
    strings count.
    `reasoning_start` and `reasoning_end` are the markers around reasoning, those that the model
    usually writes first. `calls_end` are the literals that close the calls: one of `stop_tokens`
    comes next, where the literal is not one itself; there are none where the end of the turn
    closes them. `call_ids` says who gives calls their ids. A turn that stopped after complete calls
    has the finish reason `finish_after_calls`, one that stopped in a call `finish_in_call`; else it
    is the server's own. `source_map_key` is the key under which a server may hand over a ready map
    from positions to sources (`parser(source_map=...)`), None where the family does not cite.

    >>> import tagsmith
    >>> facts = tagsmith.get_family("Cohere2ForCausalLM").serving
    >>> facts.stop_tokens, facts.calls_end, facts.finish_after_calls
    (('<|END_OF_TURN_TOKEN|>',), ('<|END_ACTION|>',), 'tool_calls')
    """

    preserve_tokens: tuple[str, ...]
    stop_tokens: tuple[str, ...]
    turn_start: tuple[str, ...] = ()
    stop_strings_apply_to: str = "content"
    reasoning_start: tuple[str, ...] = ()
    reasoning_end: tuple[str, ...] = ()
    calls_end: tuple[str, ...] = ()
    call_ids: CallIds = CallIds.PARSER
    finish_after_calls: str = told_finish_reason("stop", begun=1, whole=1)
    finish_in_call: str = told_finish_reason("stop", begun=1, whole=0)
    source_map_key: str | None = None


def serving_facts(spec: FamilySpec) -> Serving:
    """The facts of one family."""
    meanings = marker_meanings(spec)
    return Serving(
        preserve_tokens=tuple(meanings),
        stop_tokens=spec.tokens.turn_end,
        turn_start=spec.tokens.turn_start,
        reasoning_start=tuple(m for m, meaning in meanings.items() if _opens_reasoning(meaning)),
        reasoning_end=tuple(m for m, meaning in meanings.items() if _closes_reasoning(meaning)),
        calls_end=_calls_end(spec),
        call_ids=_call_ids(spec.tool_calls),
        source_map_key=None if spec.citations is None else spec.citations.key_map.context_key,
    )


def _opens_reasoning(meaning: Meaning) -> bool:
    return meaning.opens is Region.REASONING


def _closes_reasoning(meaning: Meaning) -> bool:
    return Region.REASONING in meaning.closes


def _calls_end(spec: FamilySpec) -> tuple[str, ...]:
    region, calls = spec.tag_style.tool_calls, spec.tool_calls
    if region is not None:
        if region.end is None:
            return ()
        ends = (pair.end for pair in region.pairs if pair.end is not None)
        return tuple(dict.fromkeys(ends))
    if calls is not None and calls_stand_anywhere(spec):
        return tuple(sorted(call_closers(calls)))
    return ()


def _call_ids(calls: ToolCalls | None) -> CallIds:
    if calls is None:
        return CallIds.PARSER
    written = {
        CallLayout.JSON: calls.keys.id is not None,
        # The first form is the one that the family writes.
        CallLayout.TEMPLATE: any("{id}" in form for form in (calls.call or ())[:1]),
        CallLayout.PYTHONIC: False,
    }
    return CallIds.MODEL if written[calls.layout] else CallIds.PARSER
