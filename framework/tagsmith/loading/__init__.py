"""From family files to checked families: reading, positions, `extends`, validation."""

from __future__ import annotations

from collections.abc import Iterable

from tagsmith.loading.files import Root, Source
from tagsmith.loading.headers import serves_model
from tagsmith.loading.library import Library
from tagsmith.loading.results import (
    Claims,
    FoundFamily,
    Layers,
    LoadResult,
    Problem,
    unique_errors,
)

__all__ = [
    "Claims",
    "FoundFamily",
    "Layers",
    "Library",
    "LoadResult",
    "Problem",
    "Root",
    "Source",
    "load_families",
    "load_layers",
    "serves_model",
    "unique_errors",
]


def load_families(paths: Iterable[Source]) -> LoadResult:
    """Load family files and directories of them (every *.yaml and *.yml below, no *.cases.yaml).

    Nothing is raised: what is wrong with a file is in the result, and the others load.

    >>> load_families(["no/such/file.yaml"]).errors[0].code
    <Code.UNREADABLE: 'TS001'>
    """
    return load_layers(Layers().below(Root(path, "path") for path in paths))


def load_layers(layers: Layers) -> LoadResult:
    """Load several layers.

    Two families of one id in one layer are a problem of the one of the higher rank, or of both.
    Nothing is raised.
    """
    return Library(layers).everything()
