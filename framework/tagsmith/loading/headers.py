"""What a family file says of itself, found without reading the rest of it as data."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise

from tagsmith.errors import FamilyFileError
from tagsmith.loading.files import FamilyFile, FoundFile, parse_file, read_text
from tagsmith.loading.validate import read_match
from tagsmith.spec.models import Match

_OTHER_LINE_ENDS = "\x85\u2028\u2029"
_BEFORE_ANY_KEY = re.compile(r"(?:[ \t]*(?:#.*)?\n)*")
_AT_THE_LEFT = re.compile(r"^[^ \t\n#]", re.MULTILINE)
_KEY = re.compile(r"([a-z_]+):(?=[ \t\n]|$)")
_ONE_WORD = re.compile(
    r"[a-z_]+:[ ]+([A-Za-z0-9][A-Za-z0-9._/-]*)(?:[ ]+#.*)?[ ]*(?:\n[ \t]*(?:#.*)?)*"
)


class OpenedFile:
    """A family file that was opened; it is read as data when that is needed.

    What it says stays what it was when it was opened. `id`, `extends` and `match` are found in its
    text alone, where that can be done: they hold what the file says, and where it says nothing, or
    is no data at all, may hold what only looks like it.
    """

    def __init__(self, found: FoundFile) -> None:
        self.found = found
        self._text = read_text(found)

    @property
    def is_unreadable(self) -> bool:
        """Whether there is no text to read."""
        return isinstance(self._text, FamilyFileError)

    @cached_property
    def file(self) -> FamilyFile:
        """All that the file says, read as data."""
        return parse_file(self.found, self._text)

    @cached_property
    def id(self) -> str | None:
        """The family's id."""
        return self._word("id")

    @cached_property
    def extends(self) -> str | None:
        """What the family extends."""
        return self._word("extends")

    @cached_property
    def match(self) -> Match:
        """What the family serves; nothing where that cannot be read."""
        root = self._saying("match").root
        return (root and read_match(root)) or Match()

    @cached_property
    def _parts(self) -> dict[str, str] | None:
        return None if isinstance(self._text, FamilyFileError) else top_level_parts(self._text)

    def _word(self, key: str) -> str | None:
        part = "" if self._parts is None else self._parts.get(key, "")
        simple = _ONE_WORD.fullmatch(part)
        return simple[1] if simple else self._saying(key).text_at(key)

    def _saying(self, key: str) -> FamilyFile:
        """The file, or the part of it that has this key at the top, read as data."""
        if self._parts is not None:
            part = parse_file(self.found, self._parts.get(key, "{}"))
            if not part.problems:
                return part
        return self.file


def top_level_parts(text: str) -> dict[str, str] | None:
    """The text of each key at the top with its value; None where the text alone cannot tell.

    In a mapping that begins at the left edge, every key of it stands there, and a line that is no
    plain key there makes the text one that cannot tell. So no key is missed. A line that looks like
    one and is none stands inside a value that is open before it, and that value, cut there, cannot
    be read.

    >>> top_level_parts("id: acme\\nmatch:\\n  models: [acme/*]\\n")
    {'id': 'id: acme\\n', 'match': 'match:\\n  models: [acme/*]\\n'}
    """
    text = text.replace("\r\n", "\n")
    before = _BEFORE_ANY_KEY.match(text)
    if before is None or text.startswith((" ", "\t"), before.end()):
        return None
    if "\r" in text or any(end in text for end in _OTHER_LINE_ENDS):
        return None
    starts = [line.start() for line in _AT_THE_LEFT.finditer(text)]
    parts: dict[str, str] = {}
    for start, end in pairwise([*starts, len(text)]):
        key = _KEY.match(text, start)
        if key is None or key[1] in parts:
            return None
        parts[key[1]] = text[start:end]
    return parts


def serves_model(match: Match, model: str) -> bool:
    """Whether one of the model patterns matches; letter case does not count."""
    return any(fnmatchcase(model.lower(), glob.lower()) for glob in match.models)
