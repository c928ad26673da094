"""Comments that ask for silence: `# tagsmith: ignore[TS801]` on the line of the problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError, Location
from tagsmith.lint.source import SourceText
from tagsmith.wording import nearest, shortened

_DIRECTIVE = re.compile(
    r"(?<!\S)#[ \t]*tagsmith:[ \t]*ignore\b[^\S\n]*(?:\[(?P<codes>[^\]\n]*)\])?"
)
_CODE = re.compile(r"[^\s,]+")
_MOST_HINTS = 100


@dataclass(frozen=True, slots=True)
class IgnoredCode:
    """A code that a comment ignores, with the column it stands at."""

    code: str
    column: int


@dataclass(frozen=True, slots=True)
class IgnoreComment:
    """One such comment. `start` and `end` are the offsets of its first character and past its
    last; `codes` is empty where it names none."""

    line: int
    column: int
    start: int
    end: int
    codes: tuple[IgnoredCode, ...]


def ignore_comments(source: SourceText) -> tuple[IgnoreComment, ...]:
    r"""The comments of a file that ignore codes. What stands inside of a value is none.

    >>> text = "id: acme  # tagsmith: ignore[TS801, TS802]\ntitle: '# tagsmith: ignore[TS1]'\n"
    >>> [[code.code for code in found.codes] for found in ignore_comments(SourceText(text))]
    [['TS801', 'TS802']]
    """
    found = _DIRECTIVE.finditer(source.text)
    return tuple(_read(source, match) for match in found if not _is_inside(source, match.start()))


def heed(
    problems: Iterable[FamilyFileError],
    comments: Mapping[str, Sequence[IgnoreComment]],
    known: Collection[str],
    is_judged: Callable[[str, str], bool],
) -> tuple[list[FamilyFileError], list[FamilyFileError]]:
    """The problems that no comment ignores, and what is wrong with the comments.

    Args:
        problems: what was found.
        comments: those of each file.
        known: the codes that there are.
        is_judged: whether a code was looked for in a file, so that a comment can be called unused.
    """
    asked = {
        (file, comment.line, code.code): Location(file, comment.line, code.column)
        for file, several in comments.items()
        for comment in several
        for code in comment.codes
    }
    kept: list[FamilyFileError] = []
    used: set[tuple[str, int, str]] = set()
    for problem in problems:
        place = (problem.file, problem.line, str(problem.code))
        if place in asked:
            used.add(place)
        else:
            kept.append(problem)
    faults = [*_without_codes(comments)]
    hints = _hints({code for _, _, code in asked} - set(known), known)
    for place, location in asked.items():
        code = place[2]
        if code not in known:
            what = f"there is no code '{shortened(code)}' to ignore; "
            what += f"{hints.get(code, '')}see docs/lint.md"
            faults.append(FamilyFileError(Code.BAD_IGNORE, what, location))
        elif place not in used and is_judged(place[0], code):
            what = f"{code} is not told on this line; remove it from the comment"
            faults.append(FamilyFileError(Code.UNUSED_IGNORE, what, location))
    return kept, faults


def _hints(wrong: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """What to offer for wrong codes; of a great many not for all, as each takes time."""
    names = {name: name for name in known}
    return {code: f"{nearest(code, names)}; " for code in sorted(wrong)[:_MOST_HINTS]}


def _without_codes(
    comments: Mapping[str, Sequence[IgnoreComment]],
) -> Iterator[FamilyFileError]:
    for file, several in comments.items():
        for comment in several:
            if not comment.codes:
                what = "the comment ignores nothing; name the codes: # tagsmith: ignore[TS801]"
                location = Location(file, comment.line, comment.column)
                yield FamilyFileError(Code.BAD_IGNORE, what, location)


def _read(source: SourceText, match: re.Match[str]) -> IgnoreComment:
    line, column = source.place(match.start())
    codes = [] if match["codes"] is None else _CODE.finditer(match["codes"])
    start = column + match.start("codes") - match.start()
    named = tuple(IgnoredCode(code[0], start + code.start()) for code in codes)
    return IgnoreComment(line, column, match.start(), match.end(), named)


def _is_inside(source: SourceText, offset: int) -> bool:
    """Whether a character belongs to a value. A `|` or `>` may have a comment on its line."""
    scalar = source.scalar_at(offset)
    if scalar is None:
        return False
    return not (scalar.is_block and source.place(offset)[0] == source.place(scalar.start)[0])
