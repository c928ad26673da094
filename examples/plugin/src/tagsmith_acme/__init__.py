"""The Acme Chat family for Tagsmith."""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

import tagsmith


@tagsmith.hookimpl
def tagsmith_families() -> Iterable[Traversable]:
    """Tell Tagsmith where this package's family files are."""
    return [files(__name__) / "acme_chat.yaml"]
