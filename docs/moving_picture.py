"""Screenshots of one terminal as a moving picture: an SVG that shows one after the other, without a script.

Most of a screen stays the same from one screenshot to the next, so each element is written once, with the times at
which it is shown.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_STYLE: Final = re.compile(r"\.terminal-1-(r\d+) \{ (.*?) \}")
_ELEMENT: Final = re.compile(r"<rect fill=[^>]*shape-rendering=[^>]*/>|<text class=\"terminal-1-r\d+\".*?</text>")
_SCREEN: Final = re.compile(
    r"(<g transform=\"[^\"]*\" clip-path=\"url\(#terminal-1-clip-terminal\)\">).*?(?=\s*</svg>)", re.DOTALL
)
_LINE_CLIP: Final = re.compile(r' clip-path="url\(#terminal-1-line-\d+\)"')
"""Rich cuts each text at its line, out of which no text of fixed length reaches: 36 bytes that are left out."""
_EMPTY: Final = re.compile(r'width="0"|<text [^>]*>(&#160;)*</text>')


def join_screenshots(shots: Sequence[str], frame_seconds: float, last_seconds: float) -> str:
    """Return one SVG that shows each of `shots` for `frame_seconds`, the last for `last_seconds`, again and again.

    A viewer without animations shows the last screenshot. Raises ValueError for SVGs that Rich 15 does not write.
    """
    styles: dict[str, str] = {}
    shown: dict[str, list[int]] = {}
    for number, shot in enumerate(shots):
        names = {name: styles.setdefault(rule, f"m{len(styles)}") for name, rule in _STYLE.findall(shot)}
        elements = [_LINE_CLIP.sub("", each) for each in _ELEMENT.findall(shot) if not _EMPTY.search(each)]
        if not names or not elements:
            raise ValueError("a screenshot is not in the form that Rich 15 writes")
        for element in elements:
            style = re.search(r"terminal-1-(r\d+)\"", element)
            named = element.replace(style[0], f'{names[style[1]]}"') if style else element
            frames = shown.setdefault(named, [])
            if number not in frames:
                frames.append(number)
    total = frame_seconds * (len(shots) - 1) + last_seconds
    groups: dict[tuple[int, ...], list[str]] = {}
    # Backgrounds stand below texts, as in each screenshot.
    for element in sorted(shown, key=lambda each: each.startswith("<text")):
        groups.setdefault((element.startswith("<text"), *shown[element]), []).append(element)
    body = "\n".join(
        _group(elements, frames[1:], len(shots), frame_seconds, total)
        for frames, elements in sorted(groups.items(), key=lambda each: each[0][0])
    )
    rules = "\n".join(f".{name} {{ {rule} }}" for rule, name in styles.items())
    first = _STYLE.sub("", shots[-1]).replace("</style>", f"{rules}\n    </style>", 1)
    moving, count = _SCREEN.subn(lambda found: f"{found[1]}\n{body}\n</g>\n", first)
    if count != 1:
        raise ValueError("a screenshot is not in the form that Rich 15 writes")
    return re.sub(r"\n\s*\n+", "\n", moving)


def _group(elements: Sequence[str], frames: Sequence[int], count: int, frame_seconds: float, total: float) -> str:
    """Return the elements that are shown in just these frames."""
    text = "".join(elements)
    if len(frames) == count:
        return text
    states = [number in frames for number in range(count)]
    changes = [0, *(number + 1 for number, (was, now) in enumerate(pairwise(states)) if was != now)]
    values = ";".join("visible" if states[number] else "hidden" for number in changes)
    times = ";".join(f"{number * frame_seconds / total:.4g}" for number in changes)
    default = "visible" if states[-1] else "hidden"
    return (
        f'<g visibility="{default}"><animate attributeName="visibility" calcMode="discrete" dur="{total:g}s" '
        f'repeatCount="indefinite" values="{values}" keyTimes="{times}"/>{text}</g>'
    )
