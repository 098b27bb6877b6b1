#!/usr/bin/env python3
"""Cases for value::Decimal with the answers of CPython's decimal module.

  decimal_oracle.py SEED COUNT

Prints "# seed SEED", then COUNT lines "operation|a|b|answer". The answer is the number as IEEE 754
writes it, ERROR where ESQL raises an exception, or what the operation's own branch below says.
"""
import random
import sys
from decimal import (Context, Decimal, DivisionByZero, InvalidOperation, Overflow, ROUND_CEILING,
                     ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP,
                     ROUND_UP)

LIMIT = 999_999_999
MODES = [ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, ROUND_HALF_EVEN,
         ROUND_HALF_DOWN]
EXACT = Context(prec=400, Emax=LIMIT, Emin=-LIMIT)


def context():
    return Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-LIMIT, Emax=LIMIT, clamp=0, traps=[])


def digits(rng):
    """A coefficient: short, long, ties, runs of nines and zeros."""
    kind = rng.randrange(10)
    size = rng.choice([1, 1, 2, 3, 5, 9, 15, 17, 18, 19, 20, 30, 33, 34])
    if kind == 0:
        return rng.choice(["0", "1", "5", "10", "25", "50", "9" * 34, "1" + "0" * 33, "5" + "0" * 33,
                           "9" * 33 + "5", "4" + "9" * 33, "9223372036854775807", "9223372036854775808",
                           "18446744073709551615", "18446744073709551616", "9" * 17])
    if kind == 1:
        return "9" * size
    if kind == 2:
        return str(rng.randrange(1, 10)) + "0" * (size - 1)
    if kind == 3:
        return str(rng.randrange(10 ** (size - 1), 10 ** size)) [:max(1, size - 3)] + "500"[:min(3, size)]
    return str(rng.randrange(10 ** (size - 1), 10 ** size))


def exponent(rng):
    kind = rng.randrange(20)
    if kind < 13:
        return rng.randrange(-20, 10)
    if kind < 17:
        return rng.randrange(-80, 80)
    if kind == 17:
        return rng.randrange(-2000, 2000)
    if kind == 18:
        return rng.choice([-1, 1]) * (LIMIT - rng.randrange(0, 40))
    return rng.choice([-1, 1]) * (LIMIT // 2 + rng.randrange(-40, 40))


def number(rng):
    if rng.randrange(60) == 0:
        return rng.choice(["Infinity", "-Infinity", "NaN"])
    text = rng.choice(["", "-"]) + digits(rng)[:34] + "E" + str(exponent(rng))
    c = context()
    value = c.create_decimal(text)
    if value.is_infinite() or c.flags[Overflow]:
        return number(rng)
    return str(value)


def near(rng, text):
    """A number close to `text`, so that differences cancel and remainders are small."""
    if "N" in text.upper():
        return text
    sign, coefficient, exp = Decimal(text).as_tuple()
    n = int("".join(map(str, coefficient))) + rng.randrange(-2, 3)
    shift = rng.randrange(-3, 4)
    if n < 0 or not -LIMIT < exp + shift < LIMIT - 40:
        return text
    return str(context().create_decimal(f"{'-' if sign else ''}{n}E{exp + shift}"))


def show(value):
    if value.is_nan():
        return "NAN"
    if value.is_infinite():
        return "-INF" if value.is_signed() else "INF"
    return str(value)


def binary(name, a, b):
    c = context()
    x, y = Decimal(a), Decimal(b)
    value = {"add": c.add, "sub": c.subtract, "mul": c.multiply, "div": c.divide,
             "rem": c.remainder}[name](x, y)
    is_special = not (x.is_finite() and y.is_finite())
    if c.flags[Overflow] or c.flags[DivisionByZero]:
        return "ERROR"
    if c.flags[InvalidOperation] and (not is_special or (name == "rem" and y.is_zero() and x.is_finite())):
        return "ERROR"
    return show(value)


def round_case(rng, a):
    mode = rng.randrange(len(MODES))
    scale = rng.choice([rng.randrange(-5, 12), rng.randrange(-40, 45), -LIMIT, LIMIT + 33])
    x = Decimal(a)
    c = context()
    if not x.is_finite():
        return scale, mode, show(x)
    value = x.quantize(Decimal((0, (1,), -scale)), rounding=MODES[mode], context=c)
    if value.is_nan():
        return scale, mode, "-INF" if x.is_signed() else "INF"
    return scale, mode, show(value)


def text_case(rng):
    """A number as text: long digit strings, points anywhere, exponents, words, junk."""
    kind = rng.randrange(12)
    if kind == 0:
        word = rng.choice(["inf", "Infinity", "nan", "INF", "NaN", "iNfInItY"])
        text = rng.choice(["", "-", "+"]) + word
        return text, show(Decimal(text)) if "nan" not in word.lower() else "NAN"
    if kind == 1:
        return rng.choice(["", ".", "+", "-", "e5", "1e", "1e+", "--1", "1..2", "1.2.3", "abc", "1x",
                           "0x10", "1 2", "infin", "+-1", "1e5.0", "E", "1E+-5"]), "ERROR"
    size = rng.choice([1, 2, 5, 20, 34, 35, 36, 38, 39, 40, 41, 60, 200])
    body = "".join(rng.choice("0123456789" if rng.randrange(3) else "05") for _ in range(size))
    if rng.randrange(3) == 0:
        body = "9" * size
    if rng.randrange(4) == 0:
        body = "0" * rng.randrange(1, 50) + body
    if rng.randrange(4) == 0:
        body = body[:34] + rng.choice(["5", "50000", "50001", "4999999", "5" + "0" * 60, "5" + "0" * 60 + "1"])
    if rng.randrange(2):
        at = rng.randrange(0, len(body) + 1)
        body = body[:at] + "." + body[at:]
    text = rng.choice(["", "-", "+"]) + body
    if rng.randrange(3) == 0:
        text += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(abs(exponent(rng)))
    c = context()
    value = c.create_decimal(text)
    return text, "ERROR" if c.flags[Overflow] else show(value)


def power_case(rng):
    a = number(rng)
    n = rng.choice([rng.randrange(-12, 13), rng.randrange(-300, 300), rng.choice([1, -1]) * rng.randrange(10**9)])
    x = Decimal(a)
    if not x.is_finite() or x.is_zero():
        return power_case(rng)
    if abs(n) > 1000 and not (x.copy_abs() == 1 or abs(n) < 100000 and abs(x.adjusted()) < 3):
        n = n % 500
    c = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-LIMIT * 10**6, Emax=LIMIT * 10**6, traps=[])
    value = c.power(x, n)
    final = context()
    value = final.plus(value)
    if final.flags[Overflow]:
        return a, n, "ERROR"
    return a, n, show(value)


