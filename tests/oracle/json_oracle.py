#!/usr/bin/env python3
"""JSON documents with the verdict and the content that CPython's json module gives.

  json_oracle.py SEED COUNT

Prints COUNT lines "hex of the document|content". The content is ERROR, or the value written as:
objects {key:value,...} with duplicate members kept, arrays [value,...], strings as hex of their
UTF-8 in quotes, numbers as digitsEexponent with their exact digits (34 at most, half-even), true,
false, null. Lone surrogates and scalars at the top count as errors, as they do for us.
"""
import json
import random
import sys
from decimal import Context, Decimal, ROUND_HALF_EVEN

CONTEXT = Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-999999999, Emax=999999999)


def text(rng):
    pool = ["a", "name", "/", "\\\\", "\\\"", "\\n", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "é", "€", "😀",
            " ", "\\/", "\\u0000", "x" * 40, "{[:,]}", "\\b\\f\\r\\t", "\x7f"]
    return '"' + "".join(rng.choice(pool) for _ in range(rng.randrange(5))) + '"'


def number(rng):
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice([1, 1, 2, 5, 17, 18, 19, 20, 34, 40])))
    out = rng.choice(["", "-"]) + (digits.lstrip("0") or "0")
    if rng.random() < 0.4:
        out += "." + "".join(rng.choice("0123456789") for _ in range(rng.choice([1, 2, 6, 20])))
    if rng.random() < 0.2:
        out += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.randrange(400))
    return out


def space(rng):
    return rng.choice(["", "", "", " ", "\n", "\t \r\n"])


def value(rng, depth):
    kind = rng.randrange(10 if depth < 5 else 6)
    if kind < 2:
        return text(rng)
    if kind < 4:
        return number(rng)
    if kind < 6:
        return rng.choice(["true", "false", "null"])
    return container(rng, depth)


def container(rng, depth):
    s = lambda: space(rng)
    if rng.random() < 0.5:
        return "[" + s() + ",".join(s() + value(rng, depth + 1) + s() for _ in range(rng.randrange(5))) + "]"
    return "{" + s() + ",".join(s() + text(rng) + s() + ":" + s() + value(rng, depth + 1) + s()
                               for _ in range(rng.randrange(5))) + "}"


def damage(rng, document):
    data = bytearray(document)
    for _ in range(1 + rng.randrange(2)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(3)
        byte = rng.choice(b"{}[]:,\"\\ \n0123456789.eE+-truefalsn\xc3\xff\x01/u\x00")
        if kind == 0 and at < len(data):
            data[at] = byte
        elif kind == 1:
            del data[at:at + 1 + rng.randrange(3)]
        else:
            data.insert(at, byte)
    return bytes(data)


class Number(str):
    pass


def reject(_):
    raise ValueError("constant")


def content(v):
    if isinstance(v, Number):
        d = CONTEXT.create_decimal(Decimal(v))
        sign, digits, exponent = d.as_tuple()
        if not d.is_finite():
            raise ValueError("range")
        digits = "".join(map(str, digits)).lstrip("0") or "0"
        return ("-" if sign and digits != "0" else "") + digits + "E" + str(exponent)
    if isinstance(v, str):
        return '"' + v.encode("utf-8").hex() + '"'
    if isinstance(v, list):
        return "[" + ",".join(map(content, v)) + "]"
    if isinstance(v, tuple):
        return "{" + ",".join(content(k) + ":" + content(x) for k, x in v) + "}"
    return {True: "true", False: "false", None: "null"}[v]


def judge(data):
    try:
        v = json.loads(data.decode("utf-8"), parse_int=Number, parse_float=Number, parse_constant=reject,
                       object_pairs_hook=tuple)
        if not isinstance(v, (list, tuple)):
            return "ERROR"
        return content(v)
    except (ValueError, RecursionError, ArithmeticError):
        return "ERROR"


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    rng = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        data = (space(rng) + container(rng, 0) + space(rng)).encode("utf-8")
        if rng.random() < 0.5:
            data = damage(rng, data)
        if data[:3] == b"\xef\xbb\xbf" or not data:
            continue
        print(data.hex() + "|" + judge(data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
