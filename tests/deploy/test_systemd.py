"""deploy/fairest.service is a unit that systemd accepts."""

import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from fairest_server.app import STOP_SECONDS

UNIT = Path(__file__).parents[2] / "deploy" / "fairest.service"
ANALYZE = shutil.which("systemd-analyze")


@pytest.mark.skipif(ANALYZE is None, reason="there is no systemd-analyze here (Debian: apt install systemd)")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    # The program is looked for: it stands elsewhere on the machine of the tests.
    (tmp_path / UNIT.name).write_text(UNIT.read_text().replace("/opt/fairest/bin/fairest-server", "/bin/true"))
    command = [str(ANALYZE), "verify", "--man=no", str(tmp_path / UNIT.name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_server_has_longer_to_stop_than_it_takes() -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(UNIT)
    assert unit.getint("Service", "TimeoutStopSec") > STOP_SECONDS
