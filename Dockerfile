FROM python:3.13-slim
WORKDIR /fairest
COPY pyproject.toml README.md ./
COPY protocol protocol
COPY server server
COPY client_cli client_cli
RUN pip install --no-cache-dir . && useradd --create-home fairest
USER fairest
EXPOSE 8765
ENTRYPOINT ["fairest-server"]
