#!/bin/sh
# The whole example: a goal becomes verified work, by models of the server. Leaves nothing running.
# usage: examples/goal/run.sh [DIR]      looks at the .md files of DIR (default: this checkout's docs)
# Without KEELSON_MODELS, dev-model answers by script.yaml and needs no key. With it, the models of that file named planner, worker
# and judge: KEELSON_MODELS=examples/goal/models-real.yaml OPENAI_API_KEY=... ANTHROPIC_API_KEY=... examples/goal/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
folder=$(cd "${1:-$home/docs}" && pwd -P)

KEELSON_DATA_DIR=$(mktemp -d)
KEELSON_HTTP_PORT=0
KEELSON_ALLOWED_FOLDERS=$folder
export KEELSON_DATA_DIR KEELSON_HTTP_PORT KEELSON_ALLOWED_FOLDERS
unset KEELSON_URL KEELSON_API_KEY

server=
model=
# shellcheck disable=SC2329 # called by the trap
stop() {
    for process in $server $model; do
        kill "$process" 2>/dev/null && wait "$process" || true
    done
    rm -rf "$KEELSON_DATA_DIR"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

if [ -z "${KEELSON_MODELS:-}" ]; then
    "$home/keelson" dev-model --script "$here/script.yaml" --port 0 --json >"$KEELSON_DATA_DIR/model.json" &
    model=$!
    until grep -q url "$KEELSON_DATA_DIR/model.json"; do
        kill -0 "$model" 2>/dev/null || exit 1
        sleep 0.2
    done
    url=$(sed -n 's/.*"url" *: *"\([^"]*\)".*/\1/p' "$KEELSON_DATA_DIR/model.json")
    sed "s|http://127.0.0.1:7332|$url|" "$here/models.yaml" >"$KEELSON_DATA_DIR/models.yaml"
    export KEELSON_MODELS="$KEELSON_DATA_DIR/models.yaml"
fi

"$home/keelson" server >"$KEELSON_DATA_DIR/server.log" 2>&1 &
server=$!
until [ -f "$KEELSON_DATA_DIR/url" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$KEELSON_DATA_DIR/server.log" >&2; exit 1; }
    sleep 0.2
done

keelson=$home/keelson
"$keelson" agents create --file "$here/librarian.yaml"
"$keelson" agents create --file "$here/writer.yaml"
"$keelson" run "$here/mission.yaml" --input path="$folder" || [ $? -eq 4 ]
echo "--- a person looks at what waits, and accepts the result"
"$keelson" inbox
"$keelson" approve latest --reason "good to read"
"$keelson" watch latest
"$keelson" show latest
"$keelson" reports latest
"$keelson" ledger latest
