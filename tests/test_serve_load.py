"""Many clients, an upstream that fails in every way, and one that is killed: nothing mixes, and
every place is given back."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

import tagsmith
from fake_upstream import (
    DONE,
    FOREVER,
    Reply,
    counted,
    fake_upstream,
    frame,
    piece,
    running,
    settings_for,
    until,
)
from tagsmith.serve import create_app

pytestmark = pytest.mark.heavy

FAMILY = tagsmith.get_family("cohere-command-a")
PATHS = ("/v1/chat/completions", "/v2/chat")
TEMPLATE = "{{ messages[0].content }}<|CHATBOT_TOKEN|>"
CLIENTS = 500
WORDS = 12


def request(word: str, stream: bool = True) -> dict[str, Any]:
    return {"model": "m", "stream": stream, "messages": [{"role": "user", "content": word}]}


def speaking(body: dict[str, Any]) -> Reply:
    """Says the user's own word again and again, slowly."""
    word = body["prompt"].partition("<|")[0]
    steps: list[bytes | float] = [piece("<|START_THINKING|>" + word), 0.01]
    steps.append(piece("<|END_THINKING|><|START_RESPONSE|>"))
    for number in range(WORDS):
        steps += [piece(f"{word}.{number};"), 0.01]
    return Reply([*steps, piece("", finish="stop"), DONE])


def heard(stream: str) -> tuple[str, str]:
    """Reasoning and content of a stream of either API."""
    *frames, done, rest = stream.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    texts = {"thinking": "", "text": ""}
    for value in (json.loads(data.removeprefix("data: ")) for data in frames):
        if "choices" in value:
            delta = value["choices"][0]["delta"]
            texts["thinking"] += delta.get("reasoning_content", "")
            texts["text"] += delta.get("content", "")
        elif value["type"] == "content-delta":
            for kind, text in value["delta"]["message"]["content"].items():
                texts[kind] += text
    return texts["thinking"], texts["text"]


def places(url: str) -> int:
    taken: int = httpx2.get(f"{url}/health").json()["generations"]
    return taken


def test_hundreds_of_streams_do_not_mix() -> None:
    async def ask(client: httpx2.AsyncClient, url: str, number: int) -> None:
        word = f"w{number}"
        answer = await client.post(url + PATHS[number % 2], json=request(word))
        assert answer.status_code == 200, answer.text
        said = "".join(f"{word}.{count};" for count in range(WORDS))
        assert heard(answer.text) == (word, said)

    async def ask_all(url: str) -> None:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(timeout=60, limits=limits) as client:
            await asyncio.gather(*(ask(client, url, number) for number in range(CLIENTS)))

    with fake_upstream() as upstream:
        upstream.reply = speaking
        settings = settings_for(
            FAMILY,
            upstream.url,
            chat_template=TEMPLATE,
            max_generations=CLIENTS,
            connect_timeout=30,
        )
        with running(create_app(settings)) as url:
            asyncio.run(ask_all(url))
            until(lambda: places(url) == 0)
        until(lambda: upstream.open == 0)


WHOLE = b"".join(
    [
        piece("<|START_RESPONSE|>Hi"),
        piece(" there", usage=counted(2, 2)),
        piece("", finish="stop"),
        DONE,
    ]
)


def test_a_stream_that_is_cut_at_any_byte() -> None:
    """Whole or broken off, it ends with an error or the end of its API, and at once."""
    outcomes: Counter[str] = Counter()
    raw = WHOLE.replace(b"there", "né 😀".encode())
    with fake_upstream() as upstream:
        app = create_app(settings_for(FAMILY, upstream.url))
        with running(app) as url, httpx2.Client(timeout=5) as client:
            for cut in range(0, len(raw) + 1, 2):
                upstream.reply = lambda _, cut=cut: Reply([raw[:cut]], whole=cut % 4 == 0)
                for path in PATHS:
                    answer = client.post(url + path, json=request("q"))
                    if answer.status_code == 502:
                        outcomes["refused"] += 1
                    elif "rror" in answer.text or "ERROR" in answer.text:
                        outcomes["broken off"] += 1
                        assert answer.text.endswith("[DONE]\n\n") == (path == "/v2/chat")
                    else:
                        outcomes["whole"] += 1
                        assert heard(answer.text)[1] == "Hi né 😀"
            until(lambda: places(url) == 0)
    assert {"refused", "broken off", "whole"} == set(outcomes)


