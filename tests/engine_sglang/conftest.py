"""SGLang on a machine without a GPU, Tagsmith loaded into it as a plug-in."""

import atexit
import os
from typing import Any


def hush() -> None:
    """What the bindings of GPU compilers tell of leaks of theirs, at the very end, is not ours."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def load_sglang() -> Any:
    """Import what SGLang imports, and have it load its plug-ins."""
    import torch

    # torchvision's compiled operators are for CUDA alone; what imports it asks for their shapes.
    operators = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

    from sglang.srt.plugins import load_plugins

    load_plugins()
    return operators


atexit.register(hush)
os.environ["HF_HUB_OFFLINE"] = "1"
OPERATORS = load_sglang()
