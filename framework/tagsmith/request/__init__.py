"""What a request asks, read once from every public spelling, before any family code runs."""

from tagsmith.request.choice import read_tool_choice
from tagsmith.request.models import (
    CallableTool,
    MarkerForm,
    ReasoningMode,
    Request,
    Strictness,
    Tool,
    ToolChoice,
    ToolChoiceMode,
    Unenforceable,
)
from tagsmith.request.read import read_request
from tagsmith.request.schema_check import MAX_NESTING
from tagsmith.request.schemas import JsonSchema
from tagsmith.request.tools import read_tools

__all__ = [
    "MAX_NESTING",
    "CallableTool",
    "JsonSchema",
    "MarkerForm",
    "ReasoningMode",
    "Request",
    "Strictness",
    "Tool",
    "ToolChoice",
    "ToolChoiceMode",
    "Unenforceable",
    "read_request",
    "read_tool_choice",
    "read_tools",
]
