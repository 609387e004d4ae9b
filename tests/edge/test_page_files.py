"""The web page over HTTP: its files, how long a browser may keep them, and what it may not do with them."""

import base64
import gzip
import hashlib
import json
import re
from importlib import resources

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from fairest_server.edge.http_pages import PageRequest
from fairest_server.edge.joined_modules import join_modules
from fairest_server.edge.page_files import page_files
from tests.support.limited import Limited
from tests.support.raw_http import Answer, ask

MOST_BYTES = 150_000
"""Goal for the whole page, compressed."""


def file_paths(index: Answer) -> list[str]:
    """Return the paths that the markup of the page names."""
    return re.findall(r'(?:src|href)="(/page/[^"]+)"', index.body.decode())


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/tv",
        "/practice",
        "/r/quiet-amber-otter",
        "/r/quiet-amber-otter?join",
        "/r/",
        "/m?player=ann",
        "/me",
        "/ratings?rules=senior",
        "/p/ann",
    ],
)
async def test_each_path_of_the_page_answers_with_its_markup(limited: Limited, path: str) -> None:
    async with limited() as url:
        answer = await ask(url, path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>Fairest</title>" in answer.body


async def test_the_markup_forbids_what_the_page_does_not_need(limited: Limited) -> None:
    async with limited() as url:
        policy = (await ask(url, "/")).headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(("element", "directive"), [("script", "script-src"), ("style", "style-src")])
async def test_the_policy_names_the_hash_of_what_stands_in_the_markup(
    limited: Limited, element: str, directive: str
) -> None:
    async with limited() as url:
        answer = await ask(url, "/")
    [content] = re.findall(f"<{element}>(.*?)</{element}>", answer.body.decode(), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    assert f"{directive} 'self' 'sha256-{digest}';" in answer.headers["Content-Security-Policy"]


def test_a_view_cannot_end_the_element_that_holds_it() -> None:
    view = json.dumps({"name": "</script><script>alert(1)</script><!--"})
    page = page_files().index(PageRequest("", "", {}), view=view)
    [held] = re.findall('<script type="application/json" id="first-view">(.*?)</script>', page.body.decode())
    assert json.loads(held) == json.loads(view)


async def test_no_module_is_sent_twice(limited: Limited) -> None:
    async with limited() as url:
        index = await ask(url, "/")
        [joined] = [path for path in file_paths(index) if path.endswith("joined.js")]
        scripts = index.body + (await ask(url, joined)).body
    modules = re.findall(rb"^const \$(\w+) = ", scripts, re.MULTILINE)
    assert len(modules) > 40
    assert sorted(set(modules)) == sorted(modules)


async def test_each_file_that_the_markup_names_may_be_kept_for_ever(limited: Limited) -> None:
    async with limited() as url:
        paths = file_paths(await ask(url, "/"))
        answers = [await ask(url, path) for path in paths]
    assert len(paths) == 2
    assert {(answer.status, answer.headers["Cache-Control"]) for answer in answers} == {
        (200, "public, max-age=31536000, immutable")
    }


async def test_the_markup_itself_is_asked_for_anew(limited: Limited) -> None:
    async with limited() as url:
        assert (await ask(url, "/")).headers["Cache-Control"] == "no-cache"


async def test_a_file_is_compressed_for_a_client_that_can_read_it(limited: Limited) -> None:
    async with limited() as url:
        plain, packed = await ask(url, "/"), await ask(url, "/", "Accept-Encoding: br, gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body


async def test_a_file_of_another_version_is_not_found(limited: Limited) -> None:
    async with limited() as url:
        base = file_paths(await ask(url, "/"))[0].rpartition("/")[0]
        assert (await ask(url, f"{base}/nothing.js")).status == 404
        assert (await ask(url, f"{base}/..%2f..%2fsettings.py")).status == 404


@pytest.mark.parametrize("path", ["/", "/r/quiet-amber-otter"])
async def test_a_request_for_a_websocket_gets_one_also_at_a_path_of_the_page(limited: Limited, path: str) -> None:
    async with limited() as url, connect(url + path, subprotocols=[Subprotocol("fairest.v1")]) as socket:
        assert socket.subprotocol == "fairest.v1"


async def test_the_page_is_not_shown_under_a_host_that_is_not_the_servers(limited: Limited) -> None:
    async with limited(own_hosts="play.example") as url:
        assert (await ask(url, "/", host="evil.example")).status == 403
        assert (await ask(url, "/", host="play.example")).status == 200


def test_all_that_a_browser_may_load_is_small() -> None:
    sources = {file.name: file.read_text() for file in (resources.files("fairest_server") / "page").iterdir()}
    modules = {name.removesuffix(".js"): text for name, text in sources.items() if name.endswith(".js")}
    worker, waiting = set[str](), {"analysis_worker"}
    while waiting:
        worker |= waiting
        waiting = {found for name in waiting for found in re.findall(r'from "\./(\w+)\.js"', modules[name])} - worker
    others = [text for name, text in sources.items() if not name.endswith(".js")]
    loaded = [join_modules(modules, "app"), *(modules[name] for name in worker), *others]
    assert sum(len(gzip.compress(text.encode())) for text in loaded) <= MOST_BYTES
