"""Which family a parser reads: the one its name gives, or that of the served model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sglang.srt.runtime_context import get_context, get_model

from tagsmith.errors import TagsmithError
from tagsmith.family import Family
from tagsmith.integrations.naming import family_of


@dataclass(frozen=True, slots=True)
class Adapter:
    """What a parser's name says. `family_id` is None where the served model decides."""

    name: str
    family_id: str | None = None

    def family(
        self, tokenizer: Any, architectures: Sequence[str] = (), model: str | None = None
    ) -> Family:
        """The family for a model; without its name, for the one that this process serves.

        Raises:
            ValueError: there is no family, more than one, or its file cannot be used. SGLang
                answers such an error, or does not start.
        """
        if model is None and self.family_id is None:
            architectures, model = served_model(tokenizer)
        try:
            return family_of(
                self.family_id, architectures=architectures, model=model, tokenizer=tokenizer
            )
        except TagsmithError as error:
            raise ValueError(f"{self.name}: {error}") from error


def served_model(tokenizer: Any = None) -> tuple[Sequence[str], str | None]:
    """The architectures and the path of the model that this process serves.

    Without a server, the place of its tokenizer stands for the model.
    """
    if not get_context().is_config_namespace_published("model"):
        path = getattr(tokenizer, "name_or_path", None)
        return (), path if isinstance(path, str) and path else None
    model = get_model()
    return (
        _architectures(
            model.model_path,
            bool(model.trust_remote_code),
            model.revision,
            model.json_model_override_args or "{}",
            model.model_config_parser,
        ),
        model.model_path,
    )


@lru_cache(maxsize=8)
def _architectures(
    model: str, trust_remote_code: bool, revision: str | None, overrides: str, parser: str
) -> tuple[str, ...]:
    """Those of a model's config.json, as SGLang reads it; none where it cannot be read."""
    from sglang.srt.utils.hf_transformers_utils import get_config

    try:
        config = get_config(
            model,
            trust_remote_code,
            revision,
            model_override_args=json.loads(overrides),
            model_config_parser=parser,
        )
    except Exception:  # whatever a hub, a file or a model's own code may do
        return ()
    return tuple(name for name in config.architectures or () if isinstance(name, str))
