"""A draft of a family file, proposed from what a chat template makes of sentinels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tagsmith.authoring.bounded_render import Prompt, Wanted, render_bounded
from tagsmith.authoring.call_bodies import CallBodies, find_bodies
from tagsmith.authoring.call_form import CallForm, find_call_form
from tagsmith.authoring.checking import check_text
from tagsmith.authoring.conversations import ASKED, NO_TOKEN, RESULT, Prompts, conversations
from tagsmith.authoring.family_yaml import write_family
from tagsmith.authoring.framing import Framing, find_framing, opening
from tagsmith.authoring.guesses import Guesses, Sureness
from tagsmith.authoring.literals import Tokens, past, shared_start
from tagsmith.authoring.reading_back import read_back
from tagsmith.authoring.template_file import TemplateFile
from tagsmith.errors import RequestError
from tagsmith.spec.policies import InitialRegion
from tagsmith.wording import one_line, shortened

Render = Callable[[str, Wanted], Mapping[str, Prompt]]
UNSURE = Sureness.UNSURE


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed family file."""

    values: Mapping[str, Any]
    """What it says, as plain data."""
    text: str
    """The file, with a comment for each guess."""
    missing: tuple[str, ...]
    """What could not be found, and what is wrong with the draft; empty where it is whole."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was found out about a template."""

    prompts: Prompts
    tokens: Tokens
    framing: Framing
    bodies: CallBodies | None
    form: CallForm | None

    @property
    def region(self) -> InitialRegion:
        """What an output begins with, unless the prompt says otherwise."""
        said = opening(self.prompts, "asked-open", self.framing.asked_end)
        said = said.removeprefix(shared_start(said, self.framing.start))
        start, end = self.framing.thinks
        opened = bool(start) and start in said and (not end or end not in said.split(start)[-1])
        return InitialRegion.REASONING if opened else InitialRegion.CONTENT


def draft_family(
    template: TemplateFile,
    family: str,
    title: str,
    *,
    match: Mapping[str, Any] = {},
    render: Render = render_bounded,
) -> Draft:
    """Propose a family for the models that a chat template is for.

    Args:
        template: the template, and what is known of the tokens.
        family: the family's id.
        title: its title.
        match: which models it is for, where that is known.
        render: what renders the template; in a process of its own unless told otherwise.

    Raises:
        RequestError: the template is none, cannot be rendered, or takes no conversation at all.
        MissingDependencyError: jinja2 is not installed.
    """
    prompts = Prompts(render(template.text, conversations(template.roles)))
    if ASKED not in prompts["asked-open"]:
        reason = prompts.error("asked-open") or "it leaves out what the user says"
        raise RequestError("chat_template", f"makes no prompt of a question: {reason}")
    tokens = Tokens(template.tokens)
    framing = find_framing(prompts, tokens, template.text, template.roles)
    bodies = find_bodies(prompts, framing)
    form = None if bodies is None else find_call_form(bodies, framing, tokens)
    seen = _Seen(prompts, tokens, framing, bodies, form)
    guesses = Guesses()
    for key, value in (("tagsmith", 1), ("id", family), ("title", title)):
        guesses.add(key, value, "")
    if match:
        guesses.add(
            "match", dict(match), "put here what config.json has, and the model's names", UNSURE
        )
    seen = replace(seen, framing=_guess_tokens(guesses, seen, template))
    _guess_regions(guesses, seen)
    _guess_calls(guesses, seen)
    guesses.add(
        "whitespace",
        {"reasoning": "both", "content": "both", "join": "newline"},
        "as most families have it",
        UNSURE,
    )
    return _draft(guesses, seen, template)


