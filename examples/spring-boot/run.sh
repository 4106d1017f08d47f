#!/bin/sh
# The whole example: a server with a data folder of its own and the application, which ships an order. Leaves nothing running.
# usage: examples/spring-boot/run.sh REPOSITORY      the maven folder of a release; needs Maven and, for Spring, Maven Central
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
repository=$(cd "$1" && pwd -P)

# shellcheck source=examples/start.sh
. "$here/../start.sh"

cp -R "$here/pom.xml" "$here/src" "$KEELSON_DATA_DIR/"
mvn -B -q -f "$KEELSON_DATA_DIR/pom.xml" -Dmaven.test.skip=true package -Dkeelson.repository="file:$repository"
start_server

# Port 0: the application chooses a free one, and its log has it.
java -jar "$KEELSON_DATA_DIR/target/spring-boot-1.jar" --server.port=0 >"$KEELSON_DATA_DIR/application.log" 2>&1 &
processes="$! $processes"
port=
until [ -n "$port" ] && curl -fs "http://127.0.0.1:$port/actuator/health" >/dev/null; do
    port=$(sed -n 's/.*Tomcat started on port \([0-9]*\).*/\1/p' "$KEELSON_DATA_DIR/application.log")
    kill -0 "${processes%% *}" 2>/dev/null || { cat "$KEELSON_DATA_DIR/application.log" >&2; exit 1; }
    sleep 0.5
done

answer=$(curl -fs -H "Content-Type: application/json" -d '["lamp", "bulb"]' "http://127.0.0.1:$port/orders/7")
run=$(printf '%s' "$answer" | sed 's/.*"run":"\([^"]*\)".*/\1/')
"$home/keelson" watch "$run"
curl -fs "http://127.0.0.1:$port/runs/$run"
echo
curl -fs "http://127.0.0.1:$port/actuator/health"
echo
