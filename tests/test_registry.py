"""The registry: what a name means, where it cannot decide, and what is broken."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

import tagsmith
from tagsmith.errors import AmbiguousFamilyError, FamilyFileError, UnknownFamilyError
from tagsmith.loading import Library
from tagsmith.registry import Registry, default_registry, get_family, load_registry

VISION = "Cohere2VisionForConditionalGeneration"
BUILT_IN = (
    "cohere-command-a",
    "cohere-command-a-plus",
    "cohere-command-a-vision",
    "cohere-north",
)


class Vocabulary:
    """As `tokenizers` and slow transformers tokenizers show it."""

    def __init__(self, *tokens: str) -> None:
        self._ids = {token: number for number, token in enumerate(["<unk>", *tokens])}

    def get_vocab(self) -> dict[str, int]:
        return self._ids


class UnknownForUnknown(Vocabulary):
    """As transformers: a word that is not there has the id of the unknown token."""

    unk_token = "<unk>"
    unk_token_id = 0

    def convert_tokens_to_ids(self, token: str) -> int:
        return self._ids.get(token, 0)


class NoneForUnknown(Vocabulary):
    """As `tokenizers`: a word that is not there has no id."""

    def token_to_id(self, token: str) -> int | None:
        return self._ids.get(token)


TOKENIZERS = [Vocabulary, UnknownForUnknown, NoneForUnknown]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGSMITH_FAMILIES", raising=False)


def write(directory: Path, **matches: str) -> Path:
    for name, match in matches.items():
        text = f"tagsmith: 1\nid: {name}\nmatch: {match}\n"
        (directory / f"{name}.yaml").write_text(text)
    return directory


def registry_of(directory: Path, **matches: str) -> Registry:
    return load_registry([write(directory, **matches)])


@pytest.mark.parametrize("family_id", BUILT_IN)
def test_built_in_families_answer_to_their_ids(family_id: str) -> None:
    family = get_family(family_id)
    assert family.id == family_id
    assert Path(str(family.source)).is_file()
    assert family is get_family(family_id)


NAMES = {
    "Cohere2ForCausalLM": "cohere-command-a",
    "Cohere2MoeForCausalLM": "cohere-north",
    "CohereLabs/c4ai-command-a-03-2025": "cohere-command-a",
    "coherelabs/C4AI-command-r7b-12-2024": "cohere-command-a",
    "CohereLabs/command-a-plus-1": "cohere-command-a-plus",
    "CohereLabs/command-a-vision-07-2025": "cohere-command-a-vision",
}


@pytest.mark.parametrize(("name", "family_id"), NAMES.items())
def test_an_architecture_or_a_model_name_means_its_family(name: str, family_id: str) -> None:
    assert get_family(name).id == family_id


DECIDED_BY_MODEL = {
    "CohereLabs/command-a-plus-1": "cohere-command-a-plus",
    "coherelabs/COMMAND-A-VISION-07-2025": "cohere-command-a-vision",
}


@pytest.mark.parametrize(("model", "family_id"), DECIDED_BY_MODEL.items())
def test_a_model_decides_between_families_of_one_architecture(model: str, family_id: str) -> None:
    assert get_family(VISION, model=model).id == family_id


@pytest.mark.parametrize("make", TOKENIZERS)
@pytest.mark.parametrize(
    ("tokens", "family_id"),
    [(["<|START_TEXT|>"], "cohere-command-a-plus"), (["<|X|>"], "cohere-command-a-vision")],
)
def test_a_tokenizer_decides_between_families_of_one_architecture(
    make: Any, tokens: list[str], family_id: str
) -> None:
    assert get_family(VISION, tokenizer=make(*tokens)).id == family_id
    named = get_family(VISION, model="someone/else", tokenizer=make(*tokens))
    assert named.id == family_id


def test_a_model_decides_before_the_tokenizer() -> None:
    tokenizer = Vocabulary("<|START_TEXT|>")
    vision = get_family(VISION, model="CohereLabs/command-a-vision-1", tokenizer=tokenizer)
    assert vision.id == "cohere-command-a-vision"


@pytest.mark.parametrize("model", [None, "someone/else"])
def test_what_cannot_be_decided_names_the_candidates_and_how_to_choose(model: str | None) -> None:
    with pytest.raises(AmbiguousFamilyError) as caught:
        get_family(VISION, model=model)
    message = str(caught.value)
    parts = [VISION, "cohere-command-a-plus, cohere-command-a-vision", "model=", "tokenizer="]
    assert [part for part in parts if part not in message] == []


def test_two_families_whose_tokens_are_there_go_by_the_more_demanding(tmp_path: Path) -> None:
    registry = registry_of(
        tmp_path,
        few="{architectures: [A], tokens: [x]}",
        more="{architectures: [A], tokens: [x, y]}",
        other="{architectures: [A], tokens: [z]}",
    )
    assert registry.get("A", tokenizer=Vocabulary("x", "y")).id == "more"
    assert registry.get("A", tokenizer=Vocabulary("x")).id == "few"
    with pytest.raises(AmbiguousFamilyError, match="few, other"):
        registry.get("A", tokenizer=Vocabulary("x", "z"))
    with pytest.raises(UnknownFamilyError, match="few needs x; more needs x, y; other needs z"):
        registry.get("A", tokenizer=Vocabulary("w"))
    assert registry.get("few", tokenizer=Vocabulary("w")).id == "few"


NEAR = {
    "cohere-comand-a": "cohere-command-a",
    "cohere2forcausallm": "Cohere2ForCausalLM",
    "Cohere2MoEForCausalLM": "Cohere2MoeForCausalLM",
    "something entirely else": "cohere-north",
    "": "cohere-north",
}


@pytest.mark.parametrize(("name", "near"), NEAR.items())
def test_an_unknown_name_is_told_with_the_nearest_and_how_to_add_one(name: str, near: str) -> None:
    with pytest.raises(UnknownFamilyError) as caught:
        get_family(name)
    parts = [f"'{name}'", near, "extends", "--families", "TAGSMITH_FAMILIES", "plug-in"]
    assert [part for part in parts if part not in str(caught.value)] == []
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, LookupError)


def test_a_broken_family_keeps_no_other_from_loading(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("tagsmith: 1\nid: bad\ntitel: x\n")
    (tmp_path / "worse.yaml").write_bytes(b"\xff\x00")
    registry = registry_of(tmp_path, good="{architectures: [G]}")
    assert registry.get("G").id == "good"
    assert {*BUILT_IN, "good"} <= set(registry.ids())
    assert list(registry.ids()) == sorted(registry.ids())
    assert [Path(p.file).name for p in registry.problems] == ["bad.yaml", "worse.yaml"]
    with pytest.raises(FamilyFileError, match=r"bad\.yaml:3:1: TS101 .*did you mean 'title'"):
        registry.get("bad")
    with pytest.raises(
        UnknownFamilyError, match=r"problems in family files: 2, first: .*bad\.yaml"
    ):
        registry.get("worse")


def test_two_families_of_one_id_are_told_and_neither_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "copy.yaml").write_text("tagsmith: 1\nid: good\n")
    registry = registry_of(tmp_path, good="{architectures: [G]}")
    assert [problem.code for problem in registry.problems] == ["TS401", "TS401"]
    with pytest.raises(FamilyFileError, match=r"TS401 .*good\.yaml"):
        registry.get("good")


def test_a_clash_is_a_problem_of_the_registry_and_both_can_be_had_by_id(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, one="{architectures: [A]}", two="{architectures: [A]}")
    assert [problem.code for problem in registry.problems] == ["TS402", "TS402"]
    assert (registry.get("one").id, registry.get("two").id) == ("one", "two")
    with pytest.raises(AmbiguousFamilyError, match="one, two"):
        registry.get("A")


def test_a_family_given_by_path_replaces_the_installed_one_of_its_id(tmp_path: Path) -> None:
    registry = load_registry([write(tmp_path, **{"cohere-north": "{architectures: [Mine]}"})])
    assert registry.problems == ()
    assert registry.get("Mine").id == "cohere-north"
    with pytest.raises(UnknownFamilyError):
        registry.get("Cohere2MoeForCausalLM")


def test_the_environment_names_files_and_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, **{name: f"{{architectures: [{name.title()}]}}"})
    before = default_registry()
    monkeypatch.setenv(
        "TAGSMITH_FAMILIES",
        os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two" / "two.yaml"), ""]),
    )
    assert tagsmith.get_family("One").id == "one"
    assert get_family("Two").id == "two"
    assert default_registry() is default_registry()
    monkeypatch.delenv("TAGSMITH_FAMILIES")
    assert default_registry() is before
    with pytest.raises(UnknownFamilyError):
        get_family("One")


def test_families_list_where_each_is_from_without_compiling(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, mine="{}")
    found = {family.spec.id: family for family in registry.families()}
    assert found["mine"].origin == "--families"
    assert found["mine"].source == str(tmp_path / "mine.yaml")
    assert found["cohere-north"].origin == "builtin"


def test_threads_that_ask_at_once_get_one_family(tmp_path: Path) -> None:
    registry = load_registry()
    barrier = threading.Barrier(8)
    got: list[Any] = []

    def ask() -> None:
        barrier.wait()
        got.append(registry.get("cohere-north"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len({id(family) for family in got}) == 1


def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = load_registry()
    names = ["cohere-command-a", "Cohere2ForCausalLM", VISION]
    about = Library.about
    looked_up: list[str] = []
    monkeypatch.setattr(
        Library, "about", lambda self, name: looked_up.append(name) or about(self, name)
    )
    for name in names * 3:
        registry.get(name, model="CohereLabs/command-a-vision-07-2025")
    assert looked_up == names


def test_a_path_that_no_system_has_is_told() -> None:
    [problem] = load_registry(["a\0b"]).problems
    assert "cannot be read" in str(problem)
