#!/usr/bin/env bash
# The main job on two real outputs of Command A: the raw output, its events as they stream, and the
# message. `make demo` runs it; so does `bash examples/demo.sh` where `tagsmith` is installed.
set -euo pipefail
cd "$(dirname "$0")/data"

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

show cat calls.txt
echo
show tagsmith parse --family Cohere2ForCausalLM --tools tools.json --stream 24 calls.txt
show cat answer.txt
echo
show tagsmith parse --family Cohere2ForCausalLM --messages messages.json --stream 24 answer.txt
