# An image in which everything is compiled:
#   docker build -t graphveil .
# It runs as a user without rights; --user makes that the owner of the folder:
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" graphveil \
#     anonymize k-degree friends.csv --k 5 --out friends-k5
# With --read-only it needs a folder for temporary files, too: --tmpfs /tmp
FROM python:3.12-slim
COPY pyproject.toml README.md LICENSE NOTICE graphveil.cdx.json /build/
COPY src /build/src
RUN pip install --no-cache-dir /build && rm -rf /build && graphveil warm \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin graphveil
WORKDIR /data
USER 10001:10001
ENTRYPOINT ["graphveil"]
