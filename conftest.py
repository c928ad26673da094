"""What holds for every test: a user's own Tagsmith settings do not reach them."""

import gc
import os

for name in [name for name in os.environ if name.startswith("TAGSMITH_")]:
    del os.environ[name]


def pytest_collection_finish() -> None:
    """What thousands of collected tests hold need not be looked through at each collection."""
    gc.collect()
    gc.freeze()
