#include "model/openapi.h"

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "base/percent.h"
#include "model/errors_gen.h"
#include "text/utf8.h"

namespace millstream::model {
bool is_json_media_type(std::string_view name) {
  return name == "application/json" || name.ends_with("+json") || name == "text/json";
}

bool is_xml_media_type(std::string_view name) {
  return name == "application/xml" || name == "text/xml" || name.ends_with("+xml");
}

bool is_form_media_type(std::string_view name) {
  return name == "application/x-www-form-urlencoded" || name == "multipart/form-data";
}

const Parameter* Operation::find_parameter(std::string_view name) const {
  for (const Parameter& p : parameters) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

const Reply* Operation::find_reply(int status) const {
  const std::string exact = std::to_string(status);
  const std::string any = exact.substr(0, 1) + "XX";
  for (const std::string_view wanted :
       {std::string_view(exact), std::string_view(any), std::string_view("default")}) {
    for (const Reply& r : replies) {
      if (r.status == wanted) return &r;
    }
  }
  return nullptr;
}

const MediaType* find_media_type(const std::vector<MediaType>& list,
                                 std::string_view content_type) {
  const std::string_view bare =
      base::trim_white_space(content_type.substr(0, content_type.find(';')));
  const MediaType* found = nullptr;
  size_t best = 0;
  for (const MediaType& m : list) {
    size_t rank = 0;
    if (text::equals_ignoring_ascii_case(m.name, bare)) {
      rank = 3;
    } else if (m.name == "*/*") {
      rank = 1;
    } else if (m.name.ends_with("/*") && bare.size() >= m.name.size() &&
               text::equals_ignoring_ascii_case(m.name.substr(0, m.name.size() - 1),
                                                bare.substr(0, m.name.size() - 1))) {
      rank = 2;
    }
    if (rank > best) {
      best = rank;
      found = &m;
    }
  }
  return found;
}

const Operation* ApiDocument::find_operation(std::string_view id) const {
  for (const Operation& o : operations_) {
    if (o.id == id) return &o;
  }
  return nullptr;
}

const SecurityScheme* ApiDocument::find_security_scheme(std::string_view name) const {
  for (const SecurityScheme& s : security_schemes_) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

// Segment by segment: text before a mixture before a lone parameter.
bool ApiDocument::is_more_specific(const PathTemplate& a, const PathTemplate& b) {
  auto rank = [](const std::vector<Piece>& segment) {
    if (segment.empty() || (segment.size() == 1 && !segment[0].is_parameter)) return 0;
    return segment.size() == 1 ? 2 : 1;
  };
  for (size_t i = 0; i < std::min(a.segments.size(), b.segments.size()); ++i) {
    const int of_a = rank(a.segments[i]);
    const int of_b = rank(b.segments[i]);
    if (of_a != of_b) return of_a < of_b;
  }
  return a.segments.size() < b.segments.size();  // no request fits both, but sorting needs an order
}

// Parameters take as little as lets the rest fit, but at least one character.
bool ApiDocument::match_segment(const std::vector<Piece>& pieces, size_t at, std::string_view text,
                                PathMatch& out, int& steps_left) {
  if (--steps_left < 0) return false;
  if (at == pieces.size()) return text.empty();
  const Piece& piece = pieces[at];
  if (!piece.is_parameter) {
    if (text.starts_with(piece.text)) {
      return match_segment(pieces, at + 1, text.substr(piece.text.size()), out, steps_left);
    }
    return at + 1 == pieces.size() &&
           base::percent_decode(text) == base::percent_decode(piece.text);
  }
  const size_t known = out.parameters.size();
  // The last piece takes all that is left. Without that, two parameters side by side would try
  // every split; a text between them makes only its own places possible.
  if (at + 1 == pieces.size()) {
    if (text.empty()) return false;
    out.parameters.emplace_back(piece.text, text);
    return true;
  }
  const Piece& next = pieces[at + 1];
  if (next.is_parameter) {
    if (text.size() < 2) return false;
    out.parameters.emplace_back(piece.text, text.substr(0, 1));
    if (match_segment(pieces, at + 1, text.substr(1), out, steps_left)) return true;
    out.parameters.resize(known);
    return false;
  }
  // The last place of the text that follows: "{name}.{extension}" of "a.b.c" is "a.b" and "c".
  for (size_t p = text.rfind(next.text); p != std::string_view::npos && p > 0 && steps_left > 0;
       p = text.rfind(next.text, p - 1)) {
    out.parameters.emplace_back(piece.text, text.substr(0, p));
    if (match_segment(pieces, at + 1, text.substr(p), out, steps_left)) return true;
    out.parameters.resize(known);
  }
  return false;
}

// Each path once, with its operations; the most specific come first.
Status ApiDocument::make_templates() {
  std::map<std::string, std::string> shapes;  // without the names of parameters -> path
  for (const Operation& operation : operations_) {
    auto& all = templates_;
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const auto& t) { return t.text == operation.path; });
    if (known != all.end()) {
      known->operations.push_back(&operation);
      continue;
    }
    PathTemplate made;
    made.text = operation.path;
    made.operations.push_back(&operation);
    std::string shape;
    size_t pieces = 0;
    const std::string& path = operation.path;
    for (size_t start = 1; start <= path.size();) {
      const size_t end = std::min(path.find('/', start), path.size());
      std::vector<Piece> segment;
      shape += '/';
      for (size_t i = start; i < end;) {
        const bool is_parameter = path[i] == '{';
        const size_t stop = is_parameter ? path.find('}', i) : std::min(path.find('{', i), end);
        segment.push_back(
            {is_parameter ? path.substr(i + 1, stop - i - 1) : path.substr(i, stop - i),
             is_parameter});
        shape += is_parameter ? "{}" : segment.back().text;
        i = stop + (is_parameter ? 1 : 0);
      }
      pieces += segment.size() + 1;
      made.segments.push_back(std::move(segment));
      start = end + 1;
    }
    if (pieces > kPathPiecesMax) {
      return base::make_error_at(errors::kApiDocumentTooLarge, operation.source.position(),
                                 {kPathPiecesMax, "parts in one path"});
    }
    auto [it, is_new] = shapes.try_emplace(shape, path);
    if (!is_new) {
      return base::make_error_at(errors::kDuplicatePath, operation.source.position(),
                                 {pointer_step("#/paths", path), it->second});
    }
    all.push_back(std::move(made));
  }
  std::stable_sort(templates_.begin(), templates_.end(), is_more_specific);
  return {};
}

PathMatch ApiDocument::match(std::string_view method, std::string_view path) const {
  PathMatch out;
  if (path.empty()) path = "/";
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  int steps_left = kMatchStepsMax;
  for (const PathTemplate& t : templates_) {
    out.parameters.clear();
    size_t start = 1;
    bool fits = path[0] == '/';
    for (size_t i = 0; fits && i < t.segments.size(); ++i) {
      if (start > path.size()) {
        fits = t.segments[i].empty() && i + 1 == t.segments.size();
        break;
      }
      const size_t end = std::min(path.find('/', start), path.size());
      fits = match_segment(t.segments[i], 0, path.substr(start, end - start), out, steps_left);
      start = end + 1;
    }
    if (!fits || start <= path.size()) continue;
    out.has_path = true;
    const Operation* get = nullptr;
    const Operation* head = nullptr;
    for (const Operation* o : t.operations) {
      if (o->method == method) out.operation = o;
      if (o->method == "GET") get = o;
      if (o->method == "HEAD") head = o;
      if (!out.allow.empty()) out.allow += ", ";
      out.allow += o->method;
    }
    if (get && !head) out.allow += ", HEAD";
    if (!out.operation && method == "HEAD") out.operation = get;
    return out;
  }
  out.parameters.clear();
  return out;
}

}  // namespace millstream::model
