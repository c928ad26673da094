"""The test kit: what a family's author needs to test it, with any test runner.

>>> import tagsmith
>>> from tagsmith.testing import by_character, run
>>> family = tagsmith.get_family("cohere-command-a")
>>> run(family, by_character("<|START_RESPONSE|>Hi<|END_RESPONSE|>")).message.content
'Hi'
"""

from tagsmith.testing.cases import (
    Case,
    CaseFileError,
    ExpectedCall,
    ExpectedCitation,
    case_file_schema_text,
    load_cases,
)
from tagsmith.testing.check import check_case
from tagsmith.testing.cutting import (
    all_cuttings,
    by_character,
    by_n_tokens,
    by_size,
    by_token,
    every_two_way,
    random_cuts,
    whole,
)
from tagsmith.testing.driver import Run, run, run_tokens
from tagsmith.testing.sampling import Sample, sample_texts
from tagsmith.testing.tokenizer import MockTokenizer

__all__ = [
    "Case",
    "CaseFileError",
    "ExpectedCall",
    "ExpectedCitation",
    "MockTokenizer",
    "Run",
    "Sample",
    "all_cuttings",
    "by_character",
    "by_n_tokens",
    "by_size",
    "by_token",
    "case_file_schema_text",
    "check_case",
    "every_two_way",
    "load_cases",
    "random_cuts",
    "run",
    "run_tokens",
    "sample_texts",
    "whole",
]
