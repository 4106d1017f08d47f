# shellcheck shell=sh disable=SC2154 # $here and $home are set by the script that reads this
# Read by the run.sh of each example, which has set $here and $home: a server with a data folder of its own, which ends with the
# script, and nothing is left.

KEELSON_DATA_DIR=$(mktemp -d)
KEELSON_HTTP_PORT=0
export KEELSON_DATA_DIR KEELSON_HTTP_PORT
unset KEELSON_URL KEELSON_API_KEY

processes=
# shellcheck disable=SC2329 # called by the trap
stop() {
    for process in $processes; do
        if kill "$process" 2>/dev/null; then
            wait "$process" || true
        fi
    done
    rm -rf "$KEELSON_DATA_DIR"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# Starts a server, and returns once it answers.
start_server() {
    "$home/keelson" server >"$KEELSON_DATA_DIR/server.log" 2>&1 &
    server=$!
    processes="$server $processes"
    until [ -f "$KEELSON_DATA_DIR/url" ]; do
        kill -0 "$server" 2>/dev/null || { cat "$KEELSON_DATA_DIR/server.log" >&2; exit 1; }
        sleep 0.2
    done
}

# Starts dev-model with the example's script.yaml in place of the provider that its models.yaml names.
start_dev_model() {
    "$home/keelson" dev-model --script "$here/script.yaml" --port 0 --json >"$KEELSON_DATA_DIR/model.json" &
    model=$!
    processes="$model $processes"
    url=
    until [ -n "$url" ]; do
        kill -0 "$model" 2>/dev/null || exit 1
        sleep 0.2
        url=$(sed -n 's/.*"url" *: *"\([^"]*\)".*/\1/p' "$KEELSON_DATA_DIR/model.json")
    done
    sed "s|http://127.0.0.1:[0-9]*|$url|" "$here/models.yaml" >"$KEELSON_DATA_DIR/models.yaml"
    export KEELSON_MODELS="$KEELSON_DATA_DIR/models.yaml"
}
