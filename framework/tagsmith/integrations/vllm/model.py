"""Which family a parser reads: the one its name gives, or that of the served model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tagsmith.errors import FamilyLookupError
from tagsmith.family import Family
from tagsmith.integrations.naming import family_of
from tagsmith.registry import default_registry


@dataclass(frozen=True, slots=True)
class Adapter:
    """What a parser's name says. `family_id` is None where the served model decides.

    `preset` is the melody preset of a parser of vLLM's that this one stands in for: it decides
    where the model does not.
    """

    family_id: str | None = None
    preset: str | None = None

    def family(self, tokenizer: Any, model_config: Any) -> Family:
        """The family of a model, of which vLLM tells a parser more or less.

        Raises:
            TagsmithError: there is no family, more than one, or its file cannot be used.
        """
        architectures, model = _served(tokenizer, model_config)
        try:
            return family_of(
                self.family_id, architectures=architectures, model=model, tokenizer=tokenizer
            )
        except FamilyLookupError:
            family = _of_preset(self.preset, architectures)
            if family is None:
                raise
            return family


def _served(tokenizer: Any, model_config: Any) -> tuple[tuple[str, ...], str | None]:
    """The architectures and the name of the model; without a config, by where its tokenizer is."""
    if model_config is None:
        path = getattr(tokenizer, "name_or_path", None)
        return (_architectures_at(path), path) if isinstance(path, str) and path else ((), None)
    config = getattr(model_config, "hf_config", None)
    told = [*_words(getattr(config, "architectures", None))]
    told += _words(getattr(model_config, "architectures", None))
    told += _words([getattr(model_config, "architecture", None)])
    model = getattr(model_config, "model", None)
    return tuple(dict.fromkeys(told)), model if isinstance(model, str) else None


def _words(value: Any) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


@lru_cache(maxsize=8)
def _architectures_at(path: str) -> tuple[str, ...]:
    """Those of the config.json of a model that lies on this machine."""
    file: Any = Path(path, "config.json")
    if not file.is_file():
        try:
            from huggingface_hub import try_to_load_from_cache

            file = try_to_load_from_cache(path, "config.json")
        except (ImportError, ValueError):
            return ()
    try:
        return tuple(_words(json.loads(Path(file).read_bytes()).get("architectures")))
    except (OSError, ValueError, TypeError, AttributeError):
        return ()


def _of_preset(preset: str | None, architectures: tuple[str, ...]) -> Family | None:
    """The plainest of the families that this preset reads, of those of the architecture if any."""
    if preset is None:
        return None
    found = [
        family.spec
        for family in default_registry().families()
        if family.spec.melody is not None and family.spec.melody.preset == preset
    ]
    served = [spec for spec in found if set(architectures) & set(spec.match.architectures)]
    families = [default_registry().get(spec.id) for spec in served or found]
    return min(families, key=lambda family: (len(family.markers), family.id), default=None)
