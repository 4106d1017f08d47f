#!/bin/sh
# The whole example: a server with a data folder of its own, the worker, the client program. Leaves nothing running.
# usage: examples/custom-worker/run.sh [DIR]      counts the words of DIR's .md files (default: this checkout)
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
folder=$(cd "${1:-$home}" && pwd -P)
java=$("$home/scripts/find-jdk")/bin/java
jar=$home/server/target/keelson.jar

KEELSON_DATA_DIR=$(mktemp -d)
KEELSON_HTTP_PORT=0
export KEELSON_DATA_DIR KEELSON_HTTP_PORT
unset KEELSON_URL KEELSON_API_KEY

server=
worker=
# shellcheck disable=SC2329 # called by the trap
stop() {
    for process in $worker $server; do
        kill "$process" 2>/dev/null && wait "$process" || true
    done
    rm -rf "$KEELSON_DATA_DIR"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

"$home/keelson" server >"$KEELSON_DATA_DIR/server.log" 2>&1 &
server=$!
until [ -f "$KEELSON_DATA_DIR/url" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$KEELSON_DATA_DIR/server.log" >&2; exit 1; }
    sleep 0.2
done

"$java" -cp "$jar" "$here/WordCountWorker.java" &
worker=$!
"$java" -cp "$jar" "$here/SubmitWordCount.java" "$folder"
