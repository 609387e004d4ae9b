"""Messages put together from frames. How large a message may become, the library's parser has checked by then."""

import codecs
from typing import Final

from websockets.frames import Frame, Opcode

_DECODER: Final = codecs.getincrementaldecoder("utf-8")


class Fragments:
    """The message that is under way on a connection: its fragments so far, none between two messages."""

    __slots__ = ("_binary", "_decoder", "_text")

    def __init__(self) -> None:
        self._text = ""
        self._binary = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        """Decodes the fragments of a text. None in a binary message, and between messages."""

    def add(self, frame: Frame) -> str | bytes | None:
        """Take the next text, binary or continuation frame; return the message that it completes.

        The frames come in a valid order: the parser has checked that. Raises UnicodeDecodeError at the first fragment
        that makes a text invalid.
        """
        if frame.opcode is Opcode.TEXT:
            if frame.fin:
                return str(frame.data, "utf-8")
            self._decoder = _DECODER()
        if self._decoder is None:
            self._binary += frame.data
            if not frame.fin:
                return None
            binary, self._binary = self._binary, b""
            return binary
        self._text += self._decoder.decode(frame.data, frame.fin)
        if not frame.fin:
            return None
        text, self._text, self._decoder = self._text, "", None
        return text
