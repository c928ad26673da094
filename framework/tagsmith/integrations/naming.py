"""The names under which a serving engine offers the families, and the family that a name means."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from tagsmith.errors import FamilyLookupError
from tagsmith.family import Family
from tagsmith.registry import default_registry
from tagsmith.wording import one_line

PREFIX = "tagsmith"
"""The name that takes the family of the served model; `tagsmith-<id>` names one."""

_CACHED = "models--"
"""How the name of a model begins in the cache of a hub."""

logger = logging.getLogger("tagsmith")
_told: set[str] = set()


def adapter_names() -> dict[str, str | None]:
    """Each name an engine offers, with the family it means; None for the served model's.

    Never raises. What is wrong with a plug-in or a family file is logged, once in a process, with
    its file and line; the other families are there all the same.

    >>> names = adapter_names()
    >>> names["tagsmith"], names["tagsmith-qwen3"]
    (None, 'qwen3')
    """
    names: dict[str, str | None] = {PREFIX: None}
    try:
        registry = default_registry()
        names |= {f"{PREFIX}-{family_id}": family_id for family_id in registry.ids()}
        problems = [str(problem) for problem in registry.problems]
        problems += [
            f"plug-in {p.name} did not load: {p.error}" for p in registry.plugins if p.error
        ]
    except Exception as error:  # an engine must start, whatever is wrong here
        problems = [f"the families cannot be listed: {error!r}"]
    for problem in problems:
        tell_once(problem)
    return names


def tell_once(problem: str) -> None:
    """Log a warning, unless this process has logged it before."""
    if problem not in _told:
        _told.add(problem)
        logger.warning("tagsmith: %s", one_line(problem))


def family_of(
    family_id: str | None,
    *,
    architectures: Sequence[str] = (),
    model: str | None = None,
    tokenizer: Any = None,
) -> Family:
    """The family that an adapter's name means for a served model.

    Args:
        family_id: The id that the name gives; None takes the family of the model.
        architectures: Those of the model's config.json.
        model: The model's name or path, which decides between families of one architecture, and
            is looked up where no architecture is known.
        tokenizer: The model's, which decides where its name does not.

    Raises:
        FamilyLookupError: no family serves the model, or several do; it says how to choose.
        TagsmithError: the family's file cannot be used.

    >>> family_of(None, architectures=["Cohere2ForCausalLM"]).id
    'cohere-command-a'
    """
    registry = default_registry()
    if family_id is not None:
        return registry.get(family_id)
    model = _hub_name(model) if model else None
    error: FamilyLookupError | None = None
    for name in [*architectures, *([model] if model else [])]:
        try:
            return registry.get(name, model=model, tokenizer=tokenizer)
        except FamilyLookupError as failed:
            error = error or failed
    unknown = "neither the architecture nor the name of the served model is known"
    raise FamilyLookupError(f"{error or unknown}; to choose one, say {PREFIX}-<id>") from error


def _hub_name(path: str) -> str:
    """The name that a hub knows a model by, of the path where it lies.

    >>> _hub_name("/root/models--CohereLabs--command-a-plus/snapshots/0a1b")
    'CohereLabs/command-a-plus'
    >>> _hub_name("/models/CohereLabs/command-a-plus"), _hub_name("CohereLabs/command-a-plus")
    ('CohereLabs/command-a-plus', 'CohereLabs/command-a-plus')
    """
    parts = PurePath(path).parts
    for part in parts:
        if part.startswith(_CACHED):
            return part.removeprefix(_CACHED).replace("--", "/")
    return "/".join(parts[-2:])
