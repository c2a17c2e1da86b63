#!/bin/sh
# A fit in parts, several at a time: runs what vem step prints, until the fit is done.
#
#     examples/parts.sh START.npz OUT.npz FILE... [-- options of vem fit]
#
# The rows are those of all FILEs, cut into PARTS parts (as many as there are files). Where START.npz is
# not there it is made, with K clusters: a coreset of CORESET rows (65,536) of each file, and a fit to all
# of these with the same options.
#
# JOBS processes run at a time (2). What they have made stays in OUT.npz.rounds: a part whose process died
# is asked for again, and the same command goes on where it was ended. Nothing but the files is shared, so
# the lines of $work/todo may as well run elsewhere.
set -eu

VEM=${VEM:-vem} JOBS=${JOBS:-2} TRIES=${TRIES:-3}
K=${K:-} CORESET=${CORESET:-65536}

[ $# -ge 3 ] || { echo "usage: parts.sh START.npz OUT.npz FILE... [-- OPTIONS]" >&2; exit 2; }
start=$1 out=$2 work=$2.rounds
shift 2
mkdir -p "$work"

# "$@" without the --: the files, of which there are so many, and behind them the options.
count=0 options=""
for word in "$@"; do
    shift
    if [ "$word" = -- ] && [ -z "$options" ]; then
        options=yes
    else
        [ -n "$options" ] || count=$((count + 1))
        set -- "$@" "$word"
    fi
done

# One line of what is to be done; its process may die.
call() {
    code=0
    sh -c "$1" </dev/null || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 10 ] || printf '%s\n' "$1" >>"$work/lost"
}

# Runs what a command prints, JOBS lines at a time, while it ends with 10. A line that is lost is printed
# again, but not for ever.
rounds() {
    tries=0
    while code=0 && "$@" >"$work/todo" || code=$? && [ "$code" -eq 10 ]; do
        running=0
        rm -f "$work/lost"
        while read -r line; do
            call "$line" &
            running=$((running + 1))
            if [ "$running" -ge "$JOBS" ]; then
                wait
                running=0
            fi
        done <"$work/todo"
        wait
        tries=$((tries + 1))
        [ -e "$work/lost" ] || tries=0
        [ "$tries" -lt "$TRIES" ] || { echo "parts.sh: lost again and again:" && cat "$work/lost"; } >&2
        [ "$tries" -lt "$TRIES" ] || exit 1
    done
    return "$code"
}

quoted() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

# Coresets that are not there yet, each with its own seed: files that look alike. A file of vem is whole
# or is not there.
coresets() {
    more=0
    for i in $(seq "$count"); do
        if [ ! -e "$work/c$i.npz" ]; then
            echo "$(quoted "$VEM") coreset $(quoted "$1") -m $CORESET --seed $i -o $(quoted "$work/c$i.npz") -q"
            more=10
        fi
        shift
    done
    return "$more"
}

make_start() {
    rounds coresets "$@"
    shift "$count"
    for i in $(seq "$count"); do
        set -- "$@" "$work/c$i.npz"
    done
    "$VEM" fit -k "$K" -o "$start" -q "$@"
}

if [ ! -e "$start" ]; then
    [ -n "$K" ] || { echo "parts.sh: $start is not there; K=C makes it" >&2; exit 2; }
    make_start "$@"
fi
if [ -e "$work/start.npz" ] && ! cmp -s "$start" "$work/start.npz"; then
    echo "parts.sh: $work is of another fit (another start); move it away" >&2
    exit 1
fi
cp "$start" "$work/start.npz"
code=0
"$VEM" step "$work/step" --parts "${PARTS:-$count}" -q -- "$@" --init "$start" -o "$out" >/dev/null || code=$?
[ "$code" -eq 10 ] || exit "$code"
rounds "$VEM" step "$work/step" -q
