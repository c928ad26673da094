"""How each kind of upstream spells a request for a raw completion.

Sources: vLLM 0.33 (`CompletionRequest`), SGLang 0.5 (`CompletionRequest`), the README and the
request reader of llama.cpp's server, the OpenAPI document of TGI 3, and the OpenAI API reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.grammar import StructuralTag
from tagsmith.serve.generation import NEUTRAL, Generation
from tagsmith.serve.settings import Settings, UpstreamKind

_ALL = frozenset(NEUTRAL)
_USAGE = {"include_usage": True}
# So that the count is known as well of an answer that a stop string cuts short.
_USAGE_OF_EACH_CHUNK = {"include_usage": True, "continuous_usage_stats": True}


@dataclass(frozen=True, slots=True)
class Spelling:
    """One kind of upstream.

    Parameters: `fixed` is sent with every request: what keeps special tokens in the text, and
    asks for usage. `takes` are the sampling parameters it knows, `names` those it calls
    otherwise, `values` those of its own for a neutral one. `unlimited` is what it is sent for a
    request without a limit; without any, the server's own default is sent. `markers` is the
    field that lists the special tokens to keep, `tag` how a structural tag is passed.
    """

    fixed: Mapping[str, Any] = field(default_factory=dict)
    takes: frozenset[str] = _ALL
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    unlimited: Mapping[str, Any] | None = None
    markers: str | None = None
    tag: Callable[[StructuralTag], dict[str, Any]] | None = None


def _vllm_tag(tag: StructuralTag) -> dict[str, Any]:
    return {"structured_outputs": {"structural_tag": tag.text}}


def _sglang_tag(tag: StructuralTag) -> dict[str, Any]:
    return {"response_format": tag.to_dict()}


SPELLINGS: Mapping[UpstreamKind, Spelling] = {
    UpstreamKind.VLLM: Spelling(
        fixed={
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
            # The prompt has its special tokens already.
            "add_special_tokens": False,
            "stream_options": _USAGE_OF_EACH_CHUNK,
        },
        tag=_vllm_tag,
    ),
    UpstreamKind.SGLANG: Spelling(
        fixed={"skip_special_tokens": False, "stream_options": _USAGE_OF_EACH_CHUNK},
        values={"top_k": -1},
        tag=_sglang_tag,
    ),
    UpstreamKind.LLAMA_CPP: Spelling(
        fixed={"stream_options": _USAGE},
        names={"repetition_penalty": "repeat_penalty"},
        unlimited={"max_tokens": -1},
        markers="preserved_tokens",
    ),
    UpstreamKind.TGI: Spelling(
        takes=frozenset(
            {"temperature", "top_p", "seed", "frequency_penalty", "repetition_penalty"}
        ),
        # It refuses a top_p of 1, which is what it does without one.
        values={"top_p": None},
    ),
    UpstreamKind.OPENAI: Spelling(
        fixed={"stream_options": _USAGE},
        takes=_ALL - {"top_k", "min_p", "repetition_penalty"},
    ),
}
"""Every kind of upstream."""


def upstream_body(
    settings: Settings, generation: Generation, prompt: str, tag: StructuralTag | None
) -> dict[str, Any]:
    """The body of the upstream's request.

    User stop strings are not in it: they count in content alone, which only the parser can tell.

    Args:
        settings: The server's.
        generation: What the client asks for.
        prompt: The prompt's text.
        tag: The structural tag, for a kind of upstream that takes one.

    Raises:
        RequestError: the request gives a sampling parameter that the upstream does not know.
    """
    spelling = SPELLINGS[settings.upstream.kind]
    body = {
        "model": settings.upstream.model,
        "prompt": prompt.removeprefix(settings.upstream.adds),
        "stream": True,
        **spelling.fixed,
        **_limit(settings, spelling, generation.max_tokens),
        **_sampling(settings.upstream.kind, spelling, generation.sampling),
    }
    if spelling.markers is not None:
        body[spelling.markers] = list(settings.family.serving.preserve_tokens)
    if tag is not None and spelling.tag is not None:
        body |= spelling.tag(tag)
    return body | dict(settings.upstream.fields)


def _limit(settings: Settings, spelling: Spelling, asked: int | None) -> Mapping[str, Any]:
    if asked is not None:
        return {"max_tokens": asked}
    return spelling.unlimited or {"max_tokens": settings.default_max_tokens}


def _sampling(kind: UpstreamKind, spelling: Spelling, asked: Mapping[str, Any]) -> dict[str, Any]:
    body = {}
    for name, value in asked.items():
        neutral = value == NEUTRAL[name]
        if name not in spelling.takes:
            if not neutral:
                raise RequestError(name, f"is not supported by an upstream of kind {kind}")
        elif neutral and name in spelling.values:
            if spelling.values[name] is not None:
                body[spelling.names.get(name, name)] = spelling.values[name]
        else:
            body[spelling.names.get(name, name)] = value
    return body
