"""The family format, version 1, as frozen models: the one definition that loading, lint, the
generated JSON Schema and the compiler share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tagsmith.spec.policies import (
    CallLayout,
    Container,
    EngineName,
    IdGeneration,
    InitialRegion,
    Join,
    MelodyPreset,
    OnMalformed,
    OnTruncated,
    OnUnknownTool,
    ToolResultBucket,
    ToolResultSlots,
    Trim,
)

FORMAT_VERSION = 1

Marker = Annotated[str, Field(min_length=1, max_length=128)]
NonEmpty = Annotated[str, Field(min_length=1)]


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


class Tokens(SpecModel):
    """Tokens that frame a turn."""

    turn_start: Marker | None = None
    """Opens the model's own turn: nothing before the last one belongs to this output."""
    turn_end: Marker | None = None
    """Ends the model's own turn: where a server stops generating."""
    hidden: tuple[Marker, ...] = ()
    """Markers that are never shown and change nothing."""


class MarkerPair(SpecModel):
    """The markers around a region."""

    start: Marker
    """Opens the region."""
    end: Marker
    """Closes the region."""


class TagStyle(SpecModel):
    """The markers of the family's regions."""

    reasoning: MarkerPair | None = None
    """Around reasoning; absent where the family does not reason in the open."""
    content: tuple[MarkerPair, ...] = ()
    """Around what the user reads: every wrapper the family writes, the usual one first."""
    tool_calls: MarkerPair | None = None
    """Around tool calls."""


class CallKeys(SpecModel):
    """The keys of one call in a `json` layout."""

    id: NonEmpty | None = None
    """The call's id; absent where the family writes none."""
    name: NonEmpty = "name"
    """The tool's name."""
    arguments: NonEmpty = "arguments"
    """The arguments object."""


class CallId(SpecModel):
    """A call's id."""

    pattern: NonEmpty = "[0-9]+"
    """The regular expression that ids written under a grammar match."""
    generate: IdGeneration = IdGeneration.INDEX
    """Where the id comes from when the output gives none."""


class ToolCalls(SpecModel):
    """How tool calls are written inside their region."""

    layout: CallLayout
    """The call layout."""
    container: Container = Container.ARRAY
    """What holds the calls when the grammar writes them."""
    keys: CallKeys = CallKeys()
    """The keys of one call."""
    id: CallId = CallId()
    """The call's id."""
    on_malformed: OnMalformed = OnMalformed.CONTENT
    """What becomes of text in the region that is no call."""
    on_truncated: OnTruncated = OnTruncated.KEEP
    """What becomes of a call that was cut off."""
    on_unknown_tool: OnUnknownTool = OnUnknownTool.KEEP
    """What becomes of a call to a tool that the request does not name."""


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
    engine: EngineName = EngineName.NATIVE
    """What runs this family unless the caller says otherwise."""
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
