#!/usr/bin/env bash
# Runs every benchmark in bench/ and leaves what they print in bench/results/.
set -euo pipefail
cd "$(dirname "$0")/.."
python=/usr/bin/python3
[ -x $python ] || python=python3
mkdir -p bench/results
export VEM=$PWD/build/vem
for script in bench/bench_*.py; do
    name=$(basename "$script" .py)
    printf '\n== %s\n' "$name"
    $python "$script" | tee "bench/results/$name.txt"
done
