#!/bin/sh
# A fit spread over parts of the data: each round makes the statistics of every part with one
# model, several at a time, and adds them up to the next model, until F rests.
#
#     examples/parts.sh START.npz OUT.npz PART... [-- options of vem fit]
#
# Where START.npz is not there it is made, with K clusters: a coreset of CORESET rows (65,536) of
# each part, and a fit to all of these with the same options.
#
# JOBS processes run at a time (2). What a round has made stays in OUT.npz.rounds: a part whose
# process died is asked for again, and the same command goes on where it was ended. Nothing but
# the files is shared, so the lines marked (*) may as well run elsewhere.
set -eu

VEM=${VEM:-vem} JOBS=${JOBS:-2} TRIES=${TRIES:-3} ROUNDS=${ROUNDS:-100}
K=${K:-} CORESET=${CORESET:-65536}
REST=${REST:-1e-7} # F has come to rest when a round gains less than this

[ $# -ge 3 ] || { echo "usage: parts.sh START.npz OUT.npz PART... [-- OPTIONS]" >&2; exit 2; }
model=$1 out=$2
shift 2
rounds=$out.rounds
mkdir -p "$rounds"
: > "$rounds/parts"
printf '%s\n' "$@" > "$rounds/asked.new"
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    printf '%s\n' "$1" >> "$rounds/parts"
    shift
done
[ $# -eq 0 ] || shift
count=$(wc -l < "$rounds/parts" | tr -d ' ')

# What was made by an earlier command is gone on with only if that was the same: file $2, if it is
# there, is file $1, which says $3.
same() {
    [ ! -e "$2" ] || cmp -s "$1" "$2" ||
        { echo "parts.sh: $rounds is of another fit ($3); move it away" >&2; exit 1; }
}
same "$rounds/asked.new" "$rounds/asked" "other parts or options"
mv "$rounds/asked.new" "$rounds/asked"

# What part $1 is asked for, unless it is there. A file of vem is whole or is not there.
one_part() {
    file=$round/s$1.npz number=$1
    [ -e "$file" ] && return
    part=$(sed -n "$1p" "$rounds/parts")
    shift
    if [ "$round" = "$rounds/start" ]; then # each with its own seed: parts that look alike
        "$VEM" coreset "$part" -m "$CORESET" --seed "$number" -o "$file" -q # (*)
    else
        "$VEM" fit "$part" --init "$model" --accumulate "$file" \
            --part "$number/$count" -q "$@" # (*)
    fi
}

# JOBS at a time. A part that fails is looked at when all are done.
try_parts() {
    running=0
    for i in $(seq "$count"); do
        one_part "$i" "$@" &
        running=$((running + 1))
        if [ "$running" -ge "$JOBS" ]; then
            wait
            running=0
        fi
    done
    wait
}

missing() {
    for i in $(seq "$count"); do
        [ -e "$round/s$i.npz" ] || printf ' %s' "$i"
    done
}

# Of round $1, with options of vem fit.
all_parts() {
    round=$rounds/$1 tries=0
    shift
    mkdir -p "$round"
    while [ -n "$(missing)" ]; do
        [ "$tries" -lt "$TRIES" ] || { echo "parts.sh: nothing of part$(missing)" >&2; exit 1; }
        tries=$((tries + 1))
        try_parts "$@"
    done
}

make_start() {
    all_parts start
    for i in $(seq "$count"); do
        set -- "$@" "$round/s$i.npz"
    done
    "$VEM" fit -k "$K" -o "$model" -q "$@"
}

if [ ! -e "$model" ]; then
    [ -n "$K" ] || { echo "parts.sh: $model is not there; K=C makes it" >&2; exit 2; }
    make_start "$@"
fi
same "$model" "$rounds/start.npz" "another start"
cp "$model" "$rounds/start.npz"

last="" rests=""
for n in $(seq "$ROUNDS"); do
    all_parts "$n" "$@"
    told=$("$VEM" merge "$round"/s*.npz --expect "$count" -o "$round/next.npz" --json)
    f=$(printf '%s\n' "$told" | sed -n 's/.*"free_energy": *\([-+.0-9e]*\).*/\1/p')
    echo "round $n: F = $f"
    model=$round/next.npz
    if [ -n "$last" ] && awk "BEGIN { exit !($f - $last < $REST) }"; then
        rests=yes
        break
    fi
    last=$f
done
[ -n "$rests" ] || echo "parts.sh: F does not rest after $ROUNDS rounds; with more ROUNDS it goes on" >&2
cp "$model" "$out.new" && mv "$out.new" "$out"
