"""A logger for LiteLLM: in the raw text of completions, it counts what was not as a family says."""

from collections import Counter

from litellm.integrations.custom_logger import CustomLogger


class Diagnostics(CustomLogger):
    """`litellm.callbacks = [Diagnostics(family)]`; `counts` has a count for each model, by code."""

    def __init__(self, family):
        super().__init__()
        self.family, self.counts = family, {}

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        if kwargs.get("call_type") not in ("text_completion", "atext_completion"):
            return
        counts = self.counts.setdefault(kwargs["model"], Counter())
        prompt = kwargs["messages"][0]["content"]
        for choice in response_obj.choices:  # LiteLLM puts a stream together as a chat message
            text = choice.text if hasattr(choice, "text") else choice.message.content
            message = self.family.parse(text, prompt=prompt, finish_reason=choice.finish_reason)
            counts["outputs"] += 1
            counts.update(diagnostic.code.value for diagnostic in message.diagnostics)
