#!/bin/sh
# The whole example: a server with a dev-model in place of a provider, and a worker that starts an agent of a framework of npm for
# each step. Leaves nothing running. Needs Node 20.
# usage: examples/bring-your-agent/run.sh [openai|openai-agents|anthropic|ai-sdk|langgraph|mastra]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
agent=$here/${1:-openai}.mjs
[ -f "$agent" ] || { sed -n '4p' "$0" >&2; exit 2; }

# shellcheck source=examples/start.sh
. "$here/../start.sh"
[ -d "$here/node_modules" ] || (cd "$here" && npm install --no-audit --no-fund --no-package-lock --legacy-peer-deps)
start_dev_model
start_server

"$home/keelson" tools register weather.agent
"$home/keelson" worker --tool weather.agent -- node "$agent" &
worker=$!
processes="$worker $processes"

"$home/keelson" run "$here/mission.yaml"
"$home/keelson" logs latest
"$home/keelson" ledger latest
