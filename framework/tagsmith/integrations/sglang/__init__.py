"""Families as parsers of SGLang: `--reasoning-parser tagsmith --tool-call-parser tagsmith`, and
`tagsmith-<id>` for one family.

`register` is what SGLang calls, by the entry point `sglang.srt.plugins`, in each of its processes,
before it reads its arguments.
"""

from __future__ import annotations


def register() -> None:
    """Offer every family to SGLang. May be called again; SGLang starts, whatever goes wrong."""
    from tagsmith.integrations.naming import tell_once

    try:
        from tagsmith.integrations.sglang.offering import offer

        offer()
    except Exception as error:
        tell_once(f"no parser is offered to SGLang: {error!r}")
