"""src/queue/objects/records/*.yaml -> the attribute tables and typed structs of the queue manager's objects
(src/queue/objects/attributes_gen.h/.cc) and docs/reference/mqsc-objects.md.

enums.yaml: named sets {KEYWORD: number}; several keywords of one number are synonyms, the first is shown. Every
other file is a family: family, keyword, struct, types {TYPE: {title, synonyms, name_max}}, optional subtype
{keyword, values, field} and attributes in display order. An attribute: keyword, type (number, text, name, object,
hex, enum, flag, list, words), in (types or subtypes; default all), min, max (value, or length of a text),
special {KEYWORD: number}, names (a set whose keywords are accepted as numbers), values (a set), words, default (one,
or by type), field (member of the struct), support (effective, or kept: stored and shown, changes nothing), alter
(false: only DEFINE sets it), readonly (types where it only is shown), required, required_in, settable (values),
refused (why any value is refused), refused_values {VALUE: why}, secret, hidden, count_max, of, synonyms and
d (description).
"""
import yaml

from gen_common import check_keys, cxx_string, markdown_text

FAMILIES = ["queue", "process", "namelist", "topic", "subscription", "channel", "listener", "service", "authinfo",
            "comminfo", "qmgr"]
KEYS = {"keyword", "type", "in", "min", "max", "special", "names", "values", "words", "default", "field", "support",
        "alter", "readonly", "required", "required_in", "settable", "refused", "refused_values", "secret", "hidden",
        "hidden_in", "count_max", "of", "synonyms", "d", "off"}
KINDS = {"number", "text", "name", "object", "hex", "enum", "flag", "list", "words"}
BOOLEANS = {"EnabledDisabled", "YesNo", "Inhibit"}


def camel(word):
    return "k" + word[:1].upper() + word[1:].lower()


class Attribute:
    def __init__(self, raw, where, enums, scopes):
        check_keys(raw, where, KEYS, ["keyword", "type", "d"])
        if raw["type"] not in KINDS:
            raise SystemExit(f"{where}: unknown type {raw['type']}")
        self.raw, self.where = raw, where
        self.keyword, self.kind, self.field = raw["keyword"], raw["type"], raw.get("field")
        self.scopes = raw.get("in", scopes)
        for key in ("in", "readonly", "required_in", "hidden_in"):
            for scope in raw.get(key, []):
                if scope not in scopes:
                    raise SystemExit(f"{where}: unknown type {scope} in '{key}'")
        self.enum = raw.get("values") if isinstance(raw.get("values"), str) else None
        if self.enum and self.enum not in enums:
            raise SystemExit(f"{where}: unknown set of values {self.enum}")
        self.values = enums[self.enum] if self.enum else raw.get("values", {})
        if self.kind == "enum" and not self.values:
            raise SystemExit(f"{where}: 'values' is missing")
        self.names = dict(raw.get("special", {}))
        if raw.get("names"):
            self.names.update(enums[raw["names"]])
        self.support = raw.get("support", "kept")
        if self.support not in ("effective", "kept"):
            raise SystemExit(f"{where}: unknown support {self.support}")

    def default(self, scope):
        default = self.raw.get("default")
        return default.get(scope) if isinstance(default, dict) else default

    def default_number(self, scope):
        d = self.default(scope)
        if self.kind == "flag":
            if d not in (self.keyword, self.raw["off"]):
                raise SystemExit(f"{self.where}: default {d}")
            return int(d == self.keyword)
        if self.kind == "enum":
            if d not in self.values:
                raise SystemExit(f"{self.where}: default {d} is none of {list(self.values)}")
            return self.values[d]
        if self.kind == "number":
            return self.names[d] if d in self.names else int(d)
        return 0

    def default_text(self, scope):
        if self.kind in ("number", "enum", "flag"):
            return ""
        d = self.default(scope)
        return "" if d is None else str(d)

    def shown_default(self, scope):
        d = self.default(scope)
        return "blank" if d is None else str(d)


