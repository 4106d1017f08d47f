#!/bin/sh
# The whole example: dev-model in place of a provider, a server that calls it, a mission, its cost. Leaves nothing running.
# usage: examples/models/run.sh [TOPIC]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)

KEELSON_DATA_DIR=$(mktemp -d)
KEELSON_HTTP_PORT=0
KEELSON_MODELS=$here/models.yaml
export KEELSON_DATA_DIR KEELSON_HTTP_PORT KEELSON_MODELS
unset KEELSON_URL KEELSON_API_KEY

server=
model=
# shellcheck disable=SC2329 # called by the trap
stop() {
    for process in $model $server; do
        kill "$process" 2>/dev/null && wait "$process" || true
    done
    rm -rf "$KEELSON_DATA_DIR"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

"$home/keelson" dev-model --port 7342 --script "$here/script.yaml" &
model=$!
"$home/keelson" server >"$KEELSON_DATA_DIR/server.log" 2>&1 &
server=$!
until [ -f "$KEELSON_DATA_DIR/url" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$KEELSON_DATA_DIR/server.log" >&2; exit 1; }
    sleep 0.2
done

"$home/keelson" models
"$home/keelson" run "$here/mission.yaml" --input topic="${1:-Keelson}"
"$home/keelson" ledger latest