def case(rng):
    name = rng.choice(["add", "add", "sub", "sub", "mul", "mul", "div", "div", "rem", "cmp", "sqrt", "round",
                       "round", "integral", "parse", "int64", "double", "fromdouble", "power", "neg"])
    if name == "parse":
        text, answer = text_case(rng)
        return f"parse|{text}||{answer}"
    if name == "power":
        a, n, answer = power_case(rng)
        return f"power|{a}|{n}|{answer}"
    a = number(rng)
    if name in ("add", "sub", "mul", "div", "rem"):
        b = near(rng, a) if rng.randrange(4) == 0 else number(rng)
        return f"{name}|{a}|{b}|{binary(name, a, b)}"
    x = Decimal(a)
    if name == "cmp":
        b = near(rng, a) if rng.randrange(2) else number(rng)
        order = context().compare(x, Decimal(b))
        return f"cmp|{a}|{b}|{'U' if order.is_nan() else int(order)}"
    if name == "sqrt":
        c = context()
        if rng.randrange(3) == 0 and x.is_finite():
            x = EXACT.scaleb(Decimal(rng.randrange(10**17) ** 2), rng.randrange(-9, 9))
            a = str(x)
        value = c.sqrt(x)
        is_refused = c.flags[InvalidOperation] and not x.is_nan() and x.is_signed() and x != 0
        return f"sqrt|{a}||{'ERROR' if is_refused else show(value)}"
    if name == "round":
        scale, mode, answer = round_case(rng, a)
        return f"round|{a}|{scale},{mode}|{answer}"
    if name == "integral":
        mode = rng.randrange(len(MODES))
        value = x.to_integral_value(rounding=MODES[mode], context=context()) if x.is_finite() else x
        return f"integral|{a}|{mode}|{show(value)}"
    if name == "int64":
        if not x.is_finite() or x != 0 and x.adjusted() > 30:
            return f"int64|{a}||ERROR"
        n = int(x.to_integral_value(rounding=ROUND_HALF_EVEN)) if x != 0 and x.adjusted() > -40 else 0
        return f"int64|{a}||{n if -2**63 <= n < 2**63 else 'ERROR'}"
    if name == "double":
        if x.is_finite() and x != 0 and abs(x.adjusted()) > 5000:
            x = Decimal("1.5")
        return f"double|{show(x)}||{'NAN' if x.is_nan() else float(x).hex()}"
    if name == "fromdouble":
        f = rng.choice([rng.uniform(-10, 10), rng.randrange(-10**15, 10**15) / 1000, rng.uniform(-1, 1) * 10.0 **
                        rng.randrange(-300, 300), float(rng.randrange(-10**16, 10**16))])
        value = Decimal("%.14e" % f).normalize()
        if value.as_tuple().exponent > 0 and value.adjusted() < 34:
            value = value.quantize(Decimal(1), context=EXACT)
        return f"fromdouble|{f.hex()}||{show(value if value != 0 else Decimal(0))}"
    value = x if x.is_nan() else x.copy_negate() if x != 0 else x.copy_abs()
    return f"neg|{a}||{show(value)}"


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    print(f"# seed {seed}")
    for _ in range(count):
        print(case(rng))


if __name__ == "__main__":
    main()
