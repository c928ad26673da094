"""The codes of what can be wrong with a family file. Each has its section in docs/lint.md."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """What is wrong with a family file, each with a sentence that says so.

    TS0xx: the file cannot be read as data. TS1xx: a key or a value is not of the format.
    TS2xx: `extends`. TS3xx: the parts do not fit together. TS4xx: families contradict each other.
    TS9xx: of lint itself. The codes of lint's rules stand with the rules.
    A code keeps its meaning for ever.

    >>> f"{Code.UNKNOWN_KEY}", Code.UNKNOWN_KEY.summary
    ('TS101', 'A key that the format does not have.')
    """

    summary: str

    def __new__(cls, value: str, summary: str = "") -> Code:
        code = str.__new__(cls, value)
        code._value_ = value
        code.summary = summary
        return code

    UNREADABLE = (
        "TS001",
        "The file is missing, no regular file, or may not be read; a directory holds none.",
    )
    TOO_LARGE = "TS002", "The file is larger than 1 MiB."
    NOT_UTF8 = "TS003", "The file is not text in the UTF-8 encoding."
    BYTE_ORDER_MARK = "TS004", "The file begins with a byte order mark."
    SYNTAX = "TS005", "The text is not YAML."
    EMPTY = "TS006", "The file says nothing."
    NOT_A_MAPPING = "TS007", "The top level is not a mapping of keys to values."
    SEVERAL_DOCUMENTS = "TS008", "The file holds more than one YAML document."
    TOO_DEEP = "TS009", "Lists and mappings are nested too deeply."
    TOO_MANY_VALUES = (
        "TS010",
        "The file holds too many values, aliases counted as what they stand for.",
    )
    TAG = "TS011", "A value carries a YAML tag."
    MERGE_KEY = "TS012", "The merge key `<<` is used."
    KEY_NOT_TEXT = "TS013", "A key is not a string."
    DUPLICATE_KEY = "TS014", "A key stands twice in one mapping."
    BAD_ALIAS = "TS015", "An alias names no anchor, or a value that contains the alias itself."
    BAD_SCALAR = "TS016", "A single value cannot be represented."

    UNKNOWN_KEY = "TS101", "A key that the format does not have."
    MISSING_KEY = "TS102", "A key that must be given is absent."
    WRONG_TYPE = "TS103", "A value of the wrong type."
    NOT_ALLOWED = "TS104", "A value that is not one of the named values."
    PATTERN = "TS105", "A string that is not of the required form."
    OUT_OF_RANGE = "TS106", "A value that is empty, too small or too large."
    FORMAT_VERSION = "TS107", "A version of the format that this tagsmith does not read."

    EXTENDS_UNKNOWN = "TS201", "`extends` names no family and no file."
    EXTENDS_CYCLE = "TS202", "Families extend each other in a circle."
    EXTENDS_BROKEN = "TS203", "`extends` names a family that cannot itself be used."
    EXTENDS_ABSENT = "TS204", "`extends` names a family of a plug-in that may not be installed."

    CLOSE_WITHOUT_POSITIONS = "TS301", "The closing citation markup has no place for the positions."
    CALLS_WITHOUT_MARKERS = "TS302", "`tool_calls` is given, but nothing says where calls begin."
    MARKERS_WITHOUT_CALLS = (
        "TS303",
        "The markers around tool calls are given, but not how the calls are written.",
    )
    MELODY_WITHOUT_PRESET = "TS304", "`engine: melody` without the preset to run."
    OPENER_IS_CLOSER = "TS305", "A region is opened and closed by the same marker."
    SAME_OPENER = "TS306", "Two regions are opened by the same marker."
    DUPLICATE_MARKER = "TS307", "One marker has two roles."
    INVALID_REGEX = "TS308", "A pattern is not a regular expression."
    DUPLICATE_ENTRY = "TS309", "An entry of `match` stands twice."
    UNUSABLE_MARKER = "TS310", "A marker that what stands around it is made of too."
    INCOMPLETE_CALLS = (
        "TS311",
        "The call layout, the argument encoding or a type needs a key that is absent.",
    )
    IGNORED_KEY = (
        "TS312",
        "A key that says nothing under the call layout, or the argument encoding, that was chosen.",
    )
    UNKNOWN_ENCODING = "TS313", "An argument encoding that nobody brings."
    TYPES_WITHOUT_HOLE = "TS314", "`types` without a `{type}` hole, or the hole without `types`."
    NO_OPENER = "TS315", "A template that does not begin with a text."
    UNKNOWN_HOLE = "TS316", "A hole that a template of this kind does not have."
    MISSING_HOLE = "TS317", "A template without a hole that it needs."
    REPEATED_HOLE = "TS318", "A hole that stands in a template twice."
    HOLES_SIDE_BY_SIDE = "TS319", "Two holes that nothing tells apart."
    HOLE_NOT_CLOSED = "TS320", "A hole at the end of a template, where nothing tells where it ends."
    HOLE_TOO_LATE = "TS321", "A hole that stands after what cannot be read without it."
    FORMS_DISAGREE = "TS322", "Two forms of a template that nothing tells apart where they differ."
    ID_FORMAT = "TS323", "`id.format` cannot be taken apart into a name and an index."
    AMBIGUOUS_WORD = "TS324", "One key of a call, or one word for a type, stands for two things."
    ENCODING_REFUSED = (
        "TS325",
        "The argument encoding of a plug-in does not take what the family says of it.",
    )
    HEADER = "TS326", "A header that no hidden marker begins, or no marker ends."
    ENGINE_REFUSED = "TS327", "The engine of a plug-in does not take what the family says."

    DUPLICATE_ID = "TS401", "Two families have the same id."
    SAME_ARCHITECTURE = "TS402", "Two families claim one architecture and nothing tells them apart."
    SAME_MODELS = "TS403", "Two families claim the same models and nothing tells them apart."

    UNUSED_IGNORE = "TS901", "A comment that ignores what is not told on its line."
    BAD_IGNORE = "TS902", "A comment that ignores no code, or one that there is not."
    RULE_FAILED = "TS903", "A rule that raised an error."
