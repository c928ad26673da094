"""What every server does with a request of Chat Completions."""

import tagsmith

HELD = ("tools", "tool_choice", "response_format", "parallel_tool_calls")
READ = ("messages", "tools", "tool_choice", "documents", "stop")


def begin(family, asked, **template):
    """The prompt, the structural tag that holds the model, the parser of its output, and the rest
    of the request, such as `max_tokens`, which is the engine's.

    `template` is for a family that cannot render by itself: `chat_template`, `special_tokens`.
    """

    def take(*keys):
        return {key: asked.get(key) for key in keys}

    if not isinstance(asked, dict):
        raise tagsmith.RequestError("body", "must be an object")
    if asked.get("n") not in (None, 1):
        raise tagsmith.RequestError("n", "one choice at a time")
    prompt = family.render(**take("messages", "tools", "documents", "response_format"), **template)
    mode = family.reasoning_mode(prompt)
    tag = family.structural_tag(**take(*HELD), reasoning=mode)
    parser = family.parser(prompt=prompt, **take(*READ))
    return prompt, tag, parser, {key: asked[key] for key in asked.keys() - {*HELD, *READ}}
