#!/usr/bin/env bash
# Runs every script of repro/: the papers' tables and figures beside ours.
set -euo pipefail
cd "$(dirname "$0")/.."
python=/usr/bin/python3
[ -x $python ] || python=python3
for script in repro/*.py; do
    [ -x "$script" ] || continue
    printf '\n== %s\n\n' "$script"
    $python "$script"
done
