"""Whether a family says all that its call layout and its argument encoding need, and no more."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator

from tagsmith.codes import Code
from tagsmith.engine.layouts import ENCODINGS
from tagsmith.engine.tables import calls_stand_anywhere, marker_meanings
from tagsmith.engine.templates import Hole, call_openers, split_template, words_after
from tagsmith.loading.nodes import Path, dotted
from tagsmith.loading.subject import Finding, Listed, Subject, differs
from tagsmith.loading.templates import ITEM, PARAMETER, call_kind, check_template
from tagsmith.spec.models import Arguments, ToolCalls
from tagsmith.spec.policies import CallLayout, Unmarked
from tagsmith.wording import nearest, one_line, shortened

_CALLS = ("tool_calls",)
_LAYOUT = (*_CALLS, "layout")
_ARGUMENTS = (*_CALLS, "arguments")
_ENCODING = (*_ARGUMENTS, "encoding")
MAX_PATTERN = 1000
"""The longest regular expression, in characters."""
_ID_FORMAT = re.compile(r"[^{}]*\{name\}[^{}]+\{index\}[^{}]*")

_JSON, _TEMPLATE, _PYTHONIC = CallLayout.JSON, CallLayout.TEMPLATE, CallLayout.PYTHONIC
_OF_LAYOUTS: dict[str, tuple[CallLayout, ...]] = {
    "container": (_JSON, _TEMPLATE),
    "keys": (_JSON,),
    "call": (_TEMPLATE,),
    "arguments": (_TEMPLATE,),
    "unmarked": (_JSON, _PYTHONIC),
    "on_outside_region": (_TEMPLATE,),
    "on_repeated_parameter": (_TEMPLATE, _PYTHONIC),
    "on_unknown_parameter": (_TEMPLATE,),
}
"""The keys of tool_calls that only some layouts use."""

_OF_ENCODINGS = {
    "parameter": "tagged",
    "item": "tagged",
    "values": "tagged",
    "types": "tagged",
    "untyped": "tagged",
    "quote": "bare-keys",
}
"""The keys of tool_calls.arguments that one of Tagsmith's own encodings uses."""

_POLICIES_OF_TAGGED = ("on_repeated_parameter", "on_unknown_parameter")


def calls_can_be_found(subject: Subject) -> Iterator[Finding]:
    """Something says where calls begin, and something how they are written."""
    calls, markers = subject.spec.tool_calls, subject.spec.tag_style.tool_calls
    if markers is not None and calls is None:
        what = "tag_style.tool_calls is given, but tool_calls is not; give both or neither"
        yield Finding(Code.MARKERS_WITHOUT_CALLS, ("tag_style", "tool_calls"), what)
    if calls is None or markers is not None or calls.layout is _TEMPLATE:
        return
    if calls.unmarked is Unmarked.NEVER:
        what = (
            "tool_calls is given, but nothing says where calls begin; give tag_style.tool_calls, "
            "or 'unmarked: at-start', or 'layout: template' with 'call: ...'"
        )
        yield Finding(Code.CALLS_WITHOUT_MARKERS, _CALLS, what)


