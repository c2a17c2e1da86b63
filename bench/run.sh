#!/usr/bin/env bash
# Runs the benchmarks and leaves their tables in bench/results:  bench/run.sh [--quick]
#
# The command is $VEM or build/vem, the data are in $VEM_DATA or bench/data (made when missing).
# Nothing else should run on the machine meanwhile. --quick: fewer rows and repeats, to see that
# everything works; its tables are not kept.
set -euo pipefail
cd "$(dirname "$0")"
python=/usr/bin/python3
[ -x $python ] || python=python3
vem=${VEM:-../build/vem}
kernels=$(dirname "$vem")/bench/kernels

run() {
    printf '\n== %s\n\n' "$1"
    $python "$@"
}

$python data.py mixture codrna_331k glove100
if [ "${1:-}" = --quick ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    run kmeans.py --repeats 1 --rows 50000 --clusters 500 --output "$scratch/kmeans.md"
    run mixtures.py --repeats 1 --steps 5 --rows 20000 --output "$scratch/mixtures.md"
    exit
fi
if [ -x "$kernels" ]; then
    printf '\n== kernels\n\n'
    "$kernels" | tee results/kernels.txt.part
    mv results/kernels.txt.part results/kernels.txt
fi
run kmeans.py
run mixtures.py
run growth.py
if [ -e read.py ]; then
    run read.py
fi
run coreset.py
