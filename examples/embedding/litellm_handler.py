"""LiteLLM in front of a server of raw completions, such as vLLM's `/v1/completions`."""

import json
import time
import uuid

import litellm
import openai

import tagsmith
from tagsmith.wire import Usage, chat_completion, usage_chunk

FIXED = {
    "skip_special_tokens": False,
    "stream_options": {"include_usage": True, "continuous_usage_stats": True},
}


class RawCompletions(litellm.CustomLLM):
    """`begin` is that of begin.py for a family: `partial(begin, family)`."""

    def __init__(self, begin):
        self.begin = begin

    async def run(self, model, messages, optional_params, api_base, api_key, timeout, **_):
        try:
            prompt, tag, parser, more = self.begin({**optional_params, "messages": messages})
        except tagsmith.RequestError as error:
            raise litellm.BadRequestError(str(error), model, "tagsmith") from error
        more |= {**FIXED, "structured_outputs": {"structural_tag": json.dumps(tag)}}
        same = {"id": f"chatcmpl-{uuid.uuid4().hex}", "model": model, "created": int(time.time())}
        chunks, ended, used = tagsmith.ChatChunks(**same), "stop", Usage(0, 0)
        client = openai.AsyncOpenAI(base_url=api_base, api_key=api_key or "-", timeout=timeout)
        ask = client.completions.create(model=model, prompt=prompt, stream=True, extra_body=more)
        async with client, await ask as steps:
            async for step in steps:
                for choice in step.choices:
                    ended = choice.finish_reason or ended
                    yield chunks.feed(parser.feed(choice.text)), None
                if step.usage:
                    used = Usage(step.usage.prompt_tokens, step.usage.completion_tokens)
                if parser.stopped:  # one of the user's stop strings has come
                    break
        last = [*chunks.feed(parser.finish(ended)), usage_chunk(**same, usage=used)]
        whole = chat_completion([parser.message], **same, usage=used)
        yield last + chunks.finish(ended), litellm.ModelResponse(**whole)

    def astreaming(self, **asked):
        told, made = self.run(**asked), litellm.ModelResponseStream
        return (made(**chunk) async for chunks, _ in told for chunk in chunks)

    async def acompletion(self, **asked):
        return [whole async for _, whole in self.run(**asked)][-1]
