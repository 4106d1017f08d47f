#!/bin/sh
# The whole example: a run is recorded, and other models do its tasks again. Leaves nothing running.
# usage: examples/evaluation/run.sh [DIR]      the recorded agent lists DIR (default: this checkout's docs)
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
folder=$(cd "${1:-$home/docs}" && pwd -P)

# shellcheck source=examples/start.sh
. "$here/../start.sh"
export KEELSON_ALLOWED_FOLDERS="$folder"

if [ -z "${KEELSON_MODELS:-}" ]; then
    start_dev_model
fi

start_server

keelson=$home/keelson
"$keelson" run "$here/mission.yaml"
echo "--- the same tasks by other models: one asks for a folder that was not listed, so that its case stops (exit code 5)"
"$keelson" eval "$here/evaluation.yaml" || [ $? -eq 5 ]
