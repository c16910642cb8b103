#!/usr/bin/env python3
"""benchmarks/simulate_ranks.py --rate 3700: how many ranks does one rank 0 keep busy?

Ranks train a piece (a unit of up to 16 runs side by side), send it, and go on with the piece that they have in reserve; rank 0 takes
what arrives in order, stores it, and sends the next piece. Rank 0's cost of a run is measured (`nalm_leader_benchmark FOLDER 20000 RANKS`,
store included); what a run costs a rank is given, 0.015 s being the mean of the survey's grid on one core, and varies by a fifth from piece to
piece. Printed is the share of their time that ranks train.
Standard library only; the same seed gives the same table.
"""
import argparse
import heapq
import random


def busy_share(ranks, seconds, runs, cost, pieces_per_rank, rng):
    """Share of the ranks' time, until the last piece arrives, in which they train."""
    events = []  # (time, rank): a piece is finished
    reserve = [1] * ranks
    waiting = [0.0] * ranks  # since when a rank has nothing to do; 0: it trains
    trained, idle, free_at, left = 0.0, 0.0, 0.0, ranks * pieces_per_rank - 2 * ranks

    def begin(rank, now):
        nonlocal trained
        duration = seconds * rng.uniform(0.8, 1.2)
        trained += duration
        heapq.heappush(events, (now + duration, 0, rank))

    for rank in range(ranks):
        begin(rank, rng.uniform(0, seconds))
    now = 0.0
    while events:
        now, kind, rank = heapq.heappop(events)
        if kind == 0:  # finished: sent to rank 0, which answers when it has dealt with what came before
            free_at = max(free_at, now) + runs * cost
            heapq.heappush(events, (free_at, 1, rank))
            if reserve[rank]:
                reserve[rank] = 0
                begin(rank, now)
            else:
                waiting[rank] = now
        elif left > 0:  # the next piece arrives
            left -= 1
            if waiting[rank]:
                idle += now - waiting[rank]
                waiting[rank] = 0.0
                begin(rank, now)
            else:
                reserve[rank] = 1
    return trained / (trained + idle)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, required=True, help="runs that rank 0 digests in a second")
    parser.add_argument("--runs", type=int, default=16, help="runs of a piece")
    parser.add_argument("--pieces", type=int, default=12, help="pieces that each rank trains")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    durations = [0.015, 0.1, 1, 10, 100]  # of one run; those of a piece are trained side by side
    print(f"Rank 0 digests {options.rate:g} runs a second; a piece has {options.runs}.\n")
    print("| ranks | " + " | ".join(f"runs of {d:g} s" for d in durations) + " |")
    print("|---" * (len(durations) + 1) + "|")
    for ranks in [10, 30, 100, 300, 1000, 3000, 10000]:
        shares = [busy_share(ranks, d * options.runs, options.runs, 1 / options.rate, options.pieces, random.Random(options.seed)) for d in durations]
        print(f"| {ranks:,} | " + " | ".join(f"{100 * s:.0f} %" for s in shares) + " |")


if __name__ == "__main__":
    main()
