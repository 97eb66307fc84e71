# An image in which everything is compiled:
#   docker build -t graphveil .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" graphveil \
#     anonymize k-degree friends.csv --k 5 --out friends-k5
# With --read-only it needs a folder for temporary files, too: --tmpfs /tmp
FROM python:3.12-slim
COPY pyproject.toml README.md LICENSE NOTICE /build/
COPY src /build/src
RUN pip install --no-cache-dir /build && rm -rf /build && graphveil warm
WORKDIR /data
ENTRYPOINT ["graphveil"]
