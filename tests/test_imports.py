"""What is imported when: the core stays light, an absent library disables only what needs it."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("xgrammar", "torch", "transformers", "tokenizers", "vllm", "sglang", "rich"),
    *("starlette", "uvicorn", "httpx", "httpx2", "jinja2", "pyarrow", "ray"),
}
SHOW_HEAVY = f"import sys; print(sorted({HEAVY!r} & set(sys.modules)))"
RUN_COMMAND = """
from tagsmith.cli import main
try:
    main({arguments!r})
except SystemExit as end:
    assert not end.code, end.code
"""
BLOCK_MELODY = """
import importlib.metadata, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "cohere_melody":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
real_distribution = importlib.metadata.distribution
def distribution(name):
    if name.replace("_", "-") == "cohere-melody":
        raise importlib.metadata.PackageNotFoundError(name)
    return real_distribution(name)
importlib.metadata.distribution = distribution
"""


def python(code: str) -> str:
    """Run code in a new interpreter; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert python(f"import tagsmith\n{SHOW_HEAVY}").strip() == "[]"


@pytest.mark.parametrize("output_format", ["text", "json", "openai", "cohere"])
def test_parsing_on_the_command_line_imports_nothing_heavy(
    tmp_path: Path, output_format: str
) -> None:
    output = tmp_path / "output.txt"
    output.write_text("<|START_RESPONSE|>Hi<|END_RESPONSE|>", encoding="utf-8")
    arguments = ["parse", "--family", "cohere-command-a", "--format", output_format, str(output)]
    printed = python(RUN_COMMAND.format(arguments=arguments) + SHOW_HEAVY)
    assert "Hi" in printed
    assert printed.splitlines()[-1] == "[]"


def test_without_melody_families_load_and_the_native_engine_parses() -> None:
    code = """
import tagsmith
family = tagsmith.get_family("Cohere2ForCausalLM")
print(family.parse("<|START_RESPONSE|>Hi<|END_RESPONSE|>").content)
assert "cohere_melody" not in sys.modules
"""
    assert python(BLOCK_MELODY + code).strip() == "Hi"


def test_without_melody_its_engine_says_what_is_missing() -> None:
    code = """
import tagsmith
family = tagsmith.get_family("Cohere2ForCausalLM")
try:
    family.parse("Hi", engine="melody")
except tagsmith.MissingDependencyError as error:
    print(error)
"""
    said = python(BLOCK_MELODY + code)
    assert "cohere-melody" in said
    assert "0.15" in said
    assert "pip install" in said