def _guess_tokens(guesses: Guesses, seen: _Seen, template: TemplateFile) -> Framing:
    """The tokens of a turn. Returns the framing with every end of a turn."""
    framing, prompts, tokens = seen.framing, seen.prompts, seen.tokens
    starts = [framing.start.strip()]
    after_result = _after_result(seen)
    if after_result and starts[0] not in after_result:
        named = [token for token in tokens.find(after_result) if token not in framing.thinks]
        starts += named[-1:]
    starts = [start for start in starts if start]
    if starts:
        why = "before an answer, in a prompt that asks for one and in a later one that shows it"
        guesses.add("tokens.turn_start", _one(starts), why)
    else:
        guesses.missing.append("tokens.turn_start: nothing opens the assistant's turn")
    ends = [*framing.ends]
    if seen.form is not None:
        behind = framing.cut(seen.form.rest)
        if behind == seen.form.rest:
            ends += tokens.find(behind)[:1]
    ends = list(dict.fromkeys(end for end in ends if end != NO_TOKEN))
    if ends:
        guesses.add("tokens.turn_end", _one(ends), "behind an answer, or behind calls")
    else:
        what = "tokens.turn_end: the template names it, and tokenizer_config.json says which it is"
        guesses.missing.append(what if NO_TOKEN in prompts["answered"] else what.partition(":")[0])
    hidden = _hidden(guesses, seen, template)
    if hidden:
        guesses.add("tokens.hidden", hidden, "what frames other turns, and special tokens", UNSURE)
    return replace(framing, ends=tuple(ends))


def _after_result(seen: _Seen) -> str:
    """What a prompt ends with when a tool has answered."""
    if seen.bodies is None:
        return ""
    return past(seen.prompts[f"{seen.bodies.style}:one"], RESULT) or ""


def _hidden(guesses: Guesses, seen: _Seen, template: TemplateFile) -> list[str]:
    """Tokens around what others say, but those that mean something."""
    tokens, framing, form = seen.tokens, seen.framing, seen.form
    asked = seen.prompts["asked"]
    texts = [
        asked[: asked.index(ASKED)][-200:] if ASKED in asked else "",
        framing.asked_end,
        framing.start,
        "" if form is None else form.rest,
        _after_result(seen),
        *template.roles.values(),
    ]
    known = {*guesses.markers(), *framing.thinks, *framing.wraps, *framing.ends}
    if form is not None:
        known |= {*form.region}
        texts.append(str(form.calls.get("call", "")))
    found = dict.fromkeys(token for text in texts for token in tokens.find(text))
    special = (token for token in found if tokens.is_special(token) and token != NO_TOKEN)
    return [token for token in special if token not in known and len(token) > 1]


def _guess_regions(guesses: Guesses, seen: _Seen) -> None:
    framing = seen.framing
    why = "what the prompt for an answer leaves open"
    guesses.add("initial_region", seen.region.value, why)
    start, end = framing.thinks
    if start:
        pair = _pair(start, end)
        if framing.thinks_seen and end:
            guesses.add("tag_style.reasoning", pair, "around a thought")
        else:
            why = "in the prompt for an answer; the template shows no thought of an earlier turn"
            guesses.add("tag_style.reasoning", pair, why, UNSURE)
    if framing.wraps[0]:
        guesses.add("tag_style.content", [_pair(*framing.wraps)], "around an answer")


def _guess_calls(guesses: Guesses, seen: _Seen) -> None:
    form = seen.form
    if form is None:
        if seen.bodies is None:
            reason = seen.prompts.error("object:one") or "it leaves them out of its prompts"
            what = f"the template shows none ({shortened(one_line(reason))})"
        else:
            what = f"they are written as {shortened(repr(seen.bodies.one))}, which no layout says"
        guesses.missing.append(f"tool_calls: {what}; write them by hand, or leave them out")
        return
    if form.region[0]:
        guesses.add("tag_style.tool_calls", _pair(*form.region), "around calls")
    for key, value in form.calls.items():
        if key in form.unsure:
            guesses.add(f"tool_calls.{key}", value, form.unsure[key], UNSURE)
        else:
            guesses.add(f"tool_calls.{key}", value, form.why.get(key, ""))


def _draft(guesses: Guesses, seen: _Seen, template: TemplateFile) -> Draft:
    values = guesses.values()
    missing = [*guesses.missing]
    head = [
        f"A draft, made from {Path(template.file).name} by what it writes around sentinels. Every",
        "comment says where a line comes from; compare them with outputs of the model. Say under",
        "match which models this is for; citations, and other spellings of markers, no template",
        "shows.",
    ]
    plain = write_family(values, guesses.comments(), head)
    checked = check_text(plain, values["id"])
    missing += checked.problems
    if checked.family is not None:
        missing += read_back(checked.family, seen.prompts, seen.framing, seen.bodies)
    told = [f"Missing: {what}" for what in missing]
    text = write_family(values, guesses.comments(), [*head, *told])
    return Draft(values, text, tuple(missing))


def _pair(start: str, end: str) -> dict[str, str]:
    return {"start": start, **({"end": end} if end else {})}


def _one(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else values
