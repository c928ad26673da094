"""String patterns: from the regular expressions of JSON Schema to the grammar's.

A schema's pattern may match anywhere in the value; the grammar's matches the whole, and over the
characters as written, between the quotes. So what is not anchored is opened up, and what would
put a bare quote, backslash or control character into a string is refused.
"""

from __future__ import annotations

import re

_NEGATED_CLASS = re.compile(r"\[\^(?:\\.|[^\]\\])*\]")
_NEEDS_ESCAPE = re.compile(r'["\x00-\x1f]|\\[\\nrtfv0xuc]')
_UNKNOWN = re.compile(r"\(\?(?:[=!]|<[=!])|\\[bBpPkAzZ1-9]")
_LITERAL = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)


def pattern_problem(pattern: str) -> str | None:
    """Why no grammar can hold a pattern; None where it can.

    >>> pattern_problem("^[a-z]+$") is None
    True
    >>> pattern_problem("^(?=a)b")
    'it uses lookaround, word boundaries, back references or Unicode classes'
    """
    if _UNKNOWN.search(pattern):
        return "it uses lookaround, word boundaries, back references or Unicode classes"
    if _NEEDS_ESCAPE.search(_NEGATED_CLASS.sub("", pattern)):
        return "it matches quotes, backslashes or control characters, which JSON writes escaped"
    try:
        re.compile(pattern.replace("(?<", "(?P<"))
    except re.error as error:
        return f"it is no regular expression ({error})"
    return None


def whole_value(pattern: str) -> str:
    """The same pattern for a match of the whole value.

    >>> whole_value("^https?://")
    '^https?://.*$'
    >>> whole_value("^a|b$")
    '^a.*|.*b$'
    """
    return "|".join(_opened(branch) for branch in _branches(pattern))


def _opened(branch: str) -> str:
    ends = branch.endswith("$") and not _blanked(branch).endswith("_")
    # With no anchor at all the bare pattern is left to start and end where it likes, too.
    start = branch if branch.startswith("^") else (".*" if ends else "^.*") + branch
    return start if ends else start + (".*" if not branch.startswith("^") else ".*$")


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
    return _LITERAL.sub(lambda match: "_" * len(match.group()), pattern)
