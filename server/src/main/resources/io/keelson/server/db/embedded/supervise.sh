# Runs PostgreSQL and stops it when standard input ends: when the JVM holding the other end closes it or dies.
# usage: sh -c "$(cat supervise.sh)" keelson-postgres GRACE_SECONDS COMMAND...
trap '' HUP INT QUIT TERM
grace=$1
shift
exec 3<&0 </dev/null
"$@" 3<&- &
postgres=$!
{
  while read -r _ <&3; do :; done
  kill -INT "$postgres"
  while [ "$grace" -gt 0 ]; do
    sleep 1
    grace=$((grace - 1))
  done
  kill -QUIT "$postgres"
} &
watcher=$!
exec 3<&-
wait "$postgres"
status=$?
kill -KILL "$watcher"
exit "$status"
