"""Regular expressions for what no literal may be: text that begins with none of some words, or is
none of them. The grammar engine knows no lookahead, so the words' tree is written out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from tagsmith.grammar.formats import literal, shortest

Tree = dict[str, "Tree"]

_ATOM = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_WIDE = {r"\S": r"\s", r"\D": r"\d", r"\W": r"\w"}
_IN_CLASS = set("\\]^-[")
_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def none_of(chars: Iterable[str], *, also: str = "") -> str:
    """A class of all characters but these; `also` is what a class may hold besides.

    >>> none_of("]<")
    '[^<\\\\]]'
    """
    return f"[^{_listed(chars)}{also}]"


@lru_cache(maxsize=256)
def not_beginning_with(words: tuple[str, ...], *, beside: str = "", also: str = "") -> str:
    """The shortest beginnings of text that begins with none of these words, none of them empty;
    kept, because a family's words are the same for every request.

    The last character of each begins none of the words either, so that what comes next may be
    looked at on its own; it is none of `beside`. The first one is not in the class `also`.

    >>> bool(re.fullmatch(not_beginning_with(("<a>", "{")), "<b"))
    True
    >>> any(re.fullmatch(not_beginning_with(("<a>", "{")), text) for text in ["{", "<a", "<<"])
    False
    """
    firsts = {word[0] for word in words}.union(beside)
    found = [
        literal(path) + none_of(firsts.union(tree), also="" if path else also)
        for path, tree in _walk(_tree(shortest(words)))
        if tree
    ]
    return "(?:" + "|".join(found) + ")"


def other_than(words: Collection[str], chars: Collection[str], *, inside: str = "") -> str:
    """Any word that holds none of the characters and is none of these words.

    It is 64 characters long at most, or goes on so far from the beginning of one of the words.
    `inside` are characters that it may hold, but not begin or end with.

    >>> pattern = re.compile(other_than(["city", "cities"], ">", inside=" "))
    >>> [bool(pattern.fullmatch(key)) for key in ["city", "cit", "citys", "town", "c>"]]
    [False, True, True, True, False]
    >>> [bool(pattern.fullmatch(key)) for key in ["city a", "city ", " city"]]
    [True, False, False]
    """
    known = {word for word in words if word and not any(char in word for char in chars)}
    edge = none_of({*chars, *inside})
    rest = f"(?:{none_of(chars)}{{0,62}}{edge})"
    found: list[str] = []
    for path, tree in _walk(_tree(known)):
        found.append(f"{literal(path)}{none_of({*tree, *chars, *inside})}{rest}?")
        if path:
            found += [literal(path + char) + rest for char in inside if char not in tree]
        if path and path not in known and path[-1] not in inside:
            found.append(literal(path))
    return "(?:" + "|".join(found) + ")"


def within(pattern: str, forbidden: Collection[str]) -> str | None:
    r"""A pattern of the same texts but for those that hold a forbidden character.

    None where that cannot be written: a class or a literal of the pattern asks for one of them.

    >>> within("a.*", "<"), within(r"\S+", "<"), within("[^a]", "<"), within("<b>", "<")
    ('a[^\\n<]*', '[^<\\s]+', '[^a<]', None)
    """
    written: list[str] = []
    for atom in _ATOM.findall(pattern):
        kept = _atom_within(atom, forbidden)
        if kept is None:
            return None
        written.append(kept)
    return "".join(written)


def lengths(chars: str, least: int, most: int | None) -> str:
    """So many characters of a class. Many are counted in blocks, which compile many times faster.

    >>> lengths("[a-z]", 1, 3), lengths("[a-z]", 2, None)
    ('[a-z]{1,3}', '[a-z]{2}[a-z]*')
    """
    if most is None:
        return f"{chars}{{{least}}}{chars}*" if least else f"{chars}*"
    more = most - least
    if more <= _BLOCK:
        return f"{chars}{{{least},{most}}}"
    fixed = f"{chars}{{{least}}}" if least else ""
    blocks, rest = divmod(more, _BLOCK)
    return f"{fixed}(?:{chars}{{{_BLOCK}}}){{0,{blocks - 1}}}{chars}{{0,{_BLOCK + rest}}}"


_BLOCK = 32


def _atom_within(atom: str, forbidden: Collection[str]) -> str | None:
    if atom == ".":
        return none_of({*forbidden, "\n"})
    if atom in _WIDE:
        return none_of(forbidden, also=_WIDE[atom])
    if atom.startswith("[^"):
        return atom[:-1] + _listed(forbidden) + "]"
    is_atom = len(atom) > 1 or atom not in "()|*+?{}"
    try:
        asks = is_atom and any(re.fullmatch(atom, char) for char in forbidden)
    except re.error:
        asks = True
    return None if asks else atom


def _tree(words: Iterable[str]) -> Tree:
    tree: Tree = {}
    for word in words:
        at = tree
        for char in word:
            at = at.setdefault(char, {})
    return tree


def _walk(tree: Tree, path: str = "") -> Iterator[tuple[str, Tree]]:
    """Each place in the tree, with what leads to it."""
    yield path, tree
    for char, inner in tree.items():
        yield from _walk(inner, path + char)


def _listed(chars: Iterable[str]) -> str:
    """Characters as a class lists them."""
    return "".join(
        _ESCAPED.get(char, "\\" + char if char in _IN_CLASS else char) for char in sorted(chars)
    )
