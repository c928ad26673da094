"""From a request to the prompt: by the vendor's renderer, or by a chat template.

>>> import tagsmith
>>> from tagsmith.render import read_body
>>> body = {"messages": [{"role": "user", "content": "Hi"}], "temperature": 0.3}
>>> tagsmith.get_family("cohere-north").render(**read_body(body))[-73:]
'<|END_TEXT|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>'
"""

from tagsmith.render.conversation import read_conversation
from tagsmith.render.options import MarkerPolicy, SafetyMode, Switch
from tagsmith.render.prompt import render_prompt, render_turn
from tagsmith.render.request import read_body

__all__ = [
    "MarkerPolicy",
    "SafetyMode",
    "Switch",
    "read_body",
    "read_conversation",
    "render_prompt",
    "render_turn",
]
