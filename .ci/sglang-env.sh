#!/usr/bin/env bash
# Makes .venv-sglang: SGLang without its kernels, to run the adapter's tests in. What is installed is
# what its parsers, request models and HTTP handlers import, in the versions that SGLang asks for.
# Made once: anew when this file changes, and Tagsmith is installed again when pyproject.toml does.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-sglang
made=$(sha256sum .ci/sglang-env.sh)
installed=$(sha256sum pyproject.toml)
# Modules are compiled when they are imported, which few of them are. That the rest of SGLang would
# need more is no news.
pip_install() {
    "$venv/bin/python" -m pip install -qq --no-compile --disable-pip-version-check "$@" \
        2> >(grep -v "^sglang 0.5.23 requires\|^ERROR: pip's dependency resolver" >&2)
}

if [[ $(cat $venv/.made 2>/dev/null) != "$made" ]]; then
    rm -rf $venv
    "${PYTHON:-python3}" -m venv $venv
    pip_install torch==2.13.0
    pip_install --no-deps sglang==0.5.23 xgrammar==0.2.7 apache-tvm-ffi==0.1.11 torchvision==0.28.0
    pip_install aiohttp compressed-tensors==0.18.0 dill distro einops fastapi gguf httpx ipython \
        jsonschema msgspec numpy openai==2.8.0 openai-harmony==0.0.4 orjson packaging \
        partial-json-parser pillow prometheus-client psutil pybase64 pydantic python-multipart \
        pyzmq regex requests sentencepiece==0.2.1 setproctitle soundfile==0.13.1 \
        tokenizers==0.23.2 transformers==5.19.0 triton uvicorn uvloop pytest
    echo "$made" >$venv/.made
fi
if [[ $(cat $venv/.installed 2>/dev/null) != "$installed" ]]; then
    pip_install --editable .
    echo "$installed" >$venv/.installed
fi
