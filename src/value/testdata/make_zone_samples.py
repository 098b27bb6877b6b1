#!/usr/bin/env python3
"""Writes zone_samples.tsv and copies the zone files it uses, with Python's zoneinfo as the reference.

Lines: G <zone> <gmt seconds> <offset> <abbreviation> and L <zone> <local seconds> <offset at fold 0>.
Run from the folder of this file when a zone is added.
"""
import datetime as dt
import pathlib
import random
import zoneinfo

ZONES = ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Europe/Dublin",
         "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca"]
EPOCH = dt.datetime(1970, 1, 1)
UTC = dt.timezone.utc


def main():
    rng = random.Random(20240131)
    here = pathlib.Path(__file__).parent
    lines = []
    for name in ZONES:
        source = next(pathlib.Path(p) / name for p in zoneinfo.TZPATH if (pathlib.Path(p) / name).exists())
        (here / (name.replace("/", "_") + ".tzif")).write_bytes(source.read_bytes())
        zone = zoneinfo.ZoneInfo(name)
        instants = [rng.randrange(-3_000_000_000, 5_000_000_000) for _ in range(60)]
        instants += changes(zone)
        for t in instants:
            at = dt.datetime.fromtimestamp(0, UTC) + dt.timedelta(seconds=t)
            local = at.astimezone(zone)
            lines.append(f"G\t{name}\t{t}\t{int(local.utcoffset().total_seconds())}\t{local.tzname()}")
            reading = local.replace(tzinfo=None)
            for shift in (0, -1800, 1800, -3600):
                wall = reading + dt.timedelta(seconds=shift)
                offset = wall.replace(tzinfo=zone, fold=0).utcoffset()
                seconds = int((wall - EPOCH).total_seconds())
                lines.append(f"L\t{name}\t{seconds}\t{int(offset.total_seconds())}")
    (here / "zone_samples.tsv").write_text("\n".join(lines) + "\n")


def changes(zone):
    """The second before and of each change in some years, found by bisection."""
    found = []
    for year in (1950, 1977, 1999, 2011, 2024, 2037, 2038, 2099):
        start = int((dt.datetime(year, 1, 1) - EPOCH).total_seconds())
        for step in range(0, 366, 7):
            low, high = start + step * 86400, start + (step + 7) * 86400
            if offset(zone, low) == offset(zone, high):
                continue
            first = offset(zone, low)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(zone, middle) == first else (low, middle)
            found += [low, high]
    return found


def offset(zone, t):
    return (dt.datetime.fromtimestamp(0, UTC) + dt.timedelta(seconds=t)).astimezone(zone).utcoffset()


main()
