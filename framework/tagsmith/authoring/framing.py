"""How a template frames a turn of the assistant: what opens it, ends it, and wraps what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tagsmith.authoring.conversations import ANSWER, ASKED, ASKED_AGAIN, NO_TOKEN, THOUGHT, Prompts
from tagsmith.authoring.literals import OPPOSITES, Tokens, between, past, shared_start

Pair = tuple[str, str]
"""Two markers around something; empty where there are none."""


@dataclass(frozen=True, slots=True)
class Framing:
    """What stands around the text of an assistant. Empty where there is nothing."""

    asked_end: str
    """What a template writes behind what the user says."""
    start: str
    """What opens the assistant's turn, to the letter."""
    thinks: Pair = ("", "")
    """Before and after a thought."""
    thinks_seen: bool = True
    """Whether a thought was seen between them."""
    wraps: Pair = ("", "")
    """Before and after an answer."""
    ends: tuple[str, ...] = ()
    """What ends the turn."""

    def body(self, text: str) -> str:
        """What the assistant writes: past its turn's start, and past a thought that is empty.

        `text` is what follows the words of a user.
        """
        text = text.removeprefix(self.asked_end)
        text = text.removeprefix(shared_start(text, self.start))
        start, end = self.thinks
        inside = text.lstrip().removeprefix(start).lstrip()
        return inside.removeprefix(end).lstrip() if end and inside.startswith(end) else text

    def cut(self, text: str) -> str:
        """A text up to the first thing that ends the turn."""
        ends = [text.find(end) for end in self.ends if end in text]
        return text[: min(ends, default=len(text))]


def find_framing(
    prompts: Prompts, tokens: Tokens, template: str, roles: Mapping[str, str]
) -> Framing:
    """Compare prompts with and without each part.

    Args:
        prompts: what the template made.
        tokens: finds tokens.
        template: the template's text, to see what it may write.
        roles: the special tokens it may name.
    """
    asked_end = past(prompts["asked"], ASKED) or ""
    opener = opening(prompts, "asked-open", asked_end)
    plain = _before_answer(prompts).removeprefix(asked_end)
    if opener:
        framing = Framing(asked_end, shared_start(opener, plain) or opener)
    else:
        # Nothing says that the assistant begins but the end of what the user says.
        framing = Framing("", asked_end)
        plain = _before_answer(prompts)
    framing = _with_thinks(framing, prompts, tokens, template)
    framing = replace(framing, start=_before_any(framing.start, framing.thinks))
    wrap = plain.removeprefix(shared_start(plain, framing.start))
    for marker in filter(None, framing.thinks):
        wrap = wrap.replace(marker, "")
    return _with_closing(framing, wrap.strip(), prompts, tokens, roles)


def opening(prompts: Prompts, name: str, asked_end: str) -> str:
    """What the prompt for an answer ends with, past the words of the user."""
    return (past(prompts[name], ASKED) or "").removeprefix(asked_end)


def _before_answer(prompts: Prompts) -> str:
    """What stands before an answer; before an earlier one, which has no thought in it."""
    return between(prompts["history"] or prompts["answered"], ASKED, ANSWER) or ""


def _before_any(text: str, markers: Pair) -> str:
    places = [text.find(marker) for marker in markers if marker and marker in text]
    return text[: min(places, default=len(text))]


def _with_thinks(framing: Framing, prompts: Prompts, tokens: Tokens, template: str) -> Framing:
    for name in ("thought", "thought-blocks", "object:thinking", "text:thinking"):
        before = between(prompts[name], ASKED, THOUGHT)
        if before is None or _is_spelled_out(before):
            continue
        before = before.removeprefix(framing.asked_end)
        start = before.removeprefix(shared_start(before, framing.start)).strip()
        start = start or next(iter(reversed(tokens.find(framing.start))), "")
        after = past(prompts[name], THOUGHT) or ""
        end = next(iter(tokens.find(after)), "")
        if ANSWER in after:
            after = after[: after.index(ANSWER)].strip()
            end = next(iter(tokens.find(after)), after)
        return replace(framing, thinks=(start, end))
    return replace(
        framing, thinks=_unseen_thinks(framing, prompts, tokens, template), thinks_seen=False
    )


def _is_spelled_out(before: str) -> bool:
    """Whether content blocks are shown as data, by a template that knows nothing of them."""
    return "'thinking'" in before or '"thinking"' in before


def _unseen_thinks(framing: Framing, prompts: Prompts, tokens: Tokens, template: str) -> Pair:
    """The markers that a prompt ends with, where the template shows no earlier thought."""
    said: list[str] = []
    for name in ("asked-open", "asked-on", "asked-off"):
        text = opening(prompts, name, framing.asked_end)
        said += tokens.find(text.removeprefix(shared_start(text, framing.start)))
    # A template that writes it always, opens the thinking in what looks like the turn's start.
    said += [token for token in tokens.find(framing.start)[1:] if "think" in token.lower()]
    for token in said:
        for start, end in _mirrored(token):
            if start in template and end in template:
                return start, end
    return "", ""


def _mirrored(token: str) -> list[Pair]:
    """The pairs that a token may belong to, as opener or closer."""
    if token[1:2] == "/":
        return [(token[:1] + token[2:], token)]
    pairs = [(token, token[:1] + "/" + token[1:])]
    for one, other in OPPOSITES:
        if one in token:
            pairs.append((token, token.replace(one, other)))
        elif other in token:
            pairs.append((token.replace(other, one), token))
    return pairs


def _with_closing(
    framing: Framing, wrap: str, prompts: Prompts, tokens: Tokens, roles: Mapping[str, str]
) -> Framing:
    """The end of an answer: a wrapper's closer and the end of the turn."""
    closing = past(prompts["answered"], ANSWER) or ""
    if framing.start.strip() and framing.start in closing:
        closing = closing[: closing.index(framing.start)]
    if not closing.strip():
        closing = tokens.first(between(prompts["history"], ANSWER, ASKED_AGAIN) or "")
    found = [token for token in tokens.find(closing) or [closing.strip()] if token != NO_TOKEN]
    last = roles.get("eos_token", "")
    if not wrap or not found:
        return replace(framing, wraps=(wrap, ""), ends=tuple(filter(None, found[:1])))
    if len(found) == 1 and found[0] == last:
        # The last message of all ends otherwise than an earlier one.
        earlier = between(prompts["history"], ANSWER, ASKED_AGAIN) or ""
        found = [*tokens.find(earlier)[:1], last]
    ends = found[1:2] or [last or found[0]]
    return replace(framing, wraps=(wrap, found[0] if found[0] != last else ""), ends=tuple(ends))
