"""What holds for every test: a user's own Tagsmith settings do not reach them, and what is for a
serving engine is read where that engine is."""

import gc
import os
from importlib.util import find_spec

_FOR_ENGINES = {
    "vllm": ["framework/tagsmith/integrations/vllm", "tests/engine_vllm"],
    "sglang": ["framework/tagsmith/integrations/sglang", "tests/engine_sglang"],
}
collect_ignore = [
    path for engine, paths in _FOR_ENGINES.items() if not find_spec(engine) for path in paths
]

for name in [name for name in os.environ if name.startswith("TAGSMITH_")]:
    del os.environ[name]


def pytest_collection_finish() -> None:
    """What thousands of collected tests hold need not be looked through at each collection."""
    gc.collect()
    gc.freeze()
