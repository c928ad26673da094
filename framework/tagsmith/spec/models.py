"""The family format, version 1, as frozen models: the one definition that loading, lint, the
generated JSON Schema and the compiler share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from tagsmith.spec.policies import (
    CallLayout,
    Container,
    IdGeneration,
    InitialRegion,
    Join,
    MelodyPreset,
    OnMalformed,
    OnOpener,
    OnOutsideRegion,
    OnRepeatedParameter,
    OnTruncated,
    OnUnknownParameter,
    OnUnknownTool,
    ToolResultBucket,
    ToolResultSlots,
    Trim,
    Unmarked,
    Untyped,
    ValueForm,
)

FORMAT_VERSION = 1

Marker = Annotated[str, Field(min_length=1, max_length=128)]
NonEmpty = Annotated[str, Field(min_length=1)]


def _as_tuple(value: Any) -> Any:
    """One text stands for a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_Several = Annotated[tuple[NonEmpty, ...], Field(min_length=1)]
OneOrMore = Annotated[
    _Several, BeforeValidator(_as_tuple, json_schema_input_type=NonEmpty | _Several)
]
"""A text, or a list of texts of which the first is what the grammar writes; all are read."""
_SeveralMarkers = Annotated[tuple[Marker, ...], Field(min_length=1)]
OneOrMoreMarkers = Annotated[
    _SeveralMarkers, BeforeValidator(_as_tuple, json_schema_input_type=Marker | _SeveralMarkers)
]
"""The same for markers."""


class SpecModel(BaseModel):
    """Base of every part of the format: immutable, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Match(SpecModel):
    """How a served model is recognised. Not inherited through `extends`."""

    architectures: tuple[NonEmpty, ...] = ()
    """Entries of `architectures` in a Hugging Face config.json."""
    models: tuple[NonEmpty, ...] = ()
    """Model names, as shell patterns; letter case does not count."""
    tokens: tuple[NonEmpty, ...] = ()
    """Strings that the tokenizer must hold as single tokens."""


class Melody(SpecModel):
    """How cohere-melody reads and renders this family."""

    preset: MelodyPreset
    """What `engine: melody` runs, lint probes and render uses."""


class Header(SpecModel):
    """What stands before the text of a message and is no part of it."""

    start: OneOrMoreMarkers
    """Markers, of those that are hidden, after which a header goes on."""
    end: Marker
    """The marker that ends a header."""


class Tokens(SpecModel):
    """Tokens that frame a turn."""

    turn_start: OneOrMoreMarkers = ()
    """Opens the model's own turn: nothing before the last one belongs to this output."""
    turn_end: OneOrMoreMarkers = ()
    """Ends the model's own turn: where a server stops generating."""
    hidden: tuple[Marker, ...] = ()
    """Markers that are never shown and change nothing."""
    image: Marker | None = None
    """Stands for a picture in a prompt; absent where the family sees none."""
    reserved: tuple[Marker, ...] = ()
    """What else means something in a prompt, though no output: `render` breaks these and every
    marker where a user, a tool or a document says them."""
    header: Header | None = None
    """Where text between hidden markers is hidden as well: up to 128 characters, on one line."""


class MarkerPair(SpecModel):
    """The markers around a region."""

    start: Marker
    """Opens the region."""
    end: Marker | None = None
    """Closes the region; absent where the next marker, or the end of what it holds, does."""


class Markers(MarkerPair):
    """The markers around a region, with other spellings of them."""

    also: tuple[MarkerPair, ...] = ()
    """Other spellings, which are read and never written by the grammar."""

    @property
    def pairs(self) -> tuple[MarkerPair, ...]:
        """Every spelling, the one that is written first."""
        return (self, *self.also)


class ReasoningMarkers(Markers):
    """The markers around reasoning."""

    on_opener: OnOpener = OnOpener.END
    """What the opener of another region is inside reasoning that is not closed."""


