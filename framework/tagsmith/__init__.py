"""Tagsmith: one YAML file per model family gives the parser, the grammar and the citations.

>>> import tagsmith
>>> family = tagsmith.get_family("Cohere2ForCausalLM")
>>> family.parse("<|START_RESPONSE|>Paris.<|END_RESPONSE|>").content
'Paris.'
"""

from tagsmith.errors import (
    AmbiguousFamilyError,
    FamilyFileError,
    FamilyLookupError,
    Location,
    MissingDependencyError,
    RequestError,
    TagsmithError,
    UnknownFamilyError,
)
from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    event_to_dict,
    join_events,
)
from tagsmith.family import Family
from tagsmith.hookspecs import hookimpl
from tagsmith.message import Message, ToolCall
from tagsmith.parser import Parser
from tagsmith.registry import Registry, get_family, load_registry
from tagsmith.serving import CallIds, Serving
from tagsmith.wire import (
    ChatChunks,
    CitationOrder,
    CohereEvents,
    OffsetUnit,
    ReasoningField,
    ResponseEvents,
    ThoughtForm,
    Usage,
)

__version__ = "0.1.0"

__all__ = [
    "AmbiguousFamilyError",
    "CallIds",
    "ChatChunks",
    "Citation",
    "CitationOrder",
    "CohereEvents",
    "ContentDelta",
    "Diagnostic",
    "DiagnosticCode",
    "Event",
    "Family",
    "FamilyFileError",
    "FamilyLookupError",
    "Location",
    "Message",
    "MissingDependencyError",
    "OffsetUnit",
    "Parser",
    "ReasoningDelta",
    "ReasoningField",
    "Registry",
    "RequestError",
    "ResponseEvents",
    "Serving",
    "TagsmithError",
    "Target",
    "ThoughtForm",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "UnknownFamilyError",
    "Usage",
    "event_to_dict",
    "get_family",
    "hookimpl",
    "join_events",
    "load_registry",
]
