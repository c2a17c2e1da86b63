#!/usr/bin/env bash
# Makes a data set, clusters it and shows the result. Files are left in demo/.
set -euo pipefail
cd "$(dirname "$0")/.."
vem=build/vem
python=/usr/bin/python3
[ -x $python ] || python=python3
mkdir -p demo

run() {
    printf '\n$ %s\n' "${*//$vem/vem}" >&2
    "$@"
}

run $vem generate birch-grid --clusters 100 --seed 1 -o demo/points.npy --labels demo/truth.npy
run $vem fit demo/points.npy -k 100 --measure -o demo/model.npz \
    --labels demo/labels.npy --json >demo/fit.json
run $vem score demo/model.npz demo/points.npy --truth demo/truth.npy --json >demo/score.json

printf '\n'
$python scripts/plot.py demo/points.npy demo/labels.npy demo/model.npz demo/clusters.svg \
    --title "100 clusters found in 10,000 points"
$python scripts/demo_summary.py demo/fit.json demo/score.json
echo "
Picture: demo/clusters.svg     Model: demo/model.npz     Labels: demo/labels.npy"
