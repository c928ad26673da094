"""Prints docs/comparison.md: what Tagsmith and others make of the same outputs and requests.

    python examples/compare_peers.py > docs/comparison.md

It compares what is installed: transformers and xgrammar (`pip install transformers xgrammar`), and
vLLM where there is one. Each is used as its own documentation shows.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec

from peer_readers import FORMATS, READERS, Reader, reading_table
from peer_tags import constraining_table

HEAD = """\
# Beside others

What Tagsmith and others make of the same outputs and the same requests. Nothing is said here that
`python examples/compare_peers.py`, which makes this page, does not show. The tests run it again,
for each reader that is installed. The rows were chosen because they set readers apart, so a column
says nothing of how often a model writes such a thing.

cohere-melody, which reads what Cohere's models write, has a page of its own:
[melody.md](melody.md). How fast each reads stands in [performance.md](performance.md)."""

READING = """\
## Reading

- transformers: its `ResponseParser`, with a response template as its documentation shows them, and
  with `allow_non_json`, so that a call which is no JSON does not raise.
- vLLM: its parsers for the format, `qwen3` with `hermes`, and `qwen3` with `qwen3_coder`.
- Tagsmith: the family that the heading names.

Each reads every output at once, and token by token, with a tokenizer in which every marker is one
token; where the two differ, both are shown. `right` means the thoughts, the answer, and each call's
name and arguments; of a call that is cut off, as far as it came."""

CONSTRAINING = """\
## Constraining

xgrammar ships structural tags for some formats, and Tagsmith makes one from each family's file. The
tools and the choice are the same for both, and the text is right for them or wrong.
`tests/test_xgrammar_builtins.py` goes through fifteen formats, and
`tests/cases/xgrammar_builtins.yaml` lists every difference that it finds, in both directions, with
the reason."""


def page(readers: Mapping[str, Reader]) -> str:
    """The whole page."""
    parts = [HEAD, READING]
    for form in FORMATS:
        parts += [f"### {form.family}", "\n".join(reading_table(form, readers))]
    return "\n\n".join([*parts, CONSTRAINING, "\n".join(constraining_table()), versions()]) + "\n"


def versions() -> str:
    """What was compared."""
    names = ("transformers", "vllm", "xgrammar")
    found = [f"{name} {metadata.version(name)}" for name in names if find_spec(name)]
    return f"{', '.join(found)}, CPython {platform.python_version()}."


def installed() -> dict[str, Reader]:
    """The readers that can be used here."""
    return {name: read for name, read in READERS.items() if find_spec(name)}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    print(page(installed()), end="")
