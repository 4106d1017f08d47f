#!/bin/sh
# The whole example: a goal becomes verified work, by models of the server. Leaves nothing running.
# usage: examples/goal/run.sh [DIR]      looks at the .md files of DIR (default: this checkout's docs)
# Without KEELSON_MODELS, dev-model answers by script.yaml and needs no key. With it, the models of that file named planner, worker
# and judge: KEELSON_MODELS=examples/goal/models-real.yaml OPENAI_API_KEY=... ANTHROPIC_API_KEY=... examples/goal/run.sh
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
"$keelson" agents create --file "$here/librarian.yaml"
"$keelson" agents create --file "$here/writer.yaml"
"$keelson" run "$here/mission.yaml" || [ $? -eq 4 ]
echo "--- a person looks at what waits, and accepts the result"
"$keelson" inbox
"$keelson" approve latest --reason "good to read"
"$keelson" watch latest
"$keelson" show latest
"$keelson" reports latest
"$keelson" ledger latest
