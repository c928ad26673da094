"""The package as others get it: wheel, sdist, editable, with plug-ins beside it."""

import json
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import tagsmith
from workspace import ROOT, copy_of_repository, new_environment, run

BUILT_IN = {
    yaml.safe_load(file.read_text(encoding="utf-8"))["id"]
    for file in (ROOT / "families").rglob("*.yaml")
    if ".cases." not in file.name
}
PLUGGED_IN = {"acme-chat", "acme-mini", "acme-lines", "acme-pairs"}


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    framework = ROOT / "framework"
    found = {
        ".".join(module.parent.relative_to(framework).parts) for module in framework.rglob("*.py")
    }
    assert set(listed) == found | {"tagsmith_families"}


def test_version_is_the_declared_one() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert tagsmith.__version__ == declared


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_repository(tmp_path_factory.mktemp("clone") / "tagsmith")


@pytest.fixture(scope="module")
def distributions(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, list[Path]]:
    """The wheel (built from the sdist), the sdist, and the wheels of the example plug-ins."""
    target = tmp_path_factory.mktemp("dist")
    builder = new_environment(target / "builder", "build")
    build = (builder / "python", "-m", "build", "--outdir", target)
    run(*build, repository, cwd=target)
    [wheel], [sdist] = target.glob("tagsmith-*.whl"), target.glob("tagsmith-*.tar.gz")
    for example in ("plugin", "plugin-engine", "plugin-data-only"):
        run(*build, "--wheel", repository / "examples" / example, cwd=target)
    return wheel, sdist, sorted(target.glob("*acme*.whl"))


@pytest.fixture(scope="module")
def installed(
    distributions: tuple[Path, Path, list[Path]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The programs of an environment that holds the wheel and both plug-ins."""
    wheel, _, plugins = distributions
    return new_environment(tmp_path_factory.mktemp("installed") / "venv", wheel, *plugins)


def family_ids(programs: Path, cwd: Path) -> set[str]:
    listed = json.loads(run(programs / "tagsmith", "families", "--format", "json", cwd=cwd))
    return {family["id"] for family in listed}


@pytest.mark.heavy
def test_wheel_and_sdist_hold_what_they_should(
    distributions: tuple[Path, Path, list[Path]],
) -> None:
    wheel, sdist, plugins = distributions
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    families = {
        f"tagsmith_families/{path.relative_to(ROOT / 'families').as_posix()}"
        for path in (ROOT / "families").rglob("*.yaml")
    }
    assert families <= in_wheel
    page = {f"tagsmith/report/page.{kind}" for kind in ("css", "html", "js")}
    assert {"tagsmith/py.typed", *page} <= in_wheel
    assert {name.split("/")[0] for name in in_wheel} == {
        "tagsmith",
        "tagsmith_families",
        "tagsmith_pytest",
        f"tagsmith-{tagsmith.__version__}.dist-info",
    }
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    assert {"schemas/family.schema.json", "LICENSE", "CHANGELOG.md", "families/cohere"} <= in_sdist
    assert len(plugins) == 3


@pytest.mark.heavy
def test_plugins_and_built_in_families_are_found_from_another_directory(
    installed: Path, tmp_path: Path
) -> None:
    assert family_ids(installed, tmp_path) == BUILT_IN | PLUGGED_IN


@pytest.mark.heavy
def test_the_core_brings_no_heavy_library(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(run(installed / "pip", "list", "--format", "json", cwd=tmp_path))
    names = {package["name"].lower() for package in listed}
    assert not names & {"torch", "xgrammar", "transformers", "numpy", "rich"}


@pytest.mark.heavy
def test_demo_runs_from_another_directory(
    installed: Path, repository: Path, tmp_path: Path
) -> None:
    shown = run("bash", repository / "examples" / "demo.sh", cwd=tmp_path, path=(installed,))
    for part in ("get_forecast", '{"city": "Oslo", "days": 2}', "12 mm of rain", "oslo-sunday"):
        assert part in shown


@pytest.mark.heavy
def test_the_plugins_own_tests_pass(
    distributions: tuple[Path, Path, list[Path]], repository: Path, tmp_path: Path
) -> None:
    wheel, _, plugins = distributions
    programs = new_environment(tmp_path / "venv", wheel, *plugins, "pytest")
    for example, passed in (("plugin", "3 passed"), ("plugin-engine", "10 passed")):
        said = run(programs / "python", "-m", "pytest", cwd=repository / "examples" / example)
        assert passed in said


@pytest.mark.heavy
@pytest.mark.parametrize("way", ["sdist", "editable"])
def test_other_ways_to_install(
    way: str,
    distributions: tuple[Path, Path, list[Path]],
    tmp_path: Path,
) -> None:
    _, sdist, _ = distributions
    source = [sdist] if way == "sdist" else ["--editable", copy_of_repository(tmp_path / "clone")]
    programs = new_environment(tmp_path / "venv", *source)
    assert family_ids(programs, tmp_path) == BUILT_IN
    assert "usage" in run(programs / "python", "-m", "tagsmith", "--help", cwd=tmp_path).lower()


@pytest.mark.heavy
def test_make_demo_sets_up_once(repository: Path) -> None:
    first, second = (run("make", "demo", cwd=repository) for _ in range(2))
    assert "get_forecast" in first
    assert "pip install" not in second
