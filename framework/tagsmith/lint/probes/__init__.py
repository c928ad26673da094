"""Lint that tries a family out: its grammar, the preset it names, a model's tokenizer."""