def failing(chance: random.Random) -> Reply:
    cut = WHOLE[: chance.randrange(len(WHOLE))]
    return chance.choice(
        [
            Reply([WHOLE]),
            Reply([cut]),
            Reply([cut], whole=False),
            Reply([cut, FOREVER]),
            Reply([cut, 0.05, b"data: {]\n\n"]),
            Reply([cut, 0.05, frame({"error": "lost"})]),
            Reply([WHOLE.replace(b'"index": 0', b'"index": 7')]),
            Reply([b"{}"], chance.choice([400, 429, 500, 503])),
        ]
    )


def test_every_place_is_given_back_whatever_happens(caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(5)
    impatient = {"stall_timeout": 0.3, "first_token_timeout": 0.3, "generation_timeout": 1.0}
    seen: Counter[str] = Counter()

    def ask(number: int) -> None:
        own = random.Random(number)
        body = request("q", own.random() < 0.6)
        patience = 10 if own.random() < 0.6 else own.uniform(0.001, 0.1)
        try:
            answer = client.post(url + own.choice(PATHS), json=body, timeout=patience)
        except httpx2.TimeoutException:
            seen["left"] += 1
        else:
            seen[str(answer.status_code)] += 1

    with fake_upstream() as upstream, caplog.at_level(logging.WARNING):
        upstream.reply = lambda _: failing(chance)
        settings = settings_for(FAMILY, upstream.url, max_generations=8, **impatient)
        with running(create_app(settings)) as url:
            with httpx2.Client() as client, ThreadPoolExecutor(8) as pool:
                list(pool.map(ask, range(200)))
            until(lambda: places(url) == 0)
        until(lambda: upstream.open == 0)
    assert seen["left"] > 20
    assert {"200", "400", "502", "504"} <= set(seen)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_an_upstream_that_is_killed_and_comes_back() -> None:
    """Its clients get the error of their API, and answers again once it is there again."""
    seen: Counter[tuple[str, str]] = Counter()
    phases = ["before"]
    with fake_upstream() as taken:
        port = int(taken.url.rpartition(":")[2])

    def ask(number: int) -> None:
        with httpx2.Client(timeout=20) as client:
            while phases[-1] != "end":
                answer = client.post(url + PATHS[number % 2], json=request("w"))
                if answer.status_code == 200 and "rror" not in answer.text:
                    assert heard(answer.text)[0] == "w"
                    seen[phases[-1], "answered"] += 1
                else:
                    assert answer.status_code in (200, 502)
                    assert "upstream: " in answer.text
                    seen[phases[-1], "told"] += 1
                    time.sleep(0.05)

    settings = settings_for(FAMILY, f"http://127.0.0.1:{port}", chat_template=TEMPLATE)
    with running(create_app(settings)) as url, ThreadPoolExecutor(8) as pool:
        try:
            with fake_upstream(port) as upstream:
                upstream.reply = speaking
                asking = [pool.submit(ask, number) for number in range(8)]
                until(lambda: seen["before", "answered"] > 20, 60)
            phases.append("without")
            until(lambda: seen["without", "told"] > 20, 60)
            with fake_upstream(port) as upstream:
                upstream.reply = speaking
                phases.append("after")
                until(lambda: seen["after", "answered"] > 20, 60)
                phases.append("end")
                for one in asking:
                    one.result()
        finally:
            phases.append("end")
        until(lambda: places(url) == 0)
