"""`tagsmith serve`: both chat APIs in front of a server of raw completions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tagsmith.cli.common import (
    fail,
    families_option,
    family_option,
    pick_family,
    read_special_tokens,
    read_text,
    shown_path,
    special_tokens_option,
)
from tagsmith.serve.settings import Limits, Settings, Upstream, UpstreamKind

if TYPE_CHECKING:
    from tagsmith.family import Family

_Command = TypeVar("_Command", bound=Callable[..., Any])

API_KEY = "TAGSMITH_API_KEY"
UPSTREAM_KEY = "TAGSMITH_UPSTREAM_KEY"

_LIMITS = {
    "max_body_bytes": "The longest request body, in bytes.",
    "max_generations": "How many generations run at a time.",
    "max_choices": "The largest n of a request.",
    "max_output_chars": "The longest output of a choice, in characters.",
    "max_frame_bytes": "The longest frame of the upstream, in bytes.",
    "body_timeout": "Seconds for a client to send its request.",
    "connect_timeout": "Seconds for the upstream to take a connection.",
    "first_token_timeout": "Seconds to the upstream's first frame.",
    "stall_timeout": "Seconds from one frame of the upstream to the next.",
    "generation_timeout": "Seconds for a whole generation.",
}
_CHOICES = {
    "structural_tags": "Which requests a structural tag goes with.",
    "unenforced": "What becomes of a request that no grammar can hold.",
    "reasoning_field": "The key for reasoning in Chat Completions.",
    "thoughts": "How Cohere v2 tells reasoning.",
    "citations": "When citations are told, where a request does not say.",
    "units": "What the offsets of citations count.",
}


def _limit_options(command: _Command) -> _Command:
    for limit in reversed(fields(Limits)):
        whole = isinstance(limit.default, int)
        kind = click.IntRange(min=1) if whole else click.FloatRange(min=0, min_open=True)
        command = click.option(
            f"--{limit.name.replace('_', '-')}",
            type=kind,
            metavar="N" if whole else "SECONDS",
            default=limit.default,
            show_default=True,
            help=_LIMITS[limit.name],
        )(command)
    return command


def _choice_options(command: _Command) -> _Command:
    for name, text in reversed(_CHOICES.items()):
        usual: Any = Settings.__dataclass_fields__[name].default
        command = click.option(
            f"--{name.replace('_', '-')}",
            type=click.Choice([one.value for one in type(usual)]),
            default=usual.value,
            show_default=True,
            help=text,
        )(command)
    return command


@click.command()
@family_option
@families_option
@click.option("--upstream", metavar="URL", required=True, help="The server of raw completions.")
@click.option(
    "--upstream-kind",
    type=click.Choice([kind.value for kind in UpstreamKind]),
    default=UpstreamKind.VLLM.value,
    show_default=True,
    help="Whose spelling the upstream speaks.",
)
@click.option("--upstream-model", metavar="NAME", help="The upstream's name for the model.")
@click.option(
    "--upstream-key-file",
    metavar="FILE",
    help=f"The key for the upstream; or set {UPSTREAM_KEY}.",
)
@click.option(
    "--upstream-adds",
    metavar="TEXT",
    default="",
    help="What the upstream puts before a prompt by itself, such as the BOS token.",
)
@click.option(
    "--upstream-field",
    "upstream_fields",
    metavar="NAME=JSON",
    multiple=True,
    help="A field for every request to the upstream; may be given again.",
)
@click.option("--model-name", metavar="NAME", help="What clients call the model.")
@click.option("--chat-template", metavar="FILE", help="A Jinja template that makes the prompts.")
@special_tokens_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8100,
    show_default=True,
    help="The port to listen on; 0 is any free one.",
)
@click.option(
    "--api-key-file",
    metavar="FILE",
    help=f"The keys that are let in, one on a line; or set {API_KEY}.",
)
@click.option("--no-auth", is_flag=True, help="Let everybody in, from other machines too.")
@click.option(
    "--default-max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    default=4096,
    show_default=True,
    help="The limit where a request gives none and the upstream must have one.",
)
@_choice_options
@_limit_options
def command(
    family: str,
    model: str | None,
    families: tuple[str, ...],
    host: str,
    port: int,
    no_auth: bool,
    **options: Any,
) -> None:
    """Serve Chat Completions and Cohere v2 chat in front of a server of raw completions.

    The upstream offers POST /v1/completions with streaming, as vLLM, SGLang, llama.cpp's server
    and TGI do. The prompt, the structural tag and the reading of the output are the family's.
    docs/serve.md says more.

    \b
    Example:
      tagsmith serve --family Cohere2ForCausalLM --upstream http://127.0.0.1:8000
    """
    from tagsmith.serve import create_app, missing_dependency
    from tagsmith.serve.listen import LOOPBACK_NAMES, address_of, bind, is_loopback, run

    try:
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing_dependency(error) from error
    found = pick_family(family, families, model)
    keys = _keys(options.pop("api_key_file"))
    local = is_loopback(host)
    if not keys and not no_auth and not local:
        fail(
            f"--host {host}: other machines could use this server; give --api-key-file, set "
            f"{API_KEY}, or say --no-auth"
        )
    hosts = (*LOOPBACK_NAMES, host) if local and not keys else ()
    name = options.pop("model_name") or model or found.id
    settings = _settings(found, name, options, api_keys=keys, trusted_hosts=hosts)
    app = create_app(settings)
    with bind(host, port) as listening:
        click.echo(f"serving {name} on {address_of(listening)}")
        run(app, listening, head_timeout=settings.limits.body_timeout)


def _settings(family: Family, name: str, options: dict[str, Any], **access: Any) -> Settings:
    """What the options say; those that are settings by themselves are left at the end."""
    upstream = _upstream(name, options)
    template = _template(options.pop("chat_template"))
    tokens = read_special_tokens(options.pop("special_tokens"))
    limits = Limits(**{limit: options.pop(limit) for limit in _LIMITS})
    return Settings(
        family,
        name,
        upstream,
        chat_template=template,
        special_tokens=tokens,
        limits=limits,
        **access,
        **options,
    )


def _upstream(name: str, options: dict[str, Any]) -> Upstream:
    kind = UpstreamKind(options.pop("upstream_kind"))
    # TGI takes any other name for that of an adapter.
    usual = "tgi" if kind is UpstreamKind.TGI else name
    return Upstream(
        url=options.pop("upstream"),
        kind=kind,
        model=options.pop("upstream_model") or usual,
        key=_key(options.pop("upstream_key_file")),
        adds=options.pop("upstream_adds"),
        fields=dict(map(_field, options.pop("upstream_fields"))),
    )


def _keys(path: str | None) -> tuple[str, ...]:
    if path is None:
        key = os.environ.get(API_KEY, "").strip()
        return (key,) if key else ()
    keys = tuple(filter(None, map(str.strip, read_text(path, "--api-key-file").splitlines())))
    if not keys:
        fail(f"{shown_path(path, '--api-key-file')}: holds no key; put one on each line")
    return keys


def _key(path: str | None) -> str | None:
    if path is None:
        return os.environ.get(UPSTREAM_KEY, "").strip() or None
    key = read_text(path, "--upstream-key-file").strip()
    if not key:
        fail(f"{shown_path(path, '--upstream-key-file')}: holds no key; put the key in it")
    return key


def _template(path: str | None) -> str | None:
    return None if path is None else read_text(path, "--chat-template")


def _field(given: str) -> tuple[str, Any]:
    name, _, text = given.partition("=")
    try:
        return name, json.loads(text)
    except ValueError:
        fail(f"--upstream-field {name}: no JSON behind =; give a value such as {name or 'n'}=true")
