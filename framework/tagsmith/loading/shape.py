"""What the format has at a path: which keys, which named values, and whether a value fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from tagsmith.loading.nodes import Path
from tagsmith.spec.models import FORMAT_VERSION, FamilySpec


def models_at(path: Path) -> list[type[BaseModel]]:
    """The parts of the format that can stand at a path: none where that is no mapping."""
    models: list[type[BaseModel]] = [FamilySpec]
    for key in (step for step in path if isinstance(step, str)):
        fields = [model.model_fields[key] for model in models if key in model.model_fields]
        models = [model for field in fields for model in _of_kind(field.annotation, BaseModel)]
    return models


def keys_at(path: Path) -> list[str]:
    """The keys of a mapping.

    >>> keys_at(["melody"])
    ['preset']
    """
    return [key for model in models_at(path) for key in model.model_fields]


def values_at(path: Path) -> list[str]:
    """The named values that a key takes; none where it takes others.

    >>> values_at(["initial_region"]), values_at(["title"])
    (['content', 'reasoning'], [])
    """
    fields = [model.model_fields.get(str(path[-1])) for model in models_at(path[:-1])]
    return [str(one.value) for field in fields if field for one in _members(field.annotation)]


def fits(path: Path, value: Any) -> bool:
    """Whether a value is one that the format takes at a path, whatever else the file says.

    >>> fits(["match", "models", 3], "acme/*"), fits(["match", "models"], "acme/*")
    (True, False)
    """
    data = value
    for step in reversed(path):
        data = {step: data} if isinstance(step, str) else [data]
    place = [0 if isinstance(step, int) else step for step in path]
    data = {"tagsmith": FORMAT_VERSION, "id": "unnamed"} | data
    try:
        FamilySpec.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        return not any(_concerns(list(detail["loc"]), place) for detail in error.errors())
    return True


def _concerns(location: list[Any], place: list[Any]) -> bool:
    """Whether an error is that of a value, or of what is in it or around it."""
    shared = min(len(location), len(place))
    return location[:shared] == place[:shared]


def _members(annotation: Any) -> Iterator[Enum]:
    """The named values of a type: all of an enumeration, or those of a literal."""
    if isinstance(annotation, Enum):
        yield annotation
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        yield from annotation
    for argument in get_args(annotation):
        yield from _members(argument)


def _of_kind(annotation: Any, kind: type[Any]) -> Iterator[Any]:
    if isinstance(annotation, type) and issubclass(annotation, kind):
        yield annotation
    for argument in get_args(annotation):
        yield from _of_kind(argument, kind)
