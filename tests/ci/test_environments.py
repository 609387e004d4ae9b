"""The wheel that is built from this checkout."""

import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

import environments

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*command, str(environments.ROOT)], check=True, timeout=280)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    environments.check_wheel(wheel)


def test_the_wheel_holds_scripts_styles_and_the_marks_of_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("fairest_server/store/lua/append.lua", "fairest_cli/tui/fairest.tcss", "fairest_protocol/py.typed"):
        assert name in names


def test_a_wheel_that_lacks_a_file_is_refused_with_its_name(wheel: Path, tmp_path: Path) -> None:
    torn = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(torn, "w") as copy:
        for name in whole.namelist():
            if not name.endswith("append.lua"):
                copy.writestr(name, whole.read(name))
    with pytest.raises(environments.Failed, match=r"append\.lua"):
        environments.check_wheel(torn)


def test_the_metadata_name_the_authors_and_neither_licence_nor_urls(metadata: Message) -> None:
    assert metadata["Author"] == "The Fairest developers"
    assert metadata["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert not {"License", "License-Expression", "Project-URL", "Home-page"} & set(metadata.keys())


def test_the_install_has_no_extras(metadata: Message) -> None:
    assert metadata.get_all("Provides-Extra") is None
