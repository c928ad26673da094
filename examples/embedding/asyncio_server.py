"""A family in a plain asyncio server: Chat Completions over HTTP, streamed."""

import asyncio
import json
import re
import time
import uuid
from contextlib import aclosing

import tagsmith
from tagsmith.wire import DONE, sse_frame

HEAD = "HTTP/1.1 {}\r\nContent-Type: {}\r\nConnection: close\r\n\r\n"
REFUSED = HEAD.format("400 Bad Request", "application/json")


async def received(reader):
    """What a client asks. Of HTTP no more is read than a client of chat needs."""
    size = re.search(rb"(?i)\ncontent-length: *(\d+)", await reader.readuntil(b"\r\n\r\n"))
    try:
        return json.loads(await reader.readexactly(int(size[1]) if size else 0))
    except (ValueError, RecursionError):
        raise tagsmith.RequestError("body", "must be JSON, with a Content-Length") from None


async def answer(begin, engine, reader, writer):
    """`asyncio.start_server(partial(answer, partial(begin, family), engine), port=8000)`.

    `engine(prompt, tag, more)` is yours: an async generator of the text of each step, with why the
    output ended there, or None. It is closed when the answer ends, and when the client leaves.
    """
    try:
        asked = await received(reader)
        answering, leaving = asyncio.current_task(), asyncio.create_task(reader.read(1))
        leaving.add_done_callback(lambda _: answering.cancel())
        prompt, tag, parser, more = begin(asked)
        same = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time())}
        chunks, ended = tagsmith.ChatChunks(**same, model=more.get("model", "")), "stop"
        writer.write(HEAD.format("200 OK", "text/event-stream").encode())
        async with aclosing(engine(prompt, tag, more)) as output:
            async for text, reason in output:
                ended = reason or ended
                writer.write("".join(map(sse_frame, chunks.feed(parser.feed(text)))).encode())
                await writer.drain()
                if parser.stopped:  # one of the user's stop strings has come
                    break
        last = chunks.feed(parser.finish(ended)) + chunks.finish(ended)
        writer.write(("".join(map(sse_frame, last)) + DONE).encode())
    except tagsmith.RequestError as error:
        writer.write((REFUSED + json.dumps({"error": {"message": str(error)}})).encode())
    except (EOFError, asyncio.LimitOverrunError):
        pass  # No request: the client has left before its end, or its head has no end.
    finally:
        writer.close()
