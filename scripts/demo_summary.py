#!/usr/bin/env python3
"""What the demo found, in a few lines:  demo_summary.py FIT.json SCORE.json"""

import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        fit = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        score = json.load(file)
    lines = [
        ("clusters", f"{fit['clusters']} in {fit['n']:,} rows of {fit['d']} columns"),
        ("free energy", f"{fit['free_energy']:.4f} a row (from {fit['free_energy_first']:.4f} "
                        f"in {fit['steps']} steps: {fit['outcome']})"),
        ("quantisation error", f"{score['quantization_error']:,.0f}"),
        ("NMI with the truth", f"{score['nmi']:.4f} (1 is perfect)"),
        ("pairs scored", f"{fit['scored_pairs'] + fit['seed_pairs']:,} row-cluster distances"),
        ("time", f"{fit['seconds']['total']:.2f} s on {fit['threads']} threads"),
    ]
    print()
    for name, value in lines:
        print(f"  {name:<20}{value}")


if __name__ == "__main__":
    main()
