"""`tagsmith new NAME --like FAMILY`: a package that installs, lints and passes as it stands."""

import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tagsmith.authoring import Package, package_like, write_package
from tagsmith.authoring.family_yaml import family_values, write_family
from tagsmith.cli import main
from tagsmith.lint.run import lint
from tagsmith.loading import load_families
from tagsmith.plugins import load_plugins
from tagsmith.registry import default_registry, installed_layers, load_registry
from tagsmith.testing import find_failure, load_cases
from tagsmith.testing.differences import message_differences
from workspace import ROOT, copy_of_repository, new_environment, run

BUILT_IN = default_registry().ids()
Install = Callable[..., Path]


def new(*args: str) -> Result:
    return CliRunner().invoke(main, ["new", *args])


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Package]]:
    """A package like each of the built-in families, all below one directory."""
    directory = tmp_path_factory.mktemp("packages")
    made = [package_like(f"my-{base}", base, default_registry()) for base in BUILT_IN]
    for package in made:
        write_package(package, directory / package.names.distribution)
    return directory, made


def test_like_every_family_the_package_lints_clean(packages: tuple[Path, list[Package]]) -> None:
    directory, made = packages
    report = lint([directory], installed_layers(load_plugins()))
    assert report.problems == ()
    assert len(report.files) == len(made) == len(BUILT_IN)


def test_like_every_family_the_cases_pass(packages: tuple[Path, list[Package]]) -> None:
    directory, made = packages
    registry = load_registry([directory])
    for package in made:
        family = registry.get(package.names.family)
        [file] = (directory / package.names.distribution).rglob("*.cases.yaml")
        cases = load_cases(file)
        ids = {case.id for case in cases}
        assert {"answer", "one-call", "two-calls", "marker-in-an-argument"} <= ids, family.id
        assert ("thinking-that-the-prompt-opened" in ids) is (
            family.spec.tag_style.reasoning is not None
        ), family.id
        for case in cases:
            message = family.parse(case.text, **case.request)
            assert not list(message_differences(case, message)), (family.id, case.id)


