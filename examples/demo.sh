#!/usr/bin/env bash
# The main job on two real outputs of Command A: events as they stream, then the message.
# Run it with `make demo`, or from anywhere once `tagsmith` is installed.
set -euo pipefail
data="$(cd "$(dirname "$0")" && pwd)/data"

show() {
    printf '\n\033[1m$ %s\033[0m\n' "$*" | sed "s|$data/||g"
    "$@"
}

show tagsmith parse --family Cohere2ForCausalLM --tools "$data/tools.json" --stream 24 "$data/calls.txt"
show tagsmith parse --family Cohere2ForCausalLM --messages "$data/messages.json" --stream 24 "$data/answer.txt"
show tagsmith parse --family Cohere2ForCausalLM --messages "$data/messages.json" --format cohere "$data/answer.txt"
