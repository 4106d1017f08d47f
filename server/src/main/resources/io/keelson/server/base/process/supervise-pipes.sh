# shellcheck shell=sh
# usage: sh -c "$(cat supervise-pipes.sh)" supervise MARKER COMMAND [ARGUMENT…]
#
# Runs the command, which starts a session of its own, and passes this script's standard input on to it. When that ends,
# because the server closes it or is no more, the command gets half a second to end by itself, then a signal and half a second,
# each less where the server is no more. Then none of its process tree is left: members of other sessions and process groups
# are found by a variable in their environment.
#
# A command that does not read its input blocks the copy, so that its end is never reached. Hence SIGTERM from the server ends
# the copy, and so does the end of the server's process.
marker=$1
server=$PPID
shift

exec 3<&0 0</dev/null
copy=
trap '' HUP INT PIPE
trap 'kill "$copy"' TERM
folder=$(mktemp -d) || exit 126
mkfifo "$folder/in" || exit 126
KEELSON_PROCESS_TREE=$marker "$@" <"$folder/in" 3<&- &
child=$!
exec 4>"$folder/in"
rm -rf -- "$folder"
# From here on the command alone holds the output: the server sees its end.
exec >/dev/null 2>&1
cat <&3 >&4 &
copy=$!
exec 4>&- 3<&-
(
    while kill -0 "$server"; do sleep 0.5; done
    kill "$copy"
) &
watch=$!
wait "$copy"
trap '' TERM
kill "$copy" "$watch"

signal() {
    kill "-$1" -- "-$child" || kill "-$1" "$child"
}
ended() {
    tries=0
    while kill -0 "$child" && [ "$tries" -lt 5 ]; do
        sleep 0.1
        tries=$((tries + 1))
        kill -0 "$server" || tries=$((tries + 1))
    done
    ! kill -0 "$child"
}
ended || { signal TERM; ended; } || signal KILL
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
