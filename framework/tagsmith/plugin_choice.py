"""Which of the installed plug-ins are loaded: what two environment variables say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tagsmith.wording import nearest, shortened

ALLOWED = "TAGSMITH_PLUGINS"
"""Names the plug-ins that are loaded, set apart by commas; no other is."""
DISABLED = "TAGSMITH_DISABLE_PLUGINS"
"""Names plug-ins that are not loaded; `1` stands for all but Tagsmith's own."""

_EVERY = "1"


@dataclass(frozen=True, slots=True)
class PluginChoice:
    """The names that the environment gives. Where it gives none, every plug-in is loaded.

    Tagsmith's own plug-in is left out only where it is named by TAGSMITH_DISABLE_PLUGINS.

    >>> choice = PluginChoice(allowed=("acme",))
    >>> choice.refusal("acme", is_own=False), choice.refusal("builtin", is_own=True)
    (None, None)
    >>> choice.refusal("other", is_own=False)
    'TAGSMITH_PLUGINS does not name it'
    """

    allowed: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()

    def refusal(self, name: str, *, is_own: bool) -> str | None:
        """Why the plug-in of an entry point of this name is not loaded; None where it is."""
        if name in self.disabled:
            return f"{DISABLED} names it"
        if is_own:
            return None
        if _EVERY in self.disabled:
            return f"{DISABLED} is {_EVERY}"
        return f"{ALLOWED} does not name it" if self.allowed and name not in self.allowed else None

    def unknown(self, names: Iterable[str]) -> Iterator[str]:
        """What is said of names that the environment gives and no plug-in has."""
        known = {name: name for name in names}
        for variable, given in ((ALLOWED, self.allowed), (DISABLED, self.disabled)):
            for name in given:
                if name not in known and (variable, name) != (DISABLED, _EVERY):
                    what = f"{variable} names '{shortened(name)}', which is no installed plug-in"
                    yield f"{what}; {nearest(name, known)}"


def plugin_choice() -> PluginChoice:
    """What the environment says now."""
    return PluginChoice(_names(ALLOWED), _names(DISABLED))


def _names(variable: str) -> tuple[str, ...]:
    names = (name.strip() for name in os.environ.get(variable, "").split(","))
    return tuple(name for name in names if name)
