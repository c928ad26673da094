"""Plug-ins: two ways to register families, and one that fails keeps no other from loading."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tagsmith.cli import main
from tagsmith.plugins import Plugin, load_plugins
from tagsmith.registry import load_registry

FAMILY = "tagsmith: 1\nid: {}\nextends: cohere-command-a\n"
Install = Callable[..., Path]


def plugin(name: str) -> Plugin:
    return {found.name: found for found in load_plugins()}[name]


HOOK = """
    import importlib.resources
    import tagsmith

    @tagsmith.hookimpl
    def tagsmith_families():
        return [importlib.resources.files(__package__)]
"""


def test_a_hook_brings_families(install: Install) -> None:
    directory = install(
        "acme", "tagsmith", "acme.plugin", plugin__py=HOOK, a__yaml=FAMILY.format("acme-a")
    )
    found = plugin("acme")
    assert (found.error, found.distribution, found.version) == (None, "acme", "1.2")
    assert found.seconds > 0
    (family,) = [f for f in load_registry().families() if f.spec.id == "acme-a"]
    assert (family.source, family.origin) == (str(directory / "a.yaml"), "acme")


def test_a_package_of_yaml_alone_needs_no_code_and_runs_none(install: Install) -> None:
    install(
        "acmedata",
        "tagsmith.families",
        "acmedata",
        __init____py="raise RuntimeError('this must not run')",
        a__yaml=FAMILY.format("acme-a"),
    )
    assert plugin("acmedata").error is None
    assert "acme-a" in load_registry().ids()


def test_a_package_of_yaml_without_an_init_file(install: Install) -> None:
    install("acmedata", "tagsmith.families", "acmedata", a__yaml=FAMILY.format("acme-a"))
    assert "acme-a" in load_registry().ids()


def test_the_built_in_families_come_by_the_same_hook() -> None:
    (found,) = [p for p in load_plugins() if p.value == "tagsmith_families.plugin"]
    assert (found.group, found.distribution, found.error) == ("tagsmith", "tagsmith", None)


FAULTS = {
    "raises": ("raise RuntimeError('broken\\nhere')", "RuntimeError: broken here"),
    "is interrupted": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "exits": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "does not compile": ("def", "SyntaxError"),
    "needs what is not there": ("import no_such_module_x", "no_such_module_x"),
    "hook raises": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_families():\n    raise OSError('no')",
        "OSError: no",
    ),
    "hook fails on the way": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_families():\n    yield 1 / 0",
        "ZeroDivisionError",
    ),
    "hook returns one path": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_families():\n    return 'families'",
        "must return a list of paths, not str",
    ),
    "hook returns numbers": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_families():\n    return [3]",
        "3 is no path",
    ),
    "hook takes arguments": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_families(config):\n    return []",
        "config",
    ),
    "encodings hook raises": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_encodings():\n    return {'a': 1 / 0}",
        "ZeroDivisionError",
    ),
    "encodings hook returns a list": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_encodings():\n    return [len]",
        "must return a mapping from names to encodings, not list",
    ),
    "encodings hook returns a nameless encoding": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_encodings():\n    return {'': len}",
        "'' is no name",
    ),
    "encodings hook returns text": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_encodings():\n    return {'a': 'b'}",
        "'b', which it calls 'a', is no encoding",
    ),
    "encodings hook takes a name of Tagsmith's": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_encodings():\n    return {'json': len}",
        "the encoding 'json' is brought by tagsmith too; rename it",
    ),
    "misspelt hook": (
        "import tagsmith\n@tagsmith.hookimpl\ndef tagsmith_famlies():\n    return []",
        "unknown hook 'tagsmith_famlies'",
    ),
}


@pytest.mark.parametrize(("code", "told"), FAULTS.values(), ids=FAULTS)
def test_a_plugin_that_fails_is_recorded_and_the_others_work(
    install: Install, code: str, told: str
) -> None:
    install("aabad", "tagsmith", "aabad.plugin", plugin__py=code)
    install("zzgood", "tagsmith", "zzgood.plugin", plugin__py=HOOK, a__yaml=FAMILY.format("good"))
    error = plugin("aabad").error
    assert error is not None
    assert told in error
    assert "\n" not in error
    assert plugin("zzgood").error is None
    registry = load_registry()
    assert {"good", "cohere-command-a"} <= set(registry.ids())
    with pytest.raises(LookupError, match="failed to load: aabad"):
        registry.get("no-such-family")


@pytest.mark.parametrize(("value", "told"), [("nowhere_x", "no package"), ("acmemod.a", "acmemod")])
def test_a_data_package_that_is_not_there(install: Install, value: str, told: str) -> None:
    install("acmemod", "tagsmith.families", value)
    assert told in (plugin("acmemod").error or "")


def test_what_a_plugin_prints_is_no_part_of_a_result(install: Install) -> None:
    install(
        "aatalks",
        "tagsmith",
        "aatalks.plugin",
        plugin__py=f"{HOOK}\n    print('loading')\n",
        a__yaml=FAMILY.format("acme-a"),
    )
    result = CliRunner().invoke(main, ["plugins", "--format", "json"])
    assert [row["name"] for row in json.loads(result.stdout)] == ["builtin", "aatalks"]
    assert result.stderr == "loading\n"


@pytest.mark.parametrize("taken", ["cohere-north", "acme-a"])
def test_of_two_plugins_with_one_id_the_first_keeps_it(install: Install, taken: str) -> None:
    texts = {"a__yaml": FAMILY.format("acme-a"), "b__yaml": FAMILY.format("acme-b")}
    install("aafirst", "tagsmith", "aafirst.plugin", plugin__py=HOOK, **texts)
    texts = {"a__yaml": FAMILY.format(taken), "b__yaml": FAMILY.format("acme-c")}
    # Before Tagsmith's own by name, yet not in rank.
    name = "aaaa" if taken == "cohere-north" else "zzlast"
    directory = install(name, "tagsmith.families", name, **texts)
    registry = load_registry()
    assert {"acme-a", "acme-b", "acme-c", "cohere-north"} <= set(registry.ids())
    assert registry.get(taken).source != str(directory / "a.yaml")
    (problem,) = registry.problems
    assert (problem.code, problem.file) == ("TS401", str(directory / "a.yaml"))
    assert str(registry.get(taken).source) in problem.message
    assert CliRunner().invoke(main, ["families"]).stderr == f"{problem}\n"
    listed = CliRunner().invoke(main, ["plugins", "--format", "json"])
    assert listed.exit_code == 1
    errors = {row["name"]: row["error"] for row in json.loads(listed.stdout)}
    assert {name for name, error in errors.items() if error} == {name}
    assert errors[name] == str(problem)


def test_two_families_of_one_id_in_one_plugin_are_both_told(install: Install) -> None:
    text = FAMILY.format("acme-a")
    install("acme", "tagsmith.families", "acme", a__yaml=text, b__yaml=text)
    registry = load_registry()
    assert "acme-a" not in registry.ids()
    (found,) = [found for found in registry.plugins if found.name == "acme"]
    assert [error.code for error in registry.problems_of(found)] == ["TS401", "TS401"]


def test_the_command_lists_plugins_with_errors(install: Install) -> None:
    runner = CliRunner()
    fine = runner.invoke(main, ["plugins"])
    assert fine.exit_code == 0
    assert fine.stdout.splitlines()[0].split() == [
        "NAME", "DISTRIBUTION", "VERSION", "GROUP", "VALUE", "FAMILIES", "MILLISECONDS", "ERROR",
    ]  # fmt: skip
    install("aabad", "tagsmith", "aabad.plugin", plugin__py="raise RuntimeError('broken')")
    bad = runner.invoke(main, ["plugins", "--format", "json"])
    assert bad.exit_code == 1
    assert '"error": "RuntimeError: broken"' in bad.stdout
    listed = runner.invoke(main, ["families"])
    assert listed.exit_code == 0
    assert listed.stderr == "plug-in aabad did not load: RuntimeError: broken\n"
