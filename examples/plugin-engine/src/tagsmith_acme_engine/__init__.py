"""Two made-up families that the format alone cannot say, and what reads them."""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

import tagsmith
from tagsmith.encodings import Encoding
from tagsmith.engines import EngineMaker
from tagsmith.lint.rules import Rule
from tagsmith_acme_engine.lines import lines_engine
from tagsmith_acme_engine.pairs import pairs_encoding
from tagsmith_acme_engine.rules import no_title


@tagsmith.hookimpl
def tagsmith_families() -> Iterable[Traversable]:
    """The directory of this package: every family file in it."""
    return [files(__name__)]


@tagsmith.hookimpl
def tagsmith_encodings() -> Mapping[str, Encoding]:
    """What `encoding: acme-pairs` means."""
    return {"acme-pairs": pairs_encoding}


@tagsmith.hookimpl
def tagsmith_engines() -> Mapping[str, EngineMaker]:
    """What `engine: acme-lines` means."""
    return {"acme-lines": lines_engine}


@tagsmith.hookimpl
def tagsmith_lint_rules() -> Iterable[Rule]:
    """What lint asks of every family where this package is installed."""
    return [Rule("ACME001", "no-title", "A family without a title.", no_title)]
