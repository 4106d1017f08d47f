# shellcheck shell=sh
# usage: sh -c "$(cat supervise.sh)" supervise MARKER STDIN-FILE|- TENTHS COMMAND [ARGUMENT…]
#
# Runs the command, which starts a session of its own, until it ends or until this script's own standard input, a pipe
# from the server, closes: because the server cancels, or because it is no more. Then nothing of the command's
# process tree is left, members that moved to another session or process group included: those are found by a
# variable in their environment.
marker=$1
input=$2
grace=$3
shift 3

exec 3<&0 0</dev/null
if [ "$input" = - ]; then
    exec 4</dev/null
else
    exec 4<"$input"
    rm -f -- "$input"
fi

KEELSON_PROCESS_TREE=$marker "$@" <&4 3<&- 4<&- &
child=$!
# From here on nothing is written: once the server is gone, writing would end this script early.
exec 4<&- >/dev/null 2>&1
trap '' HUP INT TERM

signal() {
    kill "-$1" -- "-$child" || kill "-$1" "$child"
}

# Waits for the pipe to close, asks the command to end, and after the grace, in tenths of a second, makes it end.
watch() {
    read -r _ <&3
    signal TERM
    tries=0
    while kill -0 "$child" && [ "$tries" -lt "$grace" ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    signal KILL
}
watch &
watcher=$!
exec 3<&-

wait "$child"
code=$?
kill -KILL "$watcher"
kill -KILL -- "-$child"

round=0
while [ "$round" -lt 50 ]; do
    left=$(grep -lsF "KEELSON_PROCESS_TREE=$marker" /proc/[0-9]*/environ)
    [ -n "$left" ] || break
    for each in $left; do
        pid=${each#/proc/}
        kill -KILL "${pid%/environ}"
    done
    round=$((round + 1))
done
exit "$code"
