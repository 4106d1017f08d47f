#!/bin/sh
# The whole example: dev-model in place of a provider, a server that calls it, a mission, its cost. Leaves nothing running.
# usage: examples/models/run.sh [TOPIC]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)

# shellcheck source=examples/start.sh
. "$here/../start.sh"

start_dev_model
start_server

"$home/keelson" models
"$home/keelson" run "$here/mission.yaml" --input topic="${1:-Keelson}"
"$home/keelson" ledger latest
