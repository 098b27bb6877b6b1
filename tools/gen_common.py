"""What the generators share: checks of a record and quoting for C++ and Markdown."""


def check_keys(record, where, allowed, required):
    """Stops with a message when a record has an unknown key or lacks a required one."""
    for key in record:
        if key not in allowed:
            raise SystemExit(f"{where}: unknown key '{key}' (known: {', '.join(sorted(allowed))})")
    for key in required:
        if record.get(key) in (None, ""):
            raise SystemExit(f"{where}: '{key}' is missing")


def cxx_string(text):
    """A C++ string literal of any text (UTF-8 kept)."""
    out = []
    for c in str(text):
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif ord(c) < 32:
            out.append(f"\\{ord(c):03o}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def markdown_text(text):
    """One table cell."""
    return " ".join(str(text).split()).replace("|", "\\|")


def markdown_code(text):
    """Inline code in a table cell; double back-quotes when the text has one."""
    if isinstance(text, bool):
        text = "TRUE" if text else "FALSE"
    elif text is None:
        text = "NULL"
    cell = str(text).replace("|", "\\|").replace("\n", " ")
    return f"`` {cell} ``" if "`" in cell else f"`{cell}`"
