"""Plug-ins that are made of what the documentation shows."""

import doctest
from itertools import takewhile
from types import ModuleType

HOOKS = """
import importlib.resources
import tagsmith

@tagsmith.hookimpl
def tagsmith_families():
    return [importlib.resources.files(__package__)]

@tagsmith.hookimpl
def {hook}():
    return {{{name!r}: {made}}}
"""


def documented_plugin(module: ModuleType, *, hook: str, name: str, made: str) -> str:
    """A plug-in's module: the example in a module's documentation, up to where it is tried out, and
    the hooks that bring the families beside it and, by its name, what the example makes."""
    examples = doctest.DocTestParser().get_examples(module.__doc__ or "")
    shown = takewhile(lambda e: e.source != "from tagsmith import Family\n", examples)
    code = "\n\n".join(example.source for example in shown)
    return code + HOOKS.format(hook=hook, name=name, made=made)
