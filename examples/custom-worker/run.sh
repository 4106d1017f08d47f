#!/bin/sh
# The whole example: a server with a data folder of its own, the worker, the client program. Leaves nothing running.
# usage: examples/custom-worker/run.sh [DIR]      counts the words of DIR's .md files (default: this checkout)
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
folder=$(cd "${1:-$home}" && pwd -P)
java=$("$home/scripts/find-jdk")/bin/java
jar=$home/cli/target/keelson.jar

# shellcheck source=examples/start.sh
. "$here/../start.sh"

start_server

"$java" -cp "$jar" "$here/WordCountWorker.java" &
processes="$! $processes"
"$java" -cp "$jar" "$here/SubmitWordCount.java" "$folder"