class TagStyle(SpecModel):
    """The markers of the family's regions."""

    reasoning: ReasoningMarkers | None = None
    """Around reasoning; absent where the family does not reason in the open."""
    content: tuple[MarkerPair, ...] = ()
    """Around what the user reads: every wrapper the family writes, the usual one first."""
    tool_calls: Markers | None = None
    """Around tool calls; absent where the calls' own literals are all there is."""


class CallKeys(SpecModel):
    """The keys of one call in a `json` layout; of several, the first is written, all are read."""

    id: NonEmpty | None = None
    """The call's id; absent where the family writes none."""
    name: OneOrMore = ("name",)
    """The tool's name."""
    arguments: OneOrMore = ("arguments",)
    """The arguments object."""
    other: tuple[NonEmpty, ...] = ()
    """Other keys, which change nothing. Where no marker opened the region, a key that is none of
    these before the arguments says that the object is no call."""


class CallId(SpecModel):
    """A call's id."""

    pattern: NonEmpty = "[0-9]+"
    """The regular expression that ids written under a grammar match."""
    generate: IdGeneration = IdGeneration.INDEX
    """Where the id comes from when the output gives none."""
    format: Annotated[str, Field(pattern=r"\{name\}.*\{index\}")] | None = None
    """An id that carries the name and the running index, such as `functions.{name}:{index}`."""


PlainForm = Literal[ValueForm.RAW, ValueForm.JSON]
"""How a value is written whose form the output does not say."""


class Values(SpecModel):
    """How parameters are written, by the type that the tool's own schema gives them."""

    string: PlainForm = ValueForm.RAW
    """A value that may be a string."""
    other: PlainForm = ValueForm.JSON
    """Any other value."""


class WireTypes(SpecModel):
    """What the output writes in a `{type}` hole for each form of value."""

    string: OneOrMore
    """Text, to the letter; a value whose type is absent or none of these is text as well."""
    other: OneOrMore
    """JSON."""
    mapping: OneOrMore | None = None
    """Parameters of its own."""
    list: OneOrMore | None = None
    """Items of its own."""


class Arguments(SpecModel):
    """How the arguments of one call are written in a `template` layout."""

    encoding: NonEmpty = "json"
    """The argument encoding: `json`, `tagged`, `bare-keys`, or one that a plug-in brings."""
    parameter: OneOrMore | None = None
    """`tagged`: one parameter, as literals with the holes `{key}`, `{value}` and `{type}`."""
    item: OneOrMore | None = None
    """`tagged`: one item of a list, as literals with the holes `{value}` and `{type}`."""
    values: Values = Values()
    """`tagged`: how values are written where the output does not say their type."""
    types: WireTypes | None = None
    """`tagged`: what a `{type}` hole says."""
    untyped: Untyped = Untyped.STRING
    """`tagged`: what a value is that nothing gives a type."""
    quote: Marker | None = None
    """`bare-keys`: what stands before and after a string."""


class ToolCalls(SpecModel):
    """How tool calls are written inside their region."""

    layout: CallLayout
    """The call layout."""
    container: Container = Container.ARRAY
    """`json`, `template`: how a region holds the calls when the grammar writes them."""
    keys: CallKeys = CallKeys()
    """`json`: the keys of one call."""
    call: OneOrMore | None = None
    """`template`: one call, as literals with the holes `{name}`, `{id}`, `{arguments}` and
    `{ignored}`; of several forms, the first is written, all are read."""
    arguments: Arguments = Arguments()
    """`template`: how the arguments are written."""
    id: CallId = CallId()
    """The call's id."""
    unmarked: Unmarked = Unmarked.NEVER
    """`json`, `pythonic`: where calls may stand without a marker before them."""
    pseudo_tools: tuple[NonEmpty, ...] = ()
    """Names that the model calls where it means to call nothing: such calls are dropped."""
    on_outside_region: OnOutsideRegion = OnOutsideRegion.TEXT
    """`template`: what the opener of a call is outside of a region."""
    on_malformed: OnMalformed = OnMalformed.CONTENT
    """What becomes of text in the region that is no call."""
    on_truncated: OnTruncated = OnTruncated.KEEP
    """What becomes of a call that was cut off."""
    on_unknown_tool: OnUnknownTool = OnUnknownTool.KEEP
    """What becomes of a call to a tool that the request does not name."""
    on_repeated_parameter: OnRepeatedParameter = OnRepeatedParameter.FIRST
    """What becomes of a parameter that a call gives again, where arguments are not JSON."""
    on_unknown_parameter: OnUnknownParameter = OnUnknownParameter.KEEP
    """What becomes of a parameter that the tool's schema does not name, where arguments are not
    JSON."""


