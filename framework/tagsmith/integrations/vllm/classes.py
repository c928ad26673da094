"""The classes that vLLM looks up by name. A class is made when its name is asked for, in a vLLM
that makes one parser of a pair: without that, one of another version would start and read nothing.

vLLM knows a parser that is not loaded by a module and the name of a class in it: here these names
are `reasoning:` or `tools:` and the name of the parser.
"""

from __future__ import annotations

from typing import Any

from tagsmith.integrations.naming import PREFIX
from tagsmith.integrations.vllm.model import Adapter

NAMES = __name__
"""The module in which vLLM looks for the classes."""
REASONING = "reasoning:"
TOOLS = "tools:"

_PRESETS = {"cohere_command3": "cmd3", "cohere_command4": "cmd4"}


def __getattr__(name: str) -> Any:
    kind, _, parser = name.partition(":")
    if f"{kind}:" == REASONING:
        from tagsmith.integrations.vllm.reasoning import TagsmithReasoningParser as Base
    elif f"{kind}:" == TOOLS:
        from tagsmith.integrations.vllm.tools import TagsmithToolParser as Base
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tagsmith.integrations.vllm.manager import unify

    unify()
    return type(Base.__name__, (Base,), {"adapter": adapter(parser)})


def adapter(name: str) -> Adapter:
    """What the name of a parser says.

    >>> adapter("tagsmith-qwen3").family_id, adapter("tagsmith").family_id
    ('qwen3', None)
    """
    prefix, _, family_id = name.partition("-")
    if prefix == PREFIX:
        return Adapter(family_id or None)
    return Adapter(preset=_PRESETS.get(name))
