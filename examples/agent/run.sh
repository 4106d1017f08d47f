#!/bin/sh
# The whole example: a server with a data folder of its own, an agent, the worker that takes its turns. Leaves nothing running.
# usage: examples/agent/run.sh [DIR]      looks at the .md files of DIR (default: this checkout's docs)
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
folder=$(cd "${1:-$home/docs}" && pwd -P)
java=$("$home/scripts/find-jdk")/bin/java
jar=$home/server/target/keelson.jar

KEELSON_DATA_DIR=$(mktemp -d)
KEELSON_HTTP_PORT=0
KEELSON_ALLOWED_FOLDERS=$folder
export KEELSON_DATA_DIR KEELSON_HTTP_PORT KEELSON_ALLOWED_FOLDERS
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

"$home/keelson" agents create --file "$here/librarian.yaml"
"$java" -cp "$jar" "$here/LibrarianWorker.java" &
worker=$!
"$home/keelson" run "$here/mission.yaml" --input path="$folder"