class CitationMarkup(SpecModel):
    """The literals around a cited span."""

    open: Marker
    """Before the span."""
    close: Annotated[str, Field(min_length=1, pattern=r"^[^{}]+\{positions\}[^{}]+$")]
    """After the span; `{positions}` stands for the list of sources, such as `0:[1,2],1:[0]`."""

    @property
    def close_parts(self) -> tuple[str, str]:
        """What stands before and after the positions in `close`."""
        before, _, after = self.close.partition("{positions}")
        return before, after


class DocumentBucket(SpecModel):
    """Where the request's documents stand in the citation numbering."""

    bucket: Annotated[int, Field(ge=0)] = 0
    """The bucket they take when there are any."""
    fallback_id: NonEmpty | None = None
    """The id of a document that has none; `{index}` is its place in the bucket."""


class ToolResultNumbering(SpecModel):
    """Where tool results stand in the citation numbering."""

    bucket: ToolResultBucket = ToolResultBucket.NEXT_UNSEEN_TOOL_CALL
    """Which bucket a tool call's results take."""
    slots: ToolResultSlots = ToolResultSlots.EVERY_CONTENT_BLOCK
    """What takes one slot of the bucket."""


class KeyMap(SpecModel):
    """From a position in the markup to a source the user knows."""

    documents: DocumentBucket = DocumentBucket()
    """The request's documents."""
    tool_results: ToolResultNumbering = ToolResultNumbering()
    """The tool results of the conversation."""
    context_key: NonEmpty | None = None
    """The key under which a serving engine may hand over a ready-made map."""


class Citations(SpecModel):
    """How the family cites."""

    markup: CitationMarkup
    """The literals around a cited span."""
    key_map: KeyMap = KeyMap()
    """From positions to sources."""


class Whitespace(SpecModel):
    """What becomes of whitespace at the edges of a stretch of text."""

    reasoning: Trim = Trim.BOTH
    """Of each stretch of reasoning."""
    content: Trim = Trim.END
    """Of each stretch of content."""
    join: Join = Join.NOTHING
    """What stands between two stretches of the same text."""


class FamilySpec(SpecModel):
    """One model family: everything that its parser, grammar and citations are made from."""

    tagsmith: Literal[1]
    """The version of this format."""
    id: Annotated[
        str,
        Field(
            max_length=64,
            pattern=r"^[a-z0-9][a-z0-9._-]*$",
            json_schema_extra={"not": {"pattern": r"\.ya?ml$"}},
        ),
    ]
    """The family's own name; it does not end as a file's does, in .yaml or .yml."""
    title: NonEmpty | None = None
    """The name people use. Not inherited through `extends`."""
    extends: NonEmpty | None = None
    """The id of another family, or the path of its file: mappings merge, lists replace."""
    match: Match = Match()
    """How a served model is recognised."""
    engine: Annotated[NonEmpty, Field(examples=["native", "melody"])] = "native"
    """What reads this family unless the caller says otherwise: `native`, `melody`, or an engine
    that a plug-in brings."""
    melody: Melody | None = None
    """How cohere-melody reads this family, where it can."""
    tokens: Tokens = Tokens()
    """Tokens that frame a turn."""
    initial_region: InitialRegion = InitialRegion.CONTENT
    """What text is when neither the prompt nor a marker says otherwise."""
    tag_style: TagStyle = TagStyle()
    """The markers of the regions."""
    tool_calls: ToolCalls | None = None
    """How tool calls are written."""
    citations: Citations | None = None
    """How the family cites."""
    whitespace: Whitespace = Whitespace()
    """What becomes of whitespace at the edges of text."""
