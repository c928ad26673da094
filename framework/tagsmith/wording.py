"""How messages word what others wrote: in one line, short, and with nothing invisible in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches

SHOWN = 80
"""How many characters of a value a message shows."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def one_line(message: str) -> str:
    r"""The message with every run of whitespace, line ends included, as one space, and control
    characters escaped.

    >>> one_line("a\n  b\0")
    'a b\\x00'
    """
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", " ".join(message.split()))


def shortened(value: str, limit: int = SHOWN) -> str:
    """A value as a message shows it.

    >>> shortened("command-a"), len(shortened("a" * 100_000))
    ('command-a', 80)
    """
    return value if len(value) <= limit else f"{value[: limit - 3]}..."


def did_you_mean(wrong: str, known: Iterable[str]) -> str | None:
    """The one name that a wrong one is near to; None where none is, or several as much.

    >>> did_you_mean("titel", ["title", "tokens"]), did_you_mean("cmd9", ["cmd3", "cmd4"])
    ('title', None)
    """
    near = get_close_matches(shortened(wrong), known, n=2)
    if len(near) == 2 and len({_likeness(name, wrong) for name in near}) == 1:
        return None
    return near[0] if near else None


def nearest(wrong: str, known: Mapping[str, str]) -> str:
    """What to offer in place of a wrong name: the nearest ones, or some of those there are.

    Args:
        wrong: The name; letter case does not count.
        known: For each name that there is, how to show it; where nothing is near, those shown as
            they are are offered.

    >>> nearest("Acme-nort", {"acme-north": "acme-north"}), nearest("xyz", {"acme": "acme"})
    ('nearest: acme-north', 'there are: acme')
    """
    by_lower = {name.lower(): text for name, text in known.items()}
    near = get_close_matches(shortened(wrong).lower(), by_lower, n=3)
    if near:
        return f"nearest: {', '.join(by_lower[name] for name in near)}"
    plain = [name for name, text in known.items() if name == text]
    return f"there are: {', '.join(plain[:10]) or 'none'}"


def _likeness(name: str, wrong: str) -> float:
    return SequenceMatcher(None, name, wrong).ratio()