def test_what_a_new_family_says_of_itself(tmp_path: Path) -> None:
    target = tmp_path / "made"
    done = new("my.new-family", "--like", "Qwen/Qwen3-8B", "--directory", str(target))
    assert done.exit_code == 0, done.output
    written = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    assert written == [
        "README.md",
        "pyproject.toml",
        "src/tagsmith_my_new_family/__init__.py",
        "src/tagsmith_my_new_family/my_new_family.cases.yaml",
        "src/tagsmith_my_new_family/my_new_family.yaml",
        "tests/test_my_new_family.py",
    ]
    assert sorted(done.stdout.splitlines()) == [str(target / name) for name in written]
    project = tomllib.loads((target / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["dependencies"]) == ("tagsmith-my.new-family", [])
    assert project["entry-points"] == {
        "tagsmith.families": {"my.new-family": "tagsmith_my_new_family"}
    }
    registry = load_registry([target])
    family = registry.get("MyNewFamilyForCausalLM")
    assert (family.id, family.title) == ("my.new-family", "My New Family")
    assert (family.spec.extends, registry.problems) == ("qwen3", ())


def test_what_stands_in_the_comment_is_what_is_inherited(tmp_path: Path) -> None:
    """Written without its signs, it changes nothing."""
    for base in ("command-a", "gpt-oss", "qwen3-coder", "llama-4"):
        base = f"cohere-{base}" if base == "command-a" else base
        package = package_like("my-family", base, default_registry())
        [text] = (text for name, text in package.files.items() if name.endswith("my_family.yaml"))
        kept, _, comment = text.partition("It says:\n#\n")
        said = "".join(re.sub("^# ?", "", line) for line in comment.splitlines(keepends=True))
        own = kept.partition("\n\n#")[0].replace(f"extends: {base}\n", "")
        file = tmp_path / f"{base}.yaml"
        file.write_text(f"{own}\n{said}")
        result = load_families([file])
        assert not result.errors
        found = result.families[0].spec
        said_by_base = family_values(default_registry().get(base).spec)
        for key in ("tokens", "tag_style", "tool_calls", "citations", "whitespace"):
            assert family_values(found).get(key) == said_by_base.get(key), (base, key)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_family_written_whole_says_the_same(name: str, tmp_path: Path) -> None:
    spec = default_registry().get(name).spec
    file = tmp_path / "whole.yaml"
    file.write_text(write_family(family_values(spec)), encoding="utf-8")
    result = load_families([file])
    assert not result.errors
    assert family_values(result.families[0].spec) == family_values(spec)


def test_a_family_of_a_plug_in_becomes_a_dependency(install: Install, tmp_path: Path) -> None:
    install(
        "acmebase",
        "tagsmith.families",
        "acmebase",
        a__yaml="tagsmith: 1\nid: acme-a\nextends: hermes\n",
    )
    assert new("acme-b", "--like", "acme-a", "--directory", str(tmp_path / "b")).exit_code == 0
    project = tomllib.loads((tmp_path / "b" / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == ["acmebase"]
    report = lint([tmp_path / "b"], installed_layers(load_plugins()), plugins=load_plugins())
    assert report.problems == ()


def test_a_family_that_is_not_installed_cannot_be_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("tagsmith: 1\nid: own\nextends: hermes\n")
    monkeypatch.setenv("TAGSMITH_FAMILIES", str(file))
    done = new("mine", "--like", "own", "--directory", str(tmp_path / "mine"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"tagsmith: --like: 'own' is read from {file}, which will not be installed beside the "
        "package; name a family of a plug-in\n"
    )


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("", "is no family id"),
        ("My-Family", "is no family id"),
        ("../my-family", "is no family id"),
        ("my family", "is no family id"),
        ("-my", "there is no option"),
        ("my--family", "is no family id"),
        ("my-family-", "is no family id"),
        ("familie-ä", "is no family id"),
        ("a\nb", "is no family id"),
        ("a.yaml", "is no family id"),
        ("a" * 49, "is longer than 48 characters"),
        ("families", "a package 'tagsmith_families' is installed already"),
        ("pytest", "a package 'tagsmith_pytest' is installed already"),
        ("hermes", "there is a family 'hermes' already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    name: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = new(name, "--like", "hermes")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert what in done.stderr or name == "-my"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["acme"],
        ["--like", "hermes"],
        ["acme", "--like", "hermes", "--from-template", "x.jinja"],
        ["acme", "--like", "hermes", "--output", "x.yaml"],
        ["--from-template", "x.jinja", "--directory", "x"],
        ["acme", "--like", "no-such-family"],
        ["acme", "--like", "LlamaForCausalLM"],
        ["acme", "other", "--like", "hermes"],
    ],
)
def test_wrong_use_is_told_in_one_line(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = new(*args)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "kept.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for place in ("full", "file", "dangling", ""):
        done = new("acme", "--like", "hermes", "--directory", place)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), place
    assert (tmp_path / "full" / "kept.txt").read_text() == (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert new("acme", "--like", "hermes", "--directory", "empty").exit_code == 0
    assert new("acme", "--like", "hermes").exit_code == 0
    assert new("acme", "--like", "hermes").exit_code == 2


@pytest.mark.heavy
@pytest.mark.parametrize("base", BUILT_IN)
def test_the_cases_pass_in_every_cutting(base: str, tmp_path: Path) -> None:
    package = package_like("my-family", base, default_registry())
    write_package(package, tmp_path / "package")
    family = load_registry([tmp_path]).get("my-family")
    [file] = tmp_path.rglob("*.cases.yaml")
    for case in load_cases(file):
        assert find_failure(case, family) is None


@pytest.mark.heavy
def test_the_package_installs_lints_and_passes(tmp_path: Path) -> None:
    source = copy_of_repository(tmp_path / "tagsmith")
    programs = new_environment(tmp_path / "venv", source, "build", "pytest")
    tagsmith = programs / "tagsmith"
    work = tmp_path / "work"
    work.mkdir()
    run(tagsmith, "new", "my-family", "--like", "qwen3-coder", cwd=work)
    project = work / "tagsmith-my-family"
    run(programs / "python", "-m", "build", "--wheel", "--outdir", work, project, cwd=work)
    [wheel] = work.glob("*.whl")
    run(programs / "python", "-m", "pip", "install", "--quiet", "--no-index", wheel, cwd=work)
    shutil.rmtree(project / "build", ignore_errors=True)
    assert "my-family" in run(tagsmith, "families", cwd=work)
    assert "no problems" in run(tagsmith, "lint", "src", cwd=project)
    run(tagsmith, "test", "src", "--samples", "2", cwd=project)
    said = run(programs / "python", "-m", "pytest", "-q", cwd=project)
    assert re.search(r"^\d+ passed", said, re.MULTILINE), said
    assert ROOT not in project.parents
