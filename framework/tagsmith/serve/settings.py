"""What a server is told once, before its first request: checked, immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.guidance import Unenforced
from tagsmith.request.plain import named
from tagsmith.wire.options import CitationOrder, OffsetUnit, ReasoningField, ThoughtForm


class UpstreamKind(StrEnum):
    """Whose spelling of `/v1/completions` the upstream speaks; `openai` is the plain one."""

    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llama.cpp"
    TGI = "tgi"
    OPENAI = "openai"


class TagPolicy(StrEnum):
    """Which requests a structural tag is passed with.

    `needed`: those that ask for what only a grammar holds; `tools`: these, and every request with
    tools; `always`: all; `never`: none, so that those that need one are refused or reported.
    """

    NEEDED = "needed"
    TOOLS = "tools"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one server takes, and how long it waits. Time is in seconds.

    >>> Limits(max_choices=0)
    Traceback (most recent call last):
    tagsmith.errors.RequestError: max_choices: must be above 0, not 0
    """

    max_body_bytes: int = 8 << 20
    """The longest request body."""
    max_generations: int = 64
    """How many generations run at a time; the next is answered 503."""
    max_choices: int = 8
    """The largest `n`."""
    max_output_chars: int = 4 << 20
    """The longest output of one choice; it then ends as by `length`."""
    max_frame_bytes: int = 1 << 20
    """The longest frame that the upstream may send."""
    body_timeout: float = 30.0
    """For a client to send its request: its head, and then its body."""
    connect_timeout: float = 5.0
    """For the upstream to accept the connection."""
    first_token_timeout: float = 120.0
    """From the connection to the upstream's first frame."""
    stall_timeout: float = 60.0
    """From one frame of the upstream to the next."""
    generation_timeout: float = 1800.0
    """For a whole generation, the client's reading included."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0:
                raise RequestError(limit.name, f"must be above 0, not {value}")


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server that writes the completions.

    Parameters: `url` is its address, with or without `/v1`. `kind` is its spelling, `model` the
    name it knows the model by. `key` is sent as a bearer token. `adds` is what it puts before a
    prompt by itself (the model's BOS token), to be left out of ours. `fields` are sent with every
    request, over those of this server.

    >>> Upstream("http://127.0.0.1:8000/v1/", "vllm", "m").completions_url
    'http://127.0.0.1:8000/v1/completions'
    """

    url: str
    kind: UpstreamKind
    model: str
    key: str | None = field(default=None, repr=False)
    adds: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", named(UpstreamKind, self.kind, "upstream_kind"))
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError as error:
            raise RequestError("upstream", f"is no address: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RequestError("upstream", "is no address; give one such as http://127.0.0.1:8000")
        if parts.username is not None or parts.password is not None:
            raise RequestError("upstream", "holds a name or a password; give a key in its place")
        if parts.query or parts.fragment:
            raise RequestError("upstream", "ends in ?... or #...; give the address alone")
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise RequestError("upstream_key_file", "holds a key that no header can carry")

    @property
    def completions_url(self) -> str:
        """Where completions are asked for."""
        base = self.url.rstrip("/").removesuffix("/completions").removesuffix("/v1")
        return f"{base}/v1/completions"


@dataclass(frozen=True, slots=True)
class Settings:
    """One server: a family, a model name, and an upstream.

    Parameters: `model_name` is what clients call the model. `api_keys` are the bearer tokens that
    are let in; without any, everybody is. `trusted_hosts` are the names that a request may call
    the server by; without any, every name. `chat_template` is the text of a Jinja template, used
    in place of the family's own renderer, and `special_tokens` are the tokens that it asks for, as
    in `{"bos_token": "<s>"}`. `default_max_tokens` is asked for where a request gives no limit and
    the upstream knows no word for that.
    """

    family: Family
    model_name: str
    upstream: Upstream
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    trusted_hosts: tuple[str, ...] = ()
    chat_template: str | None = field(default=None, repr=False)
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    structural_tags: TagPolicy = TagPolicy.NEEDED
    unenforced: Unenforced = Unenforced.REFUSE
    reasoning_field: ReasoningField = ReasoningField.REASONING_CONTENT
    thoughts: ThoughtForm = ThoughtForm.THINKING
    citations: CitationOrder = CitationOrder.FAST
    units: OffsetUnit = OffsetUnit.CODE_POINTS
    default_max_tokens: int = 4096
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for setting in fields(self):
            name, kind = setting.name, type(setting.default)
            if issubclass(kind, StrEnum):
                object.__setattr__(self, name, named(kind, getattr(self, name), name))
        if not self.model_name:
            raise RequestError("model_name", "is empty; give the name that clients use")
        if self.special_tokens and self.chat_template is None:
            raise RequestError("special_tokens", "are read by a chat template, and there is none")
        if self.default_max_tokens < 1:
            raise RequestError("default_max_tokens", "must be above 0")
        if not all(self.api_keys):
            raise RequestError("api_keys", "holds an empty key; it would let everybody in")
