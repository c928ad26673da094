"""String patterns: from the regular expressions of JSON Schema to the grammar's.

A schema's pattern may match anywhere in the value; the grammar's matches the whole value, over the
characters as written between the quotes. So what is not anchored is opened up, and what would put
a bare quote, backslash or control character into a string is not held to be a pattern at all.
"""

from __future__ import annotations

import re

_NEGATED_CLASS = re.compile(r"\[\^(?:\\.|[^\]\\])*\]", re.DOTALL)
_NEEDS_ESCAPE = re.compile(r'["\x00-\x1f]|\\[\\nrtfv0xuc]')
_UNKNOWN = re.compile(r"\(\?(?:[=!]|<[=!])|\\[bBpPkAzZ1-9]")
_CODED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_LOOSE_BRACE = re.compile(r"\{(?!\d+(?:,\d*)?\})")
_REPEATS = re.compile(r"\{(\d*),?(\d*)\}")
_ATOM = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)

MAX_REPEATS = 256
"""How often a pattern may repeat something: beyond, compiling it takes seconds, then minutes."""


def pattern_problem(pattern: str) -> str | None:
    """Why no grammar can hold a pattern; None where it can.

    >>> pattern_problem("^[a-z]+$") is None
    True
    >>> pattern_problem("^(?=a)b")
    'it uses lookaround, word boundaries, back references or Unicode classes'
    """
    pattern = _decoded(pattern)
    if _UNKNOWN.search(pattern):
        return "it uses lookaround, word boundaries, back references or Unicode classes"
    try:
        re.compile(pattern.replace("(?<", "(?P<"))
    except (re.error, RecursionError, OverflowError) as error:
        return f"it cannot be read as a regular expression ({error})"
    if _NEEDS_ESCAPE.search(_NEGATED_CLASS.sub("", pattern)):
        return "it matches quotes, backslashes or control characters, which JSON writes escaped"
    if _LOOSE_BRACE.search(_blanked(pattern)):
        return "it holds a brace that counts nothing; write \\{"
    if any(char in _blanked(branch)[1:-1] for branch in _branches(pattern) for char in "^$"):
        return "it holds an anchor inside"
    counts = [int(count) for pair in _REPEATS.findall(_blanked(pattern)) for count in pair if count]
    if any(count > MAX_REPEATS for count in counts):
        return f"it repeats more than {MAX_REPEATS} times; minLength and maxLength have no limit"
    return None


def whole_value(pattern: str) -> str:
    """The same pattern for a match of the whole value.

    >>> whole_value("^https?://")
    'https?://.*'
    >>> whole_value("^a|b$")
    'a.*|.*b'
    """
    return "|".join(_opened(branch) for branch in _branches(_decoded(pattern)))


def _decoded(pattern: str) -> str:
    """The pattern with the characters that it names by number, but for those that JSON escapes."""
    return _CODED.sub(lambda match: _character(match[0], match[1] or match[2]), pattern)


def _character(written: str, number: str) -> str:
    char = chr(int(number, 16))
    kept = char.isprintable() and char not in '"\\'
    return re.escape(char) if kept and char.isascii() else char if kept else written


def _opened(branch: str) -> str:
    starts, ends = branch.startswith("^"), _blanked(branch).endswith("$")
    body = branch[starts : len(branch) - ends]
    return ("" if starts else ".*") + body + ("" if ends else ".*")


def _branches(pattern: str) -> list[str]:
    """Split at the bars that stand in no group."""
    branches, depth, start = [], 0, 0
    for index, char in enumerate(_blanked(pattern)):
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            branches.append(pattern[start:index])
            start = index + 1
    return [*branches, pattern[start:]]


def _blanked(pattern: str) -> str:
    """The pattern with every escape and character class written over."""
    return _ATOM.sub(lambda match: "_" * len(match.group()), pattern)
