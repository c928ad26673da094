"""The named values of the family format: what can be chosen, and nothing else."""

from __future__ import annotations

from enum import StrEnum


class EngineName(StrEnum):
    """What runs a family over text."""

    NATIVE = "native"
    MELODY = "melody"


class MelodyPreset(StrEnum):
    """A preset of cohere-melody."""

    CMD3 = "cmd3"
    CMD4 = "cmd4"
    CMD5 = "cmd5"


class InitialRegion(StrEnum):
    """What text is before any marker has said otherwise."""

    CONTENT = "content"
    REASONING = "reasoning"


class CallLayout(StrEnum):
    """How tool calls are written inside their region.

    `json`: as objects that hold a name and arguments; `template`: as literals with holes;
    `pythonic`: as a list of Python calls.
    """

    JSON = "json"
    TEMPLATE = "template"
    PYTHONIC = "pythonic"


class Unmarked(StrEnum):
    """Where calls may stand without a marker before them, in the layouts that show themselves."""

    NEVER = "never"
    AT_START = "at-start"


class OnOpener(StrEnum):
    """What the opener of another region is inside reasoning: its end, or text."""

    END = "end"
    TEXT = "text"


class OnOutsideRegion(StrEnum):
    """What the opener of a call is where no region was opened before it.

    A family that marks no region has calls wherever their opener stands.
    """

    TEXT = "text"
    CALL = "call"


class ValueForm(StrEnum):
    """How the value of a parameter is written.

    `raw`: as text, to the letter; `json`: as JSON; `mapping`: as parameters of its own; `list`: as
    items of its own.
    """

    RAW = "raw"
    JSON = "json"
    MAPPING = "mapping"
    LIST = "list"


class Untyped(StrEnum):
    """What a value is that neither the output nor a tool's schema gives a type."""

    STRING = "string"
    JSON = "json"


class OnRepeatedParameter(StrEnum):
    """What becomes of a parameter that a call gives again: dropped, or kept beside the first."""

    FIRST = "first"
    KEEP = "keep"


class OnUnknownParameter(StrEnum):
    """What becomes of a parameter that the tool's schema does not name."""

    KEEP = "keep"
    DROP = "drop"


class Container(StrEnum):
    """How a region holds the calls when the grammar writes them; both are read.

    `array`: several, in a list where they are JSON; `object`: one, and the next in a region of its
    own.
    """

    ARRAY = "array"
    OBJECT = "object"


class IdGeneration(StrEnum):
    """Where a call's id comes from when the output gives none: its index in the output."""

    INDEX = "index"


class OnMalformed(StrEnum):
    """What becomes of text in a tool-call region that is no call."""

    CONTENT = "content"
    DROP = "drop"


class OnTruncated(StrEnum):
    """What becomes of a call whose arguments were cut off.

    `keep` streams arguments as they arrive and marks the call incomplete; `drop` holds a call back
    until it is complete.
    """

    KEEP = "keep"
    DROP = "drop"


class OnUnknownTool(StrEnum):
    """What becomes of a call to a tool that the request does not name."""

    KEEP = "keep"
    CONTENT = "content"


class Trim(StrEnum):
    """Which whitespace (space, tab, newline, carriage return) of a stretch of text is dropped."""

    KEEP = "keep"
    END = "end"
    BOTH = "both"


class Join(StrEnum):
    """What stands between two stretches of the same text."""

    NOTHING = "nothing"
    NEWLINE = "newline"
    BLANK_LINE = "blank-line"


class ToolResultSlots(StrEnum):
    """What takes one result slot of a tool call's bucket in the citation numbering."""

    EVERY_CONTENT_BLOCK = "every-content-block"


class ToolResultBucket(StrEnum):
    """Which bucket of the citation numbering a tool call's results go to."""

    NEXT_UNSEEN_TOOL_CALL = "next-unseen-tool-call"
