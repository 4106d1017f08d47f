#!/bin/sh
# The whole example: a server whose own model takes an agent's turns. Leaves nothing running.
# usage: examples/model-agent/run.sh [DIR]      looks at the .md files of DIR (default: this checkout's docs)
# Without KEELSON_MODELS, the model is a dev-model that follows script.yaml and needs no key. With it, the model `small` of that
# file: KEELSON_MODELS=models.yaml OPENAI_API_KEY=... examples/model-agent/run.sh
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

"$home/keelson" agents create --file "$here/librarian.yaml"
"$home/keelson" run "$here/mission.yaml"
"$home/keelson" ledger latest
