# The server in an image. From the outside it needs a volume for /data, and nothing else: the root file system may be
# read-only (docs/operations.md). Only the first stage has pip, and neither needs a compiler.
FROM python:3.13-slim AS build
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# Versions and hashes are those of `make lock`. Dependencies come first: their layer stays when only our code changes.
COPY deploy/server.lock deploy/build.lock deploy/
RUN python -m venv --without-pip /opt/fairest \
    && python -m pip install --require-hashes -r deploy/build.lock \
    && python -m pip --python /opt/fairest/bin/python install --only-binary :all: --require-hashes -r deploy/server.lock
COPY pyproject.toml README.md ./
COPY protocol protocol
COPY server server
COPY client_cli client_cli
RUN python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
    && python -m pip --python /opt/fairest/bin/python install --no-deps --no-index dist/*.whl

FROM python:3.13-slim
LABEL org.opencontainers.image.title="Fairest" \
      org.opencontainers.image.description="Server for races of the solitaire Calculation on identical, sealed deals"
COPY --from=build /opt/fairest /opt/fairest
# The folder of the embedded engine. A named volume that is mounted there takes over its owner.
RUN install -d -o 10001 -g 10001 -m 0700 /data
ENV PATH=/opt/fairest/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    FAIREST_HOST=0.0.0.0 \
    FAIREST_DATA_DIR=/data
USER 10001:10001
VOLUME /data
EXPOSE 8765
# It reads FAIREST_PORT and FAIREST_TLS_CERT as the server does: in a container, set those and not options.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-m", "fairest_server.ops.health"]
ENTRYPOINT ["fairest-server"]
