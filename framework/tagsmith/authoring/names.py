"""The names of a new plug-in package, made of the one that its author gives."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass

from tagsmith.errors import RequestError
from tagsmith.wording import shortened

LONGEST = 48
"""The longest name, in characters: what is made of it has to fit where names are limited."""

_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Names:
    """What everything is called."""

    family: str
    """The family's id."""

    @property
    def title(self) -> str:
        """The name people use."""
        return " ".join(word.capitalize() for word in re.split("[._-]", self.family))

    @property
    def stem(self) -> str:
        """The name of the family's file, without its ending."""
        return re.sub("[._-]", "_", self.family)

    @property
    def module(self) -> str:
        """The Python package."""
        return f"tagsmith_{self.stem}"

    @property
    def distribution(self) -> str:
        """What is installed."""
        return f"tagsmith-{self.family}"

    @property
    def architecture(self) -> str:
        """An architecture that is yet to be named right."""
        return f"{self.title.replace(' ', '')}ForCausalLM"

    @property
    def models(self) -> str:
        """A pattern of models that is yet to be named right."""
        return f"{self.family}/{self.family}-*"


UNNAMED = Names("my-family")
"""What a family is called until its author says better."""


def read_name(name: str) -> Names:
    """The names for a family.

    Raises:
        RequestError: it is no name, or what would be made of it is there already.

    >>> read_name("my-family").module
    'tagsmith_my_family'
    >>> read_name("My Family")
    Traceback (most recent call last):
    tagsmith.errors.RequestError: name: 'My Family' is no family id; write lower-case letters and \
digits, with single '-', '_' or '.' between them
    """
    if len(name) > LONGEST:
        raise RequestError("name", f"{shortened(name)!r} is longer than {LONGEST} characters")
    if not _NAME.fullmatch(name) or name.endswith((".yaml", ".yml")):
        what = "write lower-case letters and digits, with single '-', '_' or '.' between them"
        raise RequestError("name", f"{name!r} is no family id; {what}")
    names = Names(name)
    if importlib.util.find_spec(names.module) is not None:
        what = f"a package '{names.module}' is installed already; choose another name"
        raise RequestError("name", what)
    return names
