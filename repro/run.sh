#!/usr/bin/env bash
# Runs every reproduction and leaves tables and pictures in repro/results:  repro/run.sh
#
# The command is $VEM or build/vem; the real data are in $VEM_DATA or bench/data (see
# bench/data.py). About ten minutes on two cores, half an hour more for VNV06, an hour for the
# tables of FL18, and two for those of HFL, of which the second needs 20 GB of disk for a while.
set -euo pipefail
cd "$(dirname "$0")"
python=/usr/bin/python3
[ -x $python ] || python=python3

$python ../bench/data.py pendigits usps codrna_331k mnist glove100 patches mixture \
    cifar10_train pixels
for script in table_s1.py fig_s4.py kl_gap.py fl18_table2.py fl18_fig3.py hfl_table1.py \
    hfl_table2.py hfl_samples.py vnv06.py kw_fig2.py kw_table2.py kw_conga.py; do
    printf '\n== %s\n\n' "$script"
    $python "$script"
done
