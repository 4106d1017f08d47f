#!/bin/sh
# The whole example: a server with a dev-model in place of a provider, and a worker that starts an agent of a framework of npm for
# each step. Leaves nothing running. Needs Node 20.
# usage: examples/bring-your-agent/run.sh [openai|openai-agents|anthropic|ai-sdk|langgraph|mastra|codex]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
name=${1:-openai}
[ -f "$here/$name.mjs" ] || [ "$name" = codex ] || { sed -n '4p' "$0" >&2; exit 2; }

# shellcheck source=examples/start.sh
. "$here/../start.sh"
npm_install() { (cd "$here" && npm install --no-audit --no-fund --no-package-lock --legacy-peer-deps "$@"); }
[ -d "$here/node_modules" ] || npm_install
[ "$name" != codex ] || [ -d "$here/node_modules/@openai/codex" ] || npm_install --no-save @openai/codex@0.171.0
start_dev_model
start_server

"$home/keelson" tools register weather.agent
if [ "$name" = codex ]; then
    "$home/keelson" worker --tool weather.agent --for codex -- sh "$here/codex.sh" &
else
    "$home/keelson" worker --tool weather.agent -- node "$here/$name.mjs" &
fi
worker=$!
processes="$worker $processes"

"$home/keelson" run "$here/mission.yaml"
"$home/keelson" logs latest
"$home/keelson" ledger latest
