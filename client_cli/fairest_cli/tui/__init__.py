"""The full-screen client: screens that draw from the same model as the line-by-line client. Only commands open it."""

import os

# Textual draws at most this many frames a second and a key press waits for the next frame: at the default of 60, that
# is most of the time from the key to the card. Textual's timer stops while nothing changes, so an idle screen costs no
# more. Textual reads the variable when it is imported, so this stands before any import of it.
os.environ.setdefault("TEXTUAL_FPS", "240")
