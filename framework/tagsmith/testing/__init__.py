"""The test kit: what a family's author needs to test it, with any test runner.

>>> import tagsmith
>>> from tagsmith.testing import by_character, run
>>> family = tagsmith.get_family("cohere-command-a")
>>> run(family, by_character("<|START_RESPONSE|>Hi<|END_RESPONSE|>")).message.content
'Hi'
"""

from tagsmith.testing.case_files import CaseFileError, CaseProblem, load_cases
from tagsmith.testing.cases import Case, ExpectedCall, ExpectedCitation, case_file_schema_text
from tagsmith.testing.check import CaseFailure, check_case, find_failure
from tagsmith.testing.cutting import (
    all_cuttings,
    by_character,
    by_n_tokens,
    by_size,
    by_sizes,
    by_token,
    every_two_way,
    random_cuts,
    whole,
)
from tagsmith.testing.driver import Run, run, run_tokens
from tagsmith.testing.holding import LawFailure, find_broken
from tagsmith.testing.sampling import Sample, sample_texts
from tagsmith.testing.tokenizer import MockTokenizer

__all__ = [
    "Case",
    "CaseFailure",
    "CaseFileError",
    "CaseProblem",
    "ExpectedCall",
    "ExpectedCitation",
    "LawFailure",
    "MockTokenizer",
    "Run",
    "Sample",
    "all_cuttings",
    "by_character",
    "by_n_tokens",
    "by_size",
    "by_sizes",
    "by_token",
    "case_file_schema_text",
    "check_case",
    "every_two_way",
    "find_broken",
    "find_failure",
    "load_cases",
    "random_cuts",
    "run",
    "run_tokens",
    "sample_texts",
    "whole",
]
