"""Families as reasoning and tool parsers of vLLM: `--reasoning-parser tagsmith`,
`--tool-call-parser tagsmith`, and `tagsmith-<id>` for one family.

`register` is what vLLM calls, by the entry point `vllm.general_plugins`, in every process of its
own. It does nothing until such a process imports vLLM's parsers; then the names are offered, and a
parser's classes are made when vLLM asks for one by its name.
"""

from __future__ import annotations

from collections.abc import Callable

from tagsmith.integrations.importing import when_imported

OVERRIDE = "TAGSMITH_VLLM_OVERRIDE"
"""Names those of vLLM's own parsers that Tagsmith takes over, separated by commas."""


def register() -> None:
    """Offer every family to vLLM. May be called again; vLLM starts, whatever goes wrong here."""
    when_imported("vllm.reasoning", _safely(_offer_reasoning))
    when_imported("vllm.tool_parsers", _safely(_offer_tools))
    when_imported("vllm.parser", _safely(_unify))


def _offer_reasoning() -> None:
    from tagsmith.integrations.vllm.offering import offer_reasoning

    offer_reasoning()


def _offer_tools() -> None:
    from tagsmith.integrations.vllm.offering import offer_tools

    offer_tools()


def _unify() -> None:
    from tagsmith.integrations.vllm.manager import unify

    unify()


def _safely(act: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            act()
        except Exception as error:
            from tagsmith.integrations.naming import tell_once

            tell_once(f"no parser is offered to vLLM: {error!r}")

    return run
