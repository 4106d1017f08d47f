#!/bin/sh
# Codex answers the question of the step by commands in the folder of the step. The worker's --for codex has written where the models are.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
question=$(node -p 'JSON.parse(require("fs").readFileSync(process.env.KEELSON_INPUT_FILE)).question')
exec "$here/node_modules/.bin/codex" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m codex \
    "$question" </dev/null
