"""Recorded outputs to messages: `python recorded_logs.py < outputs.jsonl > messages.jsonl`."""

import json
import sys
from collections import Counter

import tagsmith
from tagsmith.events import event_to_dict

KEPT = ("finish_reason", "prompt", "messages", "tools", "documents")


def read(lines, counts):
    """What each line of a log says: its `model`, its raw `output`, and as much as was kept of the
    request. `counts` takes the diagnostics of all, by code."""
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            family = tagsmith.get_family(record["model"])
            kept = {key: record[key] for key in KEPT if key in record}
            message = family.parse(record["output"], **kept)
        except (ValueError, TypeError, LookupError) as error:
            counts["no record"] += 1
            yield {"line": number, "error": str(error)}
            continue
        counts.update(diagnostic.code.value for diagnostic in message.diagnostics)
        yield {
            "line": number,
            "message": message.to_openai(),
            "finish_reason": message.finish_reason,
            "diagnostics": [event_to_dict(found) for found in message.diagnostics],
        }


if __name__ == "__main__":
    found = Counter()
    for answer in read(sys.stdin, found):
        print(json.dumps(answer))
    print(json.dumps(found), file=sys.stderr)
