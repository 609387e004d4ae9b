"""Every setting of the server: a command-line option, or `FAIREST_...` in the environment, under one name."""

from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Serve Fairest: races of Calculation over WebSocket."""

    model_config = SettingsConfigDict(
        env_prefix="FAIREST_",
        cli_prog_name="fairest-server",
        cli_kebab_case=True,
        cli_hide_none_type=True,
        cli_avoid_json=True,
        cli_implicit_flags=True,
        extra="forbid",
    )

    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="Port to listen on; 0 takes any free one.")] = 8765
    workers: Annotated[int, Field(ge=1, le=64, description="Server processes on this port.")] = 1
    reuse_port: Annotated[
        bool, Field(description="Share the port with other processes that do the same; --workers does it by itself.")
    ] = False
    ends_with_input: Annotated[
        bool, Field(description="End when standard input does: a child that does not outlive whoever started it.")
    ] = False
    redis_url: Annotated[
        str | None,
        Field(description="redis://, rediss:// or unix:// of an external Redis; without it, an embedded one."),
    ] = None
    data_dir: Annotated[Path, Field(description="Folder of the embedded Redis.")] = user_data_path("fairest") / "redis"
    hello_seconds: Annotated[float, Field(gt=0, description="Time that a new connection has to say hello.")] = 10.0
    heartbeat_seconds: Annotated[
        float,
        Field(gt=0, description="A client is asked this often whether it is there, and has this long to answer."),
    ] = 10.0
    max_frame_bytes: Annotated[int, Field(ge=512, description="Largest frame accepted from a client.")] = 4096
