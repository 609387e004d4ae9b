"""The full-screen face: screens over the same model that the plain face draws from. Only commands open it."""

import os

# Textual draws so often a second at most, and waits for its turn before it draws a key press: at its usual 60 that is
# most of the time from the key to the card. Its timer stands still while nothing changes: an idle screen costs no more.
os.environ.setdefault("TEXTUAL_FPS", "240")
