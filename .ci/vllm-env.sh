#!/usr/bin/env bash
# Makes .venv-vllm: vLLM's own parser layer, without its kernels, to run the adapter's tests in.
# Made once: anew when this file changes, and Tagsmith is installed again when pyproject.toml does.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-vllm
made=$(sha256sum .ci/vllm-env.sh)
installed=$(sha256sum pyproject.toml)
pip_install() { "$venv/bin/python" -m pip install -qq --disable-pip-version-check "$@"; }

if [[ $(cat $venv/.made 2>/dev/null) != "$made" ]]; then
    rm -rf $venv
    "${PYTHON:-python3}" -m venv $venv
    pip_install torch==2.13.0
    pip_install numpy packaging regex requests psutil cbor2 pyzmq cachetools pybase64 py-cpuinfo \
        cloudpickle msgspec partial-json-parser prometheus_client pillow aiohttp uvloop pydantic \
        'fastapi>=0.133,<0.137' openai oss-harmony 'transformers>=5.16.1,<5.21' cohere-melody \
        apache-tvm-ffi==0.1.11 ijson mistral_common 'llguidance>=1.7,<1.8' orjson \
        lm-format-enforcer==0.11.3 'setuptools>=77.0.3,<81' setuptools-scm setuptools-rust wheel \
        pytest pytest-xdist hypothesis cohere
    pip_install --no-deps xgrammar==0.2.8
    # Only what the system brings is on its path: a Rust compiler there would build a frontend.
    VLLM_TARGET_DEVICE=empty VLLM_VERSION_OVERRIDE=0.33.0 PATH=/usr/bin:/bin \
        pip_install --no-deps --no-build-isolation --no-binary vllm vllm==0.33.0
    echo "$made" >$venv/.made
fi
if [[ $(cat $venv/.installed 2>/dev/null) != "$installed" ]]; then
    pip_install --editable .
    echo "$installed" >$venv/.installed
fi
