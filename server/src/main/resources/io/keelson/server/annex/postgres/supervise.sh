# shellcheck shell=sh
# Runs PostgreSQL and stops it when standard input ends: when the JVM holding the other end closes it or dies.
# Ends itself when the last process of PostgreSQL has let go of descriptor 4; its logger outlives the main process.
# usage: sh -c "$(cat supervise.sh)" keelson-postgres GRACE_SECONDS COMMAND...
# GRACE_SECONDS 0: PostgreSQL ends at once and writes no checkpoint.
trap '' HUP INT QUIT TERM
grace=$1
shift
exec 3<&0 </dev/null
{
  "$@" 3<&- 4>&1 >&2 &
  postgres=$!
  {
    while read -r _ <&3; do :; done
    [ "$grace" -eq 0 ] || kill -INT "$postgres"
    while [ "$grace" -gt 0 ]; do
      sleep 1
      grace=$((grace - 1))
    done
    kill -QUIT "$postgres"
  } >/dev/null &
  watcher=$!
  wait "$postgres"
  kill -KILL "$watcher"
} | cat 3<&-