class Family:
    def __init__(self, raw, where, enums):
        check_keys(raw, where, {"family", "keyword", "struct", "types", "subtype", "attributes"},
                   ["family", "keyword", "struct", "types", "attributes"])
        self.raw, self.name, self.keyword, self.struct = raw, raw["family"], raw["keyword"], raw["struct"]
        self.types = raw["types"]
        self.subtype = raw.get("subtype")
        self.subtypes = enums[self.subtype["values"]] if self.subtype else {}
        scopes = list(self.subtypes) if self.subtype else list(self.types)
        self.attributes = [Attribute(a, f"{where}: {a.get('keyword')}", enums, scopes) for a in raw["attributes"]]
        self.scopes = scopes


def load(root):
    folder = root / "src/queue/objects/records"
    if not folder.is_dir():
        return {}, []
    enums = yaml.safe_load((folder / "enums.yaml").read_text(encoding="utf-8"))
    families = [Family(yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8")), f"{name}.yaml", enums)
                for name in FAMILIES]
    return enums, families


def member_type(a):
    if a.kind == "number":
        return "int32_t", " = 0"
    if a.kind == "flag" or (a.kind == "enum" and a.enum in BOOLEANS):
        return "bool", " = false"
    if a.kind == "enum":
        if not a.enum:
            raise SystemExit(f"{a.where}: a field needs a named set of values")
        return a.enum, "{}"
    if a.kind == "list":
        return "std::vector<std::string>", ""
    return "std::string", ""


def header(enums, families):
    attrs = sorted({a.keyword for f in families for a in f.attributes}
                   | {f.subtype["keyword"] for f in families if f.subtype})
    used = {a.enum for f in families for a in f.attributes if a.field and a.enum and a.enum not in BOOLEANS}
    used |= {f.subtype["values"] for f in families if f.subtype}
    lines = ["// Generated by tools/gen.py from records/*.yaml. Do not edit.", "// clang-format off", "#pragma once",
             "#include <cstdint>", "#include <string>", "#include <vector>", "",
             "namespace millstream::queue::objects {", "", "class Definition;", "",
             "// Every attribute keyword of any object type. Numbers change between builds: what is stored",
             "// has the keyword.", "enum class Attr : uint16_t {"]
    lines += [f"  {camel(k)}," for k in attrs]
    lines += ["};", f"constexpr uint16_t kAttrCount = {len(attrs)};", ""]
    for name in enums:
        if name not in used:
            continue
        seen, items = set(), []
        for keyword, number in enums[name].items():
            if number not in seen:
                seen.add(number)
                items.append(f"{camel(keyword)} = {number}")
        lines += [f"enum class {name} : int32_t {{ {', '.join(items)} }};"]
    lines.append("")
    for f in families:
        fields = [a for a in f.attributes if a.field]
        if not fields and not f.subtype:
            continue
        lines.append(f"struct {f.struct} {{")
        if f.subtype:
            lines.append(f"  {f.subtype['values']} {f.subtype['field']}{{}};")
        for a in fields:
            kind, init = member_type(a)
            lines.append(f"  {kind} {a.field}{init};  // {a.keyword}: {a.raw['d']}")
        lines += ["};", f"{f.struct} read_{f.name}_attributes(const Definition& definition);", ""]
    lines += ["}  // namespace millstream::queue::objects", ""]
    return "\n".join(lines)


def spec_row(a, scope, tables):
    r = a.raw
    lo = r.get("min", 0)
    hi = r.get("max", 48 if a.kind in ("name", "object") else 0)
    flags = []
    if r.get("alter", True) is False:
        flags.append("kDefineOnly")
    if scope in r.get("readonly", []):
        flags.append("kReadOnly")
    if r.get("required") or scope in r.get("required_in", []):
        flags.append("kRequired")
    if r.get("secret"):
        flags.append("kSecret")
    if r.get("hidden") or scope in r.get("hidden_in", []):
        flags.append("kHidden")
    names = tables.names(a.values if a.kind == "enum" else a.names, r.get("settable"))
    words = tables.words(r.get("words", []))
    refused = tables.refused(r.get("refused_values", {}))
    return (f"    {{Attr::{camel(a.keyword)}, {cxx_string(a.keyword)}, {cxx_string((r.get('synonyms') or [''])[0])}, "
            f"{cxx_string(r.get('off', ''))}, AttributeKind::{camel(a.kind)}, Support::{camel(a.support)}, "
            f"{' | '.join(flags) or '0'}, {lo}, {hi}, {a.default_number(scope)}, {cxx_string(a.default_text(scope))}, "
            f"{names}, {words}, {cxx_string(r.get('refused', ''))}, {refused}, {r.get('count_max', 0)}, "
            f"{cxx_string(r['d'])}}},")


class Tables:
    """Arrays that rows point to, each written once."""

    def __init__(self):
        self.known, self.lines = {}, []

    def array(self, kind, items):
        if not items:
            return "{}"
        key = (kind, tuple(items))
        if key not in self.known:
            self.known[key] = f"kTable{len(self.known)}"
            self.lines.append(f"constexpr {kind} {self.known[key]}[] = {{{', '.join(items)}}};")
        return self.known[key]

    def names(self, values, settable):
        return self.array("NamedNumber", [
            f"{{{cxx_string(k)}, {v}, {'true' if settable is None or k in settable else 'false'}}}"
            for k, v in values.items()])

    def words(self, words):
        return self.array("std::string_view", [cxx_string(w) for w in words])

    def refused(self, values):
        return self.array("RefusedValue", [f"{{{cxx_string(k)}, {cxx_string(v)}}}" for k, v in values.items()])


def source(enums, families):
    tables, rows, index, types = Tables(), [], [], []
    for f in families:
        for type_name, t in f.types.items():
            for scope in f.subtypes or [type_name]:
                number = f.subtypes.get(scope, 0)
                rows.append(f"constexpr AttributeSpec k{type_name.title()}{scope.title() if f.subtype else ''}[] = {{")
                rows += [spec_row(a, scope, tables) for a in f.attributes if scope in a.scopes]
                rows.append("};")
                index.append(f"    {{ObjectType::{camel(type_name)}, {number}, "
                             f"k{type_name.title()}{scope.title() if f.subtype else ''}}},")
            sub = f.subtype
            types.append(f"    {{ObjectType::{camel(type_name)}, ObjectFamily::{camel(f.name)}, "
                         f"{cxx_string(type_name)}, "
                         f"{cxx_string((t.get('synonyms') or [''])[0])}, {cxx_string(f.keyword)}, "
                         f"{cxx_string(t['title'])}, {t.get('name_max', 48)}, "
                         + (f"true, Attr::{camel(sub['keyword'])}, {cxx_string(sub['keyword'])}, "
                            f"{tables.names(f.subtypes, None)}" if sub else "false, Attr{}, \"\", {}") + "},")
    attrs = sorted({a.keyword for f in families for a in f.attributes}
                   | {f.subtype["keyword"] for f in families if f.subtype})
    lines = ["// Generated by tools/gen.py from records/*.yaml. Do not edit.", "// clang-format off",
             '#include "queue/objects/attribute_spec.h"', '#include "queue/objects/definition.h"', "",
             "namespace millstream::queue::objects {", "namespace {", ""]
    lines += tables.lines + [""] + rows
    lines += ["constexpr SpecTable kSpecTables[] = {"] + index + ["};", "constexpr TypeSpec kTypes[] = {"] + types
    lines += ["};", "constexpr std::string_view kKeywords[] = {"]
    lines += [f"    {cxx_string(k)}," for k in attrs] + ["};", "", "}  // namespace", "",
              "std::span<const SpecTable> all_spec_tables() { return kSpecTables; }",
              "std::span<const TypeSpec> all_types() { return kTypes; }",
              "std::span<const std::string_view> all_keywords() { return kKeywords; }", ""]
    for f in families:
        fields = [a for a in f.attributes if a.field]
        if not fields and not f.subtype:
            continue
        lines.append(f"{f.struct} read_{f.name}_attributes(const Definition& d) {{")
        lines.append(f"  {f.struct} a;")
        if f.subtype:
            lines.append(f"  a.{f.subtype['field']} = static_cast<{f.subtype['values']}>(d.subtype());")
        for a in fields:
            kind, _ = member_type(a)
            attr = f"Attr::{camel(a.keyword)}"
            if kind == "int32_t":
                lines.append(f"  a.{a.field} = static_cast<int32_t>(d.number({attr}));")
            elif kind == "bool":
                lines.append(f"  a.{a.field} = d.number({attr}) != 0;")
            elif kind == "std::string":
                lines.append(f"  a.{a.field} = d.text({attr});")
            elif a.kind == "list":
                lines.append(f"  a.{a.field} = d.items({attr});")
            else:
                lines.append(f"  a.{a.field} = static_cast<{kind}>(d.number({attr}));")
        lines += ["  return a;", "}", ""]
    lines += ["}  // namespace millstream::queue::objects", ""]
    return "\n".join(lines)


def values_text(a):
    r = a.raw
    if a.kind == "enum":
        return " ".join(a.values)
    if a.kind == "flag":
        return f"{a.keyword} {r['off']}"
    if a.kind == "words":
        return "one or two of " + " ".join(r["words"])
    if a.kind == "number":
        special = "".join(f", {k}" for k in a.names)
        return f"{r.get('min', 0)}–{r.get('max', 0)}{special}"
    if a.kind == "list":
        return f"up to {r['count_max']} names"
    unit = {"hex": "hexadecimal digits"}.get(a.kind, "characters")
    return f"{'object name' if a.kind in ('name', 'object') else 'text'}, up to {r.get('max', 48)} {unit}"


def support_text(a):
    r = a.raw
    if r.get("refused"):
        return "refused unless blank: " + r["refused"]
    text = a.support
    if r.get("readonly") == a.scopes:
        text = "shown"
    if r.get("refused_values"):
        text += "; refused: " + ", ".join(r["refused_values"])
    return text


def attribute_rows(f, scopes):
    rows = []
    for a in f.attributes:
        mine = [s for s in scopes if s in a.scopes]
        if not mine:
            continue
        defaults = {a.shown_default(s) for s in mine}
        default = defaults.pop() if len(defaults) == 1 else ", ".join(f"{s}: {a.shown_default(s)}" for s in mine)
        rows.append((a, "" if mine == f.scopes else " ".join(mine), default))
    return rows


def page(families):
    lines = ["<!-- Generated by tools/gen.py from src/queue/objects/records/*.yaml. Do not edit. -->",
             "# MQSC objects and attributes", "",
             "*effective*: the queue manager acts on it. *kept*: stored, shown and exported, so that scripts run and "
             "tools find it; it changes nothing. *shown*: cannot be set. A value that is refused is refused with a "
             "message, never skipped. [MQSC commands](mqsc-commands.md) tells which commands there are.", ""]
    for f in families:
        names = ", ".join(f"{t} ({spec['title']})" for t, spec in f.types.items())
        lines += [f"## {f.keyword}", "", f"{names}.", "", "| Attribute | Only for | Values | Default | Support | |",
                  "|---|---|---|---|---|---|"]
        for a, only, default in attribute_rows(f, f.scopes):
            lines.append(f"| {a.keyword} | {only} | {markdown_text(values_text(a))} | {markdown_text(default)} | "
                         f"{markdown_text(support_text(a))} | {markdown_text(a.raw['d'])} |")
        lines.append("")
    return "\n".join(lines)


def describe(root):
    """(kind, name, summary, text) of each object type for `millstream describe`."""
    found = []
    for f in load(root)[1]:
        for type_name, t in f.types.items():
            scopes = f.scopes if f.subtype else [type_name]
            text = f"MQSC object type: {t['title']}.\n"
            for a, only, default in attribute_rows(f, scopes):
                where = f" [{only}]" if f.subtype and only else ""
                text += f"\n  {a.keyword}{where}: {a.raw['d']} {values_text(a)}; default {default}; {support_text(a)}"
            found.append(("object", type_name, t["title"], text))
    return found


def generate(root):
    enums, families = load(root)
    if not families:
        return {}
    folder = root / "src/queue/objects"
    return {folder / "attributes_gen.h": header(enums, families), folder / "attributes_gen.cc": source(enums, families),
            root / "docs/reference/mqsc-objects.md": page(families)}