def nothing_is_missing(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """What the layout, the encoding and the types need is there."""
    if calls.layout is not _TEMPLATE:
        return
    arguments = calls.arguments
    if calls.call is None:
        what = "layout: template needs tool_calls.call; write 'call: ...' as the model writes a"
        what += " call, with {name} and {arguments} in it"
        yield Finding(Code.INCOMPLETE_CALLS, _LAYOUT, what)
    if arguments.encoding != "tagged":
        return
    if arguments.parameter is None:
        what = "encoding: tagged needs tool_calls.arguments.parameter; write 'parameter: ...' as"
        what += " the model writes one, with {key} and {value} in it"
        yield Finding(Code.INCOMPLETE_CALLS, _ENCODING, what)
    if arguments.types is not None and arguments.types.list is not None and arguments.item is None:
        what = "types.list needs tool_calls.arguments.item; write 'item: ...' as the model writes"
        what += " one, with {value} in it"
        yield Finding(Code.INCOMPLETE_CALLS, (*_ARGUMENTS, "types", "list"), what)


def nothing_is_ignored(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """No key is given that says nothing under the layout, or the encoding, that was chosen."""
    for key, layouts in _OF_LAYOUTS.items():
        if calls.layout not in layouts and differs(calls, key):
            mend = "use " + " or ".join(f"layout: {layout}" for layout in layouts)
            why = f"with layout: {calls.layout}"
            yield from _ignored(subject, (*_CALLS, key), _LAYOUT, why, mend)
    yield from _ignored_of_ids(calls, subject)
    yield from _ignored_without_markers(calls, subject)
    encoding = calls.arguments.encoding
    if calls.layout is not _TEMPLATE or encoding not in ENCODINGS:
        return
    why = f"with encoding: {encoding}"
    for key, user in _OF_ENCODINGS.items():
        if encoding != user and differs(calls.arguments, key):
            mend = f"use encoding: {user}"
            yield from _ignored(subject, (*_ARGUMENTS, key), _ENCODING, why, mend)
    for key in _POLICIES_OF_TAGGED:
        if encoding != "tagged" and differs(calls, key):
            yield from _ignored(subject, (*_CALLS, key), _ENCODING, why, "use encoding: tagged")
    if encoding == "tagged":
        yield from _ignored_beside_types(calls.arguments, subject)


def _ignored_of_ids(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """The pattern of ids is for those that the grammar writes by no format."""
    path = (*_CALLS, "id", "pattern")
    if not differs(calls.id, "pattern"):
        return
    if calls.id.format is not None:
        why, choice = "beside id.format", (*_CALLS, "id", "format")
        yield from _ignored(subject, path, choice, why, "remove id.format")
    elif calls.layout is _PYTHONIC:
        yield from _ignored(subject, path, _LAYOUT, "with layout: pythonic", "use another layout")
    elif calls.layout is _JSON and calls.keys.id is None:
        why, mend = "where calls have no id", "give tool_calls.keys.id"
        yield from _ignored(subject, path, _LAYOUT, why, mend)
    elif calls.call and Hole.ID not in split_template(calls.call[0]):
        why, mend = "where the form that is written has no {id}", "put {id} into it"
        yield from _ignored(subject, path, (*_CALLS, "call"), why, mend)


def _ignored_without_markers(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """Text that is no call is always shown where no marker said that calls follow."""
    bare = calls.layout is not _TEMPLATE and subject.spec.tag_style.tool_calls is None
    if bare and differs(calls, "on_malformed"):
        path, mend = (*_CALLS, "on_malformed"), "give tag_style.tool_calls"
        yield from _ignored(subject, path, _LAYOUT, "where no marker opens calls", mend)


def _ignored_beside_types(arguments: Arguments, subject: Subject) -> Iterator[Finding]:
    types, path = arguments.types, (*_ARGUMENTS, "types")
    for key in ("values", "untyped") if types is not None else ():
        if differs(arguments, key):
            mend = "remove types"
            yield from _ignored(subject, (*_ARGUMENTS, key), path, "beside types", mend)
    if arguments.item is not None and (types is None or types.list is None):
        mend = "give types.list, which says which values are lists"
        yield from _ignored(subject, (*_ARGUMENTS, "item"), path, "without types.list", mend)


def _ignored(subject: Subject, path: Path, choice: Path, why: str, mend: str) -> Iterator[Finding]:
    if subject.chosen_beside(path, choice):
        what = f"{dotted(path)} says nothing {why}; remove it, or {mend}"
        yield Finding(Code.IGNORED_KEY, path, what)


def encoding_is_known(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """The argument encoding is the framework's own, or one that a plug-in brings."""
    name = calls.arguments.encoding
    if calls.layout is _TEMPLATE and name not in subject.encodings:
        known = {encoding: encoding for encoding in subject.encodings}
        what = (
            f"{dotted(_ENCODING)}: there is no encoding '{shortened(name)}'; "
            f"{nearest(name, known)}; a plug-in can bring others, see tagsmith plugins"
        )
        yield Finding(Code.UNKNOWN_ENCODING, _ENCODING, what)


def types_and_holes_agree(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """A `{type}` hole comes with `types`, and the other way round."""
    if not _is_tagged(calls):
        return
    parameters, items = _parameters(calls, subject), _items(calls, subject)
    if calls.arguments.types is None:
        for form in [*parameters, *items]:
            if Hole.TYPE in split_template(form.text):
                what = f"{form.name} has a {{type}}, but nothing says what is written there; "
                what += "give tool_calls.arguments.types, or write the type as text"
                yield Finding(Code.TYPES_WITHOUT_HOLE, form.path, what)
    elif parameters and not any(Hole.TYPE in split_template(form.text) for form in parameters):
        what = "types is given, but tool_calls.arguments.parameter has no {type}; put it where the"
        what += " model writes the type, or remove types"
        yield Finding(Code.TYPES_WITHOUT_HOLE, (*_ARGUMENTS, "types"), what)


def words_mean_one_thing(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """No key of a call, and no word for a type, stands for two things."""
    if calls.layout is _JSON:
        keys = calls.keys
        ids = () if keys.id is None else (keys.id,)
        texts = {"id": ids, "name": keys.name, "arguments": keys.arguments, "other": keys.other}
        yield from _told_apart(subject, (*_CALLS, "keys"), texts)
    types = calls.arguments.types
    if _is_tagged(calls) and types is not None:
        words = {key: getattr(types, key) or () for key in type(types).model_fields}
        yield from _told_apart(subject, (*_ARGUMENTS, "types"), words)


def _told_apart(
    subject: Subject, path: Path, texts: dict[str, tuple[str, ...]]
) -> Iterator[Finding]:
    holders: dict[str, str] = {}
    for key, several in texts.items():
        for entry in subject.listed((*path, key), several):
            holder = holders.setdefault(entry.text, key)
            if holder != key:
                what = f"{entry.name}: '{shortened(entry.text)}' is {dotted((*path, holder))} "
                what += "already, and nothing tells the two apart; remove it from one of them"
                yield Finding(Code.AMBIGUOUS_WORD, entry.path, what)


def id_format(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """An id that carries the name can be taken apart."""
    form = calls.id.format
    if form is not None and not _ID_FORMAT.fullmatch(form):
        path = (*_CALLS, "id", "format")
        what = f"{dotted(path)}: {shortened(form)!r} must hold {{name}} once and {{index}} once "
        what += "after it, with text between the two and no other braces, such as "
        yield Finding(Code.ID_FORMAT, path, f"{what}'functions.{{name}}:{{index}}'")
    elif form is not None and calls.layout is _TEMPLATE:
        for reason in _not_read_back(form, calls, subject):
            path = (*_CALLS, "id", "format")
            what = f"{dotted(path)}: {shortened(form)!r} cannot be read back, as {reason}"
            yield Finding(Code.ID_FORMAT, path, what)


def _not_read_back(form: str, calls: ToolCalls, subject: Subject) -> Iterator[str]:
    """Why an id that is written by this format is read as another, or cut short."""
    between = form.partition("{name}")[2].partition("{index}")[0]
    if between.isdecimal():
        yield "nothing but digits tells where the name ends; write a sign between the two"
    if form != form.strip() or "\n" in form:
        yield "an id is read without the blanks around it, and on one line; remove them"
    written = form.replace("{name}", "\0").replace("{index}", "\0")
    ends = words_after(calls.call or (), Hole.ID) | set(marker_meanings(subject.spec))
    for word in sorted(ends):
        if word in written:
            yield f"{shortened(word)!r} ends an id, and stands in it; write another sign there"


def id_pattern(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """The pattern of ids is a regular expression."""
    path, pattern = (*_CALLS, "id", "pattern"), calls.id.pattern
    if len(pattern) > MAX_PATTERN:
        # A longer one takes long to compile.
        what = f"{dotted(path)} must have at most {MAX_PATTERN} characters"
        yield Finding(Code.OUT_OF_RANGE, path, what)
        return
    try:
        with warnings.catch_warnings():
            # What a later Python reads otherwise is not clear today.
            warnings.simplefilter("error", FutureWarning)
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError, FutureWarning) as error:
        what = f"{dotted(path)} is not a regular expression ({error})"
        yield Finding(Code.INVALID_REGEX, path, what)


def templates_can_be_read(calls: ToolCalls, subject: Subject) -> Iterator[Finding]:
    """The templates of calls, parameters and items can be read, and the encoding compiled."""
    if calls.layout is not _TEMPLATE:
        return
    if _is_tagged(calls):
        yield from check_template(PARAMETER, _parameters(calls, subject))
        yield from check_template(ITEM, _items(calls, subject))
    show, refused = _show_begin(calls, subject)
    if refused:
        what = f"{dotted(_ENCODING)}: '{calls.arguments.encoding}' cannot be used here ({refused})"
        yield Finding(Code.ENCODING_REFUSED, _ENCODING, what)
    kind = call_kind(
        id_has_name=calls.id.format is not None,
        arguments_show=show,
        arguments_end=not _is_tagged(calls) or _region_ends(subject),
    )
    yield from check_template(kind, [*subject.listed((*_CALLS, "call"), calls.call)])


def _show_begin(calls: ToolCalls, subject: Subject) -> tuple[bool, str]:
    """Whether the encoding says what arguments begin with; what keeps it from being compiled.

    Tagsmith's own say so, and take every family that nothing else is wrong with.
    """
    name = calls.arguments.encoding
    readable = calls.call is not None and all(split_template(form) for form in calls.call)
    if name in ENCODINGS or name not in subject.encodings or not readable:
        return True, ""
    beyond = frozenset(marker_meanings(subject.spec)) | call_openers(calls)
    try:
        return bool(subject.encodings[name](subject.spec, beyond).starts), ""
    except Exception as fault:
        return True, one_line(f"{type(fault).__name__}: {fault}")


def _region_ends(subject: Subject) -> bool:
    """Whether the calls stand in a region, and something ends it whatever it holds."""
    markers = subject.spec.tag_style.tool_calls
    if markers is None or calls_stand_anywhere(subject.spec):
        return False
    return all(pair.end is not None for pair in markers.pairs)


def _is_tagged(calls: ToolCalls) -> bool:
    return calls.layout is _TEMPLATE and calls.arguments.encoding == "tagged"


def _parameters(calls: ToolCalls, subject: Subject) -> list[Listed]:
    return [*subject.listed((*_ARGUMENTS, "parameter"), calls.arguments.parameter)]


def _items(calls: ToolCalls, subject: Subject) -> list[Listed]:
    return [*subject.listed((*_ARGUMENTS, "item"), calls.arguments.item)]


CHECKS: tuple[tuple[tuple[str, ...], Callable[[ToolCalls, Subject], Iterator[Finding]]], ...] = (
    ((), nothing_is_missing),
    ((), nothing_is_ignored),
    ((), encoding_is_known),
    ((), types_and_holes_agree),
    ((), words_mean_one_thing),
    ((), id_format),
    ((), id_pattern),
    (("tag_style",), templates_can_be_read),
)
"""What is asked of calls, with the sections whose absence each check would take for a fault."""
