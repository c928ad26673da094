"""Raw outputs at scale: JSONL or Parquet in, messages out, by worker processes.

`tagsmith batch` is this room's command, and `tagsmith.integrations.ray` runs the same reading of
rows beyond one machine. One module for each step: `rows` reads a row, `jsonl` and `parquet` the
files, `pool` shares the chunks out, `output` writes and remembers how far a run has come, `tally`
counts, and `run` puts them together.
"""
