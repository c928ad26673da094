"""What a template writes for turns that call tools."""

from __future__ import annotations

from dataclasses import dataclass

from tagsmith.authoring.conversations import (
    ANSWER,
    ASKED,
    IDS,
    KEYS,
    NAMES,
    RESULT,
    VALUES,
    Prompts,
)
from tagsmith.authoring.framing import Framing
from tagsmith.authoring.literals import between


@dataclass(frozen=True, slots=True)
class CallBodies:
    """The text of each turn, from where the assistant begins to write to the tool's result.

    Empty where the template refuses the turn.
    """

    style: str
    """Whether the template takes arguments as an `object` or as `text`."""
    one: str
    """One call with one argument."""
    two: str
    """Two calls."""
    two_keys: str
    """One call with two arguments."""
    typed: str
    """One call with a number."""
    none: str
    """One call without arguments."""
    saying: str
    """What stands between an answer and the name of a call in one turn."""


def find_bodies(prompts: Prompts, framing: Framing) -> CallBodies | None:
    """The turns, with the arguments as the template takes them; None where it shows no call."""
    for style in ("object", "text"):
        bodies = _bodies(prompts, framing, style)
        if _is_shown(bodies.one):
            return bodies
    return None


def _bodies(prompts: Prompts, framing: Framing, style: str) -> CallBodies:
    def body(name: str) -> str:
        return framing.body(between(prompts[f"{style}:{name}"], ASKED, RESULT) or "")

    two = body("two")
    both = all(name in two or call_id in two for name, call_id in zip(NAMES, IDS, strict=True))
    two = two if both and VALUES[1] in two else ""
    saying = between(prompts[f"{style}:saying"], ANSWER, NAMES[0]) or ""
    rest = (body("two-keys"), body("typed"), body("none"), saying)
    return CallBodies(style, body("one"), two, *rest)


def _is_shown(body: str) -> bool:
    """Whether a call is in it; an argument in Python's quotes is no format but an accident."""
    is_accident = f"{{'{KEYS[0]}': '{VALUES[0]}'}}" in body
    return (NAMES[0] in body or IDS[0] in body) and VALUES[0] in body and not is_accident
