"""What is held against vLLM itself; collected only where vLLM is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from vllm_server import Server


@pytest.fixture(scope="session")
def make_server(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Server]:
    """Start a server of a family's model."""
    from vllm_server import Server

    return lambda family, **options: Server(tmp_path_factory.mktemp(family), family, **options)


@pytest.fixture(scope="session", params=[1, 4], ids=["by-token", "by-four"])
def qwen(make_server: Callable[..., Server], request: pytest.FixtureRequest) -> Server:
    """A model that may think, and calls by a template."""
    return make_server("qwen3.5", turn="<|im_start|>assistant\n", tokens_a_step=request.param)


@pytest.fixture(scope="session")
def command(make_server: Callable[..., Server]) -> Server:
    """A model that cites, and gives its calls ids."""
    return make_server("cohere-command-a", turn="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>")
