"""Plug-ins: the ways to register, what each hook brings, which are loaded, and that one which fails
keeps no other from loading."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tagsmith import plugins as plugins_module
from tagsmith.cli import main
from tagsmith.lint.rules import Rule
from tagsmith.plugins import Plugin, encodings_of, engines_of, load_plugins, rules_of
from tagsmith.registry import default_registry, load_registry

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


EVERY_HOOK = """
    import tagsmith
    from tagsmith.lint.rules import Rule

    brought = {"acme": lambda spec: None}

    @tagsmith.hookimpl
    def tagsmith_families():
        return iter(())

    @tagsmith.hookimpl
    def tagsmith_encodings():
        return {"acme": lambda spec, beyond: None}

    @tagsmith.hookimpl
    def tagsmith_engines():
        return brought

    @tagsmith.hookimpl
    def tagsmith_lint_rules():
        return [Rule("ACME001", "title", "A family without a title.", lambda subject: ())]
"""


def test_each_hook_brings_what_it_is_for(install: Install) -> None:
    install("acme", "tagsmith", "acme.plugin", plugin__py=EVERY_HOOK)
    plugins = load_plugins()
    found = {plugin.name: plugin for plugin in plugins}["acme"]
    assert (found.error, found.sources) == (None, ())
    assert (set(found.encodings), set(found.engines)) == ({"acme"}, {"acme"})
    (rule,) = found.rules
    assert isinstance(rule, Rule)
    assert rule.code == "ACME001"
    assert "acme" in encodings_of(plugins)
    assert set(engines_of(plugins)) == {"acme"}
    assert rules_of(plugins) == (rule,)


def test_a_plugin_that_changes_what_it_returned_changes_nothing(install: Install) -> None:
    install("acme", "tagsmith", "acme.plugin", plugin__py=EVERY_HOOK)
    found = plugin("acme")
    import acme.plugin  # type: ignore[import-not-found]

    acme.plugin.brought["native"] = acme.plugin.brought.pop("acme")
    assert set(found.engines) == {"acme"}


def hook(name: str, body: str) -> str:
    return (
        "import tagsmith\nfrom tagsmith.lint.rules import Rule\n"
        f"@tagsmith.hookimpl\ndef {name}:\n    {body}"
    )


def rule(code: str) -> str:
    return f"Rule({code!r}, 'a', 'b', len)"


FAULTS = {
    "raises": ("raise RuntimeError('broken\\nhere')", "RuntimeError: broken here"),
    "raises what is no exception": ("raise BaseException('b')", "BaseException: b"),
    "raises what cannot be shown": (
        "class Bad(Exception):\n    def __str__(self):\n        1 / 0\nraise Bad",
        "Bad: (and what it says cannot be shown)",
    ),
    "is interrupted": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "exits": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "does not compile": ("def", "SyntaxError"),
    "needs what is not there": ("import no_such_module_x", "no_such_module_x"),
    "hook raises": (hook("tagsmith_families()", "raise OSError('no')"), "OSError: no"),
    "hook exits": (hook("tagsmith_engines()", "raise SystemExit(4)"), "SystemExit: 4"),
    "hook fails on the way": (
        hook("tagsmith_families()", "yield 1 / 0"), "ZeroDivisionError",
    ),
    "hook returns one path": (
        hook("tagsmith_families()", "return 'families'"),
        "must return a list of paths, not str",
    ),
    "hook returns a path that none can be": (
        hook("tagsmith_families()", "return ['a\\0b']"), "'a\\x00b' is no path",
    ),
    "hook returns numbers": (hook("tagsmith_families()", "return [3]"), "3 is no path"),
    "hook returns a path of bytes": (
        hook("tagsmith_families()", "import pathlib\n    class P(pathlib.PurePath):\n"
             "        def __fspath__(self):\n            raise OSError('no path')\n"
             "    import os\n    class Q(os.PathLike):\n        def __fspath__(self):\n"
             "            return b'x'\n    return [Q()]"),
        "TypeError",
    ),
    "hook takes arguments": (hook("tagsmith_families(config)", "return []"), "config"),
    "encodings hook raises": (
        hook("tagsmith_encodings()", "return {'a': 1 / 0}"), "ZeroDivisionError",
    ),
    "encodings hook returns a list": (
        hook("tagsmith_encodings()", "return [len]"),
        "must return a mapping from names to encodings, not list",
    ),
    "encodings hook returns a nameless encoding": (
        hook("tagsmith_encodings()", "return {'': len}"), "'' is no name",
    ),
    "encodings hook returns text": (
        hook("tagsmith_encodings()", "return {'a': 'b'}"),
        "'b', which it calls 'a', is no encoding",
    ),
    "encodings hook takes a name of Tagsmith's": (
        hook("tagsmith_encodings()", "return {'json': len}"),
        "the encoding 'json' is brought by tagsmith too; rename it",
    ),
    "engines hook returns an engine": (
        hook("tagsmith_engines()", "return len"),
        "tagsmith_engines must return a mapping from names to engines, not builtin_function",
    ),
    "engines hook returns no engine": (
        hook("tagsmith_engines()", "return {'a': 5}"), "5, which it calls 'a', is no engine",
    ),
    "engines hook takes a name of Tagsmith's": (
        hook("tagsmith_engines()", "return {'melody': len}"),
        "the engine 'melody' is brought by tagsmith too; rename it",
    ),
    "rules hook returns a rule": (
        hook("tagsmith_lint_rules()", f"return {rule('ACME001')}"),
        "tagsmith_lint_rules must return a list of rules, not Rule",
    ),
    "rules hook returns what is none": (
        hook("tagsmith_lint_rules()", "return [len]"), "is no tagsmith.lint.rules.Rule",
    ),
    "rules hook takes a code of Tagsmith's": (
        hook("tagsmith_lint_rules()", f"return [{rule('TS999')}]"),
        "the code TS999 of a lint rule is Tagsmith's; rename it",
    ),
    "rules hook gives a code that is none": (
        hook("tagsmith_lint_rules()", f"return [{rule('no-title')}]"),
        "the code 'no-title' of a lint rule is not as ACME001",
    ),
    "rules hook gives a code twice": (
        hook("tagsmith_lint_rules()", f"return [{rule('A1')}, {rule('A1')}]"),
        "two lint rules have the code A1",
    ),
    "misspelt hook": (
        hook("tagsmith_famlies()", "return []"), "unknown hook 'tagsmith_famlies'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "told"), FAULTS.values(), ids=FAULTS)
def test_a_plugin_that_fails_is_recorded_and_the_others_work(
    install: Install, code: str, told: str
) -> None:
    install("aabad", "tagsmith", "aabad.plugin", plugin__py=code)
    install("zzgood", "tagsmith", "zzgood.plugin", plugin__py=HOOK, a__yaml=FAMILY.format("good"))
    registry = load_registry()
    errors = {plugin.name: plugin.error for plugin in registry.plugins}
    error = str(errors.pop("aabad"))
    assert (told in error, "\n" in error) == (True, False)
    assert errors == {"builtin": None, "zzgood": None}
    assert registry.get("good").parse("<|START_RESPONSE|>Hi").content == "Hi"


def test_an_unknown_name_is_told_with_the_plugins_that_failed(install: Install) -> None:
    install("aabad", "tagsmith", "aabad.plugin", plugin__py="raise RuntimeError('broken')")
    with pytest.raises(LookupError, match="failed to load: aabad"):
        load_registry().get("no-such-family")


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


BAD_FILES = {
    "of a newer format": ("tagsmith: 2\nid: bad\n", "TS107"),
    "that is no YAML": ("a: [", "TS005"),
    "with a tag": ("!!python/object/apply:os.system ['true']", "TS011"),
    "of an id that is taken": ("tagsmith: 1\nid: cohere-north\n", "TS401"),
    "of an engine that is not there": ("tagsmith: 1\nid: bad\nengine: other\n", "TS104"),
}


@pytest.mark.parametrize(("text", "code"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_plugin_with_a_bad_file_brings_its_others(install: Install, text: str, code: str) -> None:
    install("acme", "tagsmith.families", "acme", a__yaml=FAMILY.format("acme-a"), bad__yaml=text)
    registry = load_registry()
    assert {"acme-a", "cohere-north"} <= set(registry.ids())
    listed = CliRunner().invoke(main, ["plugins", "--format", "json"])
    (row,) = [row for row in json.loads(listed.stdout) if row["name"] == "acme"]
    assert (listed.exit_code, row["families"]) == (1, ["acme-a"])
    assert f"bad.yaml:1:1: {code}" in row["error"] or f" {code} " in row["error"]


def test_a_path_that_is_code_of_the_plugin_may_fail_as_well(install: Install) -> None:
    code = """
        from importlib.resources.abc import Traversable
        import tagsmith

        class Broken(Traversable):
            name = "broken"
            def __str__(self): return "acme://broken"
            def is_dir(self): raise RuntimeError("out of order")
            is_file = iterdir = joinpath = open = read_bytes = read_text = is_dir

        @tagsmith.hookimpl
        def tagsmith_families():
            return [Broken()]
    """
    install("acme", "tagsmith", "acme.plugin", plugin__py=code)
    (problem,) = load_registry().problems
    assert str(problem).startswith("acme://broken:1:1: TS001 cannot be read (out of order)")


def test_a_package_whose_entry_points_cannot_be_read_is_told(
    install: Install, tmp_path: Path
) -> None:
    install("acme", "tagsmith.families", "acme", a__yaml=FAMILY.format("acme-a"))
    install("zzbad", "tagsmith", "zzbad")
    (tmp_path / "zzbad-1.2.dist-info" / "entry_points.txt").write_text("[tagsmith]\nno equals\n")
    assert "entry points cannot be read (" in str(plugin("zzbad").error)
    assert {"acme-a", "cohere-north"} <= set(load_registry().ids())


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


def listed(*args: str) -> tuple[dict[str, Any], str, int]:
    result = CliRunner().invoke(main, ["plugins", "--format", "json", *args])
    return {row["name"]: row for row in json.loads(result.stdout)}, result.stderr, result.exit_code


def test_the_command_lists_who_brought_what(install: Install) -> None:
    code = EVERY_HOOK.replace("iter(())", "[__file__.replace('plugin.py', 'a.yaml')]")
    install("acme", "tagsmith", "acme.plugin", plugin__py=code, a__yaml=FAMILY.format("acme-a"))
    rows, told, code = listed()
    assert (told, code) == ("", 0)
    acme = rows["acme"]
    assert acme.pop("milliseconds") > 0
    assert acme.pop("sources")[0].endswith("a.yaml")
    assert acme == {
        "name": "acme",
        "distribution": "acme",
        "version": "1.2",
        "group": "tagsmith",
        "value": "acme.plugin",
        "families": ["acme-a"],
        "encodings": ["acme"],
        "engines": ["acme"],
        "rules": ["ACME001"],
        "disabled": None,
        "error": None,
    }
    assert rows["builtin"]["families"] == sorted(rows["builtin"]["families"])
    assert "cohere-north" in rows["builtin"]["families"]
    text = CliRunner().invoke(main, ["plugins"]).stdout.splitlines()
    assert text[0].split() == [
        "NAME", "DISTRIBUTION", "VERSION", "VALUE", "BRINGS", "MILLISECONDS", "STATE",
    ]  # fmt: skip
    brought = "families acme-a; encodings acme; engines acme; rules ACME001"
    assert text[2].startswith(
        f"acme     acme          1.2      acme.plugin               {brought}"
    )
    assert text[2].endswith("  fine")
    assert f"{len(rows['builtin']['families'])} families " in text[1]


def test_the_command_lists_plugins_with_errors(install: Install) -> None:
    install("aabad", "tagsmith", "aabad.plugin", plugin__py="raise RuntimeError('broken')")
    rows, _, code = listed()
    assert (code, rows["aabad"]["error"]) == (1, "RuntimeError: broken")
    assert "error: RuntimeError: broken" in CliRunner().invoke(main, ["plugins"]).stdout
    families = CliRunner().invoke(main, ["families"])
    assert families.exit_code == 0
    assert families.stderr == "plug-in aabad did not load: RuntimeError: broken\n"


@pytest.fixture
def two(install: Install) -> None:
    for name in ("aaone", "aatwo"):
        install(name, "tagsmith", f"{name}.plugin", plugin__py=HOOK, a__yaml=FAMILY.format(name))


EVERY = {"builtin", "aaone", "aatwo"}
CHOICES: dict[str, tuple[dict[str, str], set[str]]] = {
    "nothing said": ({}, EVERY),
    "empty": ({"TAGSMITH_PLUGINS": " , ", "TAGSMITH_DISABLE_PLUGINS": ""}, EVERY),
    "all disabled": ({"TAGSMITH_DISABLE_PLUGINS": "1"}, {"builtin"}),
    "some disabled": ({"TAGSMITH_DISABLE_PLUGINS": "aatwo, other"}, {"builtin", "aaone"}),
    "the built-in disabled": ({"TAGSMITH_DISABLE_PLUGINS": "builtin"}, {"aaone", "aatwo"}),
    "everything disabled": ({"TAGSMITH_DISABLE_PLUGINS": "1,builtin"}, set()),
    "some allowed": ({"TAGSMITH_PLUGINS": "aaone"}, {"builtin", "aaone"}),
    "allowed and disabled": (
        {"TAGSMITH_PLUGINS": "aaone,aatwo", "TAGSMITH_DISABLE_PLUGINS": "aaone"},
        {"builtin", "aatwo"},
    ),
}


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(("environ", "loaded"), CHOICES.values(), ids=CHOICES)
def test_the_environment_chooses_what_is_loaded(
    environ: dict[str, str], loaded: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = default_registry()
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = load_plugins()
    assert {plugin.name for plugin in found if plugin.sources} == loaded
    assert {plugin.name for plugin in found} == EVERY
    assert all((plugin.disabled is None) == (plugin.name in loaded) for plugin in found)
    assert all(plugin.error is None for plugin in found)
    assert (default_registry() is before) == (not environ)


@pytest.mark.usefixtures("two")
def test_a_plugin_that_is_left_out_runs_no_code_and_is_listed(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("aabad", "tagsmith", "aabad.plugin", plugin__py="raise RuntimeError('broken')")
    monkeypatch.setenv("TAGSMITH_DISABLE_PLUGINS", "aabad,aatow")
    monkeypatch.setenv("TAGSMITH_PLUGINS", "aatwo")
    rows, told, code = listed()
    assert (code, rows["aabad"]["error"], rows["aabad"]["milliseconds"]) == (0, None, 0)
    assert rows["aabad"]["disabled"] == "TAGSMITH_DISABLE_PLUGINS names it"
    assert rows["aaone"]["disabled"] == "TAGSMITH_PLUGINS does not name it"
    assert rows["builtin"]["disabled"] is rows["aatwo"]["disabled"] is None
    assert told == (
        "tagsmith: warning: TAGSMITH_DISABLE_PLUGINS names 'aatow', which is no installed plug-in; "
        "nearest: aatwo, aaone\n"
    )
    table = CliRunner().invoke(main, ["plugins"]).stdout
    assert "disabled: TAGSMITH_DISABLE_PLUGINS names it" in table


def test_who_waits_for_a_plugin_is_told_its_name(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins_module, "SLOW_SECONDS", 0.02)
    install("aaslow", "tagsmith", "aaslow.plugin", plugin__py="import time\ntime.sleep(0.3)")
    rows, told, _ = listed()
    assert rows["aaslow"]["milliseconds"] >= 300
    assert "tagsmith: the plug-in aaslow takes long to load; if it does not end" in told
    started = time.perf_counter()
    load_plugins()
    assert time.perf_counter() - started < 0.25
