"""The files of a new package that hold no family."""

from __future__ import annotations

from string import Template

PYPROJECT = Template("""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$distribution"
version = "0.1.0"
description = "The $title family for Tagsmith"
readme = "README.md"
requires-python = ">=3.11"
dependencies = [$dependencies]

[project.optional-dependencies]
test = ["tagsmith", "pytest>=8.2"]

# The value names a package; every family file in its directory is loaded.
[project.entry-points."tagsmith.families"]
"$family" = "$module"

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.package-data]
$module = ["*.yaml"]

# Tagsmith's plug-in for pytest takes the cases in src for tests, and holds the family to the laws.
[tool.pytest.ini_options]
testpaths = ["src", "tests"]
""")

README = Template("""\
# $distribution

The $title family for Tagsmith, as data alone: no code of this package runs.

| file | what it is |
|---|---|
| `pyproject.toml` | the package; its entry point names the directory with the family |
| `src/$module/$stem.yaml` | the family: how the model writes reasoning, content and tool calls |
| `src/$module/$stem.cases.yaml` | golden cases: outputs, and what a user must get |
| `tests/test_$stem.py` | what the package as a whole must do |

Say in the family's file what your model writes, put real outputs of it into the cases, then:

    $$ tagsmith lint src
    $$ tagsmith test src
    $$ pip install '.[test]'
    $$ tagsmith families
    $$ pytest
""")

TESTS = Template('''\
"""The family is installed, answers to its architectures, and has a grammar.

Its golden cases, and the laws, are collected from src by Tagsmith's plug-in for pytest.
"""

import tagsmith

TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]


def test_it_answers_to_its_architectures() -> None:
    family = tagsmith.get_family("$family")
    for architecture in family.spec.match.architectures:
        [model, *_] = family.spec.match.models or [""]
        assert tagsmith.get_family(architecture, model=model) == family


def test_it_has_a_structural_tag() -> None:
    family = tagsmith.get_family("$family")
    choice = "none" if family.spec.tool_calls is None else "required"
    tag = family.structural_tag(tools=TOOLS, tool_choice=choice)
    assert tag["type"] == "structural_tag"
''')
