"""Holds a family to the laws, on texts generated from the family itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle, islice
from random import Random
from typing import Any

from tagsmith.family import Family
from tagsmith.testing.laws import LAWS, Check, Generation, broken_by, quotable, worst_texts
from tagsmith.testing.sampling import sample_texts
from tagsmith.testing.texts import fragments, random_parts, random_request, random_text
from tagsmith.wording import shortened

SHOWN = 2000
"""How many characters of a text are shown."""

GRAMMAR = "grammar"
"""The law that is tried only where it is named: it needs xgrammar, and takes long."""

_QUOTED = ("<co>", "</co: 0:[1]>", '"', "\\", "}]", "é", "\n", "'")
_WHOLE = 10**6
"""As long a delta as any text."""
_MOST_TRIES = 300
"""How many pieces of a text, at most, are left out one by one."""
_HALF_CHARACTER = "\ud83d"
_REPEATED = 10
"""How many samples of the other laws there are for one of `linear`, which takes as much longer."""


@dataclass(frozen=True, slots=True)
class LawFailure:
    """A law that a family breaks, with the shortest text found that shows it."""

    law: str
    generation: Generation
    how: str
    seed: int

    def __str__(self) -> str:
        """It all, in lines.

        >>> import tagsmith
        >>> family = tagsmith.get_family("cohere-command-a")
        >>> print(LawFailure("nothing-lost", Generation(family, "a b"), "a gap", 1))
        law nothing-lost, family cohere-command-a, seed 1: a gap
          text     'a b'
          deltas   1 character(s) long, over and over; tokens: 1 a step
        """
        made = self.generation
        lines = [f"law {self.law}, family {made.family.id}, seed {self.seed}: {self.how}"]
        lines.append(f"  text     {shortened(repr(made.text), SHOWN)}")
        if made.request:
            lines.append(f"  request  {shortened(repr(dict(made.request)), SHOWN)}")
        lengths = ", ".join(map(str, made.sizes))
        is_whole = made.sizes[0] >= len(made.text)
        cut = "the whole text" if is_whole else f"{lengths} character(s) long, over and over"
        lines.append(f"  deltas   {cut}; tokens: {made.step} a step")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        made = self.generation
        shape = {"deltas": list(made.sizes), "tokens_a_step": made.step, "seed": self.seed}
        return {"how": self.how, "text": made.text, "request": dict(made.request), **shape}


def find_broken(family: Family, law: str, *, samples: int, seed: int) -> LawFailure | None:
    """Hold a family to one law.

    Args:
        family: The family.
        law: The law's name, one of `LAWS` or `grammar`.
        samples: How many texts; of `linear`, a tenth of them and at least one.
        seed: The same seed gives the same texts.

    Raises:
        MissingDependencyError: `grammar` needs xgrammar.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> find_broken(family, "same-text", samples=3, seed=1) is None
    True
    """
    if law == GRAMMAR:
        return _find_misread(family, samples, seed)
    check = LAWS[law]
    count = max(1, samples // _REPEATED) if law == "linear" else samples
    random = Random(f"{family.id} {law} {seed}")
    for _ in range(count):
        parts, generation = _draw(family, law, random)
        if broken_by(check, generation) is not None:
            shortest = _shortest(check, parts, generation)
            return LawFailure(law, shortest, broken_by(check, shortest) or "", seed)
    return None


def _find_misread(family: Family, samples: int, seed: int) -> LawFailure | None:
    """Law 8: texts that structural tags of the family let through, one of each tag in turn."""
    from tagsmith.lint.probes.asked import requests_of
    from tagsmith.lint.probes.misread import misread

    requests = requests_of(family)
    Random(f"{family.id} {GRAMMAR} {seed}").shuffle(requests)
    for number, asked in enumerate(islice(cycle(requests), samples)):
        made = sample_texts(asked.tag.to_dict(), 1, seed=f"{seed} {number}", markers=family.markers)
        for text in (sample.text for sample in made if sample.finished):
            how = misread(family, asked, text)
            if how is not None:
                told = f"its grammar writes what is read with {how} ({asked})"
                return LawFailure(GRAMMAR, Generation(family, text), told, seed)
    return None


def _draw(family: Family, law: str, random: Random) -> tuple[list[str], Generation]:
    """A text in its pieces, and the generation that it makes."""
    request: dict[str, Any] = {}
    if law == "linear":
        parts = [random.choice(worst_texts(family, fragments(family)))]
    elif law == "rendered-reads-back":
        parts = [random_text(random, 6) for _ in range(random.randint(0, 4))]
    elif law == "quoted-is-data":
        pieces = [*quotable(family.spec, family.markers), *_QUOTED]
        parts = random.choices(pieces, k=random.randint(0, 6))
    else:
        parts = random_parts(family, random)
        request = random_request(family, random)
        if law == "nothing-raises":
            parts.append(_HALF_CHARACTER)
    sizes = random.choices(range(1, 10), k=random.randint(1, 5))
    by_character = random.random() < 0.3
    generation = Generation(
        family, "".join(parts), request, [1] if by_character else sizes, random.randint(1, 5)
    )
    return parts, generation


def _shortest(check: Check, parts: list[str], generation: Generation) -> Generation:
    """The same with all left out that the law is broken without, and fed in the simplest way."""
    for option in generation.request:
        less = {key: value for key, value in generation.request.items() if key != option}
        generation = _if_broken(check, replace(generation, request=less), generation)
    for sizes in ([1], [_WHOLE]):
        generation = _if_broken(check, replace(generation, sizes=sizes), generation)
    generation = _if_broken(check, replace(generation, step=1), generation)
    generation = _without_pieces(check, parts, generation)
    return _without_pieces(check, list(generation.text), generation)


def _without_pieces(check: Check, pieces: list[str], generation: Generation) -> Generation:
    """One piece after the other left out, from the end, as far as the law stays broken."""
    for i in range(len(pieces) - 1, -1, -1)[:_MOST_TRIES]:
        rest = pieces[:i] + pieces[i + 1 :]
        tried = _if_broken(check, replace(generation, text="".join(rest)), generation)
        if tried is not generation:
            pieces, generation = rest, tried
    return generation


def _if_broken(check: Check, simpler: Generation, generation: Generation) -> Generation:
    """The simpler one if it breaks the law too."""
    return generation if broken_by(check, simpler) is None else simpler
