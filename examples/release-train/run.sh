#!/bin/sh
# The whole example: a server with a data folder of its own, the worker that plans and writes, you at the signal. Leaves nothing running.
# usage: examples/release-train/run.sh [VERSION]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
java=$("$home/scripts/find-jdk")/bin/java
jar=$home/cli/target/keelson.jar

# shellcheck source=examples/start.sh
. "$here/../start.sh"

start_server

"$java" -cp "$jar" "$here/TrainWorker.java" &
worker=$!
processes="$worker $processes"
keelson=$home/keelson
# The goal is refused while no worker serves the planning tool.
until "$keelson" run "$here/release-train.yaml" --input version="${1:-1.4}" --detach 2>"$KEELSON_DATA_DIR/refused"; do
    if ! kill -0 "$worker" 2>/dev/null || ! grep -q UNKNOWN_TOOL "$KEELSON_DATA_DIR/refused"; then
        cat "$KEELSON_DATA_DIR/refused" >&2
        exit 1
    fi
    sleep 0.5
done

# Waits until the run is so far that a person is asked; then it says so and ends with 4.
asks() {
    echo "--- $1"
    "$keelson" watch latest || [ $? -eq 4 ]
    "$keelson" inbox
    "$keelson" approve latest --reason "$2"
}

asks "the plan is dearer than it may be without a person" "a good plan"
asks "nothing departs before the signal man agrees" "the line is clear"
"$keelson" watch latest
"$keelson" show latest
"$keelson" reports latest
"$keelson" board --run latest
"$keelson" ledger verify
