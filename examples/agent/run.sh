#!/bin/sh
# The whole example: a server with a data folder of its own, an agent, the worker that takes its turns. Leaves nothing running.
# usage: examples/agent/run.sh [DIR]      looks at the .md files of DIR (default: this checkout's docs)
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
folder=$(cd "${1:-$home/docs}" && pwd -P)
java=$("$home/scripts/find-jdk")/bin/java
jar=$home/cli/target/keelson.jar

# shellcheck source=examples/start.sh
. "$here/../start.sh"
export KEELSON_ALLOWED_FOLDERS="$folder"

start_server

"$home/keelson" agents create --file "$here/librarian.yaml"
"$java" -cp "$jar" "$here/LibrarianWorker.java" &
processes="$! $processes"
"$home/keelson" run "$here/mission.yaml"
