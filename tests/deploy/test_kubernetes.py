"""deploy/kubernetes.yaml holds to the schemas of Kubernetes, and to the server."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from fairest_server.app import STOP_SECONDS
from fairest_server.commands.environment import refuse_unknown_variables
from fairest_server.commands.main import operator
from tests.deploy.test_image import FINAL, instructions

MANIFEST = Path(__file__).parents[2] / "deploy" / "kubernetes.yaml"
SECRET, SERVICE, DEPLOYMENT = yaml.safe_load_all(MANIFEST.read_text())
POD: dict[str, Any] = DEPLOYMENT["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def test_the_manifest_fits_the_schemas_of_kubernetes() -> None:
    program = Path(sys.executable).with_name("kubernetes-validate")
    done = subprocess.run([program, "--strict", MANIFEST], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_service_and_the_deployment_name_the_same_pods() -> None:
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert SERVICE["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels


def test_the_variables_are_read_by_the_server() -> None:
    refuse_unknown_variables({each["name"]: "" for each in CONTAINER["env"]}, operator)


def test_a_secret_has_the_url_of_redis() -> None:
    (url,) = [each for each in CONTAINER["env"] if each["name"] == "FAIREST_REDIS_URL"]
    reference = url["valueFrom"]["secretKeyRef"]
    assert reference["name"] == SECRET["metadata"]["name"]
    assert reference["key"] in SECRET["stringData"]


def test_the_service_puts_no_variables_into_the_environment() -> None:
    """FAIREST_PORT=tcp://10.0.0.1:8765 would be a setting that makes no sense."""
    assert POD["enableServiceLinks"] is False


def test_the_user_is_that_of_the_image() -> None:
    (user,) = instructions(FINAL, "USER")
    assert f"{POD['securityContext']['runAsUser']}:{POD['securityContext']['runAsGroup']}" == user.rest


def test_a_pod_has_longer_to_end_than_the_server_takes() -> None:
    drained = int(CONTAINER["lifecycle"]["preStop"]["exec"]["command"][1])
    assert POD["terminationGracePeriodSeconds"] > drained + STOP_SECONDS
