"""`tagsmith batch` beyond one machine: its reading of rows, as a step of Ray Data.

```
dataset.map_batches(ParseOutputs(family="cohere-command-a"), batch_format="pyarrow")
```

The step holds nothing but its options; the families are loaded where the rows are read, so plug-ins
and family files have to be there, too.
"""

from __future__ import annotations

import json
import pickle
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tagsmith.batch.arrow import convert_table, load_pyarrow, read_table
from tagsmith.batch.chunks import BatchError
from tagsmith.batch.options import DIAGNOSTICS, ERROR, OnBadRow, RowOptions
from tagsmith.batch.tally import Problem, Tally
from tagsmith.errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from tagsmith.batch.rows import RowReader

__all__ = ["ParseOutputs", "report"]


class ParseOutputs:
    """Turns batches of raw outputs into batches of messages.

    Parameters: those of `tagsmith.batch.options.RowOptions`, such as `family`, `column` and `read`.
    A bad row has no message and an `error`; under `on_bad_row="stop"` it ends the run.

    Raises `RequestError` for an option that makes no sense, FamilyLookupError and FamilyFileError
    for a family that cannot be used, and `MissingDependencyError` where there is no pyarrow.
    """

    def __init__(self, **options: Any) -> None:
        load_pyarrow()
        self._options = pickle.dumps(RowOptions(**options))
        _reader(self._options)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Read a batch.

        Raises:
            RequestError: it is no Arrow table.
            BatchError: a row is bad, and that ends the run.
        """
        if not isinstance(batch, load_pyarrow().Table):
            found = type(batch).__name__
            raise RequestError("batch_format", f'got {found}; give batch_format="pyarrow"')
        reader = _reader(self._options)
        tally = Tally()
        table = convert_table(batch, read_table(batch, reader.options, 1), reader, 1, tally)
        if tally.bad and reader.options.on_bad_row is OnBadRow.STOP:
            problem = tally.problems[0]
            raise BatchError(f"{problem.code}: {problem.message}")
        return table


def report(dataset: Any) -> Tally:
    """Count what a parsed dataset holds: messages, bad rows, diagnostics.

    Bad rows are those with an `error`; their numbers say in what order they came.
    """
    tally = Tally()
    counted = dataset.select_columns([ERROR, DIAGNOSTICS])
    for batch in counted.iter_batches(batch_format="pyarrow"):
        columns = (batch.column(name).to_pylist() for name in (ERROR, DIAGNOSTICS))
        for error, codes in zip(*columns, strict=True):
            tally.rows += 1
            tally.count_diagnostics(codes)
            if error is not None:
                tally.count_bad(Problem(row=tally.rows, **json.loads(error)))
    return tally


@lru_cache(maxsize=8)
def _reader(options: bytes) -> RowReader:
    """The reader of a process: families are loaded once, however many batches there are."""
    from tagsmith.batch.rows import RowReader

    return RowReader(pickle.loads(options))
