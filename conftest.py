"""What holds for every test: a user's own Tagsmith settings do not reach them."""

import os

for name in [name for name in os.environ if name.startswith("TAGSMITH_")]:
    del os.environ[name]
