#!/usr/bin/env bash
# Runs the benchmarks and leaves their tables in bench/results:
#   bench/run.sh [iterations] [targets] [front] [clusters] [few]     default: all of these parts
#   bench/run.sh --quick
#
# The command is $VEM or build/vem, the data are in $VEM_DATA or bench/data (made when missing).
# Nothing else should run on the machine meanwhile. $VEM_PROTOTYPE names the prototype that the
# targets compare with. --quick: fewer rows and repeats, to see that everything works; its tables
# are not kept.
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

quick() {
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    run kmeans.py --repeats 1 --rows 50000 --clusters 500 --output "$scratch/kmeans.md"
    run mixtures.py --repeats 1 --steps 5 --rows 20000 --output "$scratch/mixtures.md"
    run targets.py --quick --seeds 1 2
    run front.py --quick --seeds 1
    run growth_clusters.py --rows 20000 --clusters 64 256 1024 --seeds 1 \
        --output "$scratch/growth_clusters.md"
}

iterations() {
    if [ -x "$kernels" ]; then
        printf '\n== kernels\n\n'
        "$kernels" | tee results/kernels.txt.part
        mv results/kernels.txt.part results/kernels.txt
    fi
    run kmeans.py
    run mixtures.py
    run likelihood.py
    run growth.py
    run predict.py --generated
    run read.py
    run coreset.py
}

targets() { run targets.py; }
front() { run front.py; }
clusters() { run growth_clusters.py; }
few() { run few.py; }

if [ "${1:-}" = --quick ]; then
    $python data.py
    quick
    exit
fi
[ $# -gt 0 ] || set -- iterations targets front clusters few
for part in "$@"; do
    case $part in
    iterations | targets | front | clusters | few) ;;
    *)
        echo "run.sh: '$part' is not one of iterations, targets, front, clusters, few." >&2
        exit 2
        ;;
    esac
done
$python data.py
for part in "$@"; do
    $part
done
