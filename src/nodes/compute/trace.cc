// Trace: a pattern with ESQL expressions, written to a file or the log.
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "esql/cast.h"
#include "io/file.h"
#include "net/blocking_pool.h"
#include "nodes/compute/errors_gen.h"
#include "nodes/compute/node_host.h"
#include "nodes/compute/trace_properties_gen.h"

namespace millstream::nodes::compute {
namespace {

using Destination = TraceProperties::Destination;

// A piece of the pattern: text, or an expression.
struct Piece {
  std::string text;
  std::shared_ptr<const esql::CompiledExpression> expression;  // shared by nothing else; null: text
};

class Trace final : public flow::Node {
 public:
  Trace(TraceProperties properties, std::string file, EsqlFacts facts, std::vector<Piece> pieces,
        flow::TraceSink* sink)
      : properties_(std::move(properties)),
        sink_(sink),
        file_(std::move(file)),
        facts_(std::move(facts)),
        pieces_(std::move(pieces)) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    if (sink_ && !sink_->are_trace_nodes_on()) return invocation.propagate(*this, kOut, in);
    if (properties_.destination == Destination::kUserTrace) {
      MS_TRY(write_user_trace(invocation, in));
    } else if (properties_.destination != Destination::kNone) {
      const std::string text = MS_TRY(expand(invocation, in));
      MS_TRY(write(text));
    }
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;

  Result<std::string> expand(flow::Invocation& invocation, const tree::MessageAssembly& in) {
    NodeHost host(*this, invocation, facts_);
    esql::Invocation call{invocation.context(),
                          host,
                          facts_.runtime->zone(),
                          base::system_clock().wall_gmt_micros(),
                          in,
                          in,
                          facts_.flow->shared()};
    esql::EvalContext display{invocation.context(), facts_.runtime->zone(), call.now_gmt_micros,
                              &host};
    std::string out;
    for (const Piece& piece : pieces_) {
      out += piece.text;
      if (!piece.expression) continue;
      value::Value v;
      tree::Element* element = nullptr;
      MS_TRY(piece.expression->evaluate(call, v, element));
      if (element && (tree::first_child(element) || v.is_null())) {
        tree::dump(element, out);
        if (invocation.context().has_parse_error()) return invocation.context().take_parse_error();
      } else {
        out += esql::display_text(display, v);
      }
    }
    return out;
  }

  // To the flow's user trace while it is on; else to the server's, which takes what Trace nodes
  // write at any time.
  Status write_user_trace(flow::Invocation& invocation, const tree::MessageAssembly& in) {
    constexpr int kTraceNodeData = 4060;
    flow::Observation* observation = invocation.observation();
    const bool is_traced = observation && observation->wants_lines();
    if (!is_traced && !(sink_ && sink_->is_open())) return {};
    const std::string text =
        "Data '" + MS_TRY(expand(invocation, in)) + "' from trace node '" + full_label() + "'.";
    if (is_traced) {
      observation->line(*this, kTraceNodeData, text);
    } else {
      sink_->write(flow(), kTraceNodeData, text);
    }
    return {};
  }

  Status write(const std::string& text) {
    if (properties_.destination == Destination::kLocalError) {
      base::log_event(base::LogLevel::kError,
                      "BIP" + std::to_string(properties_.message_number) + "E",
                      "Error message '" + text + "' from trace node '" + full_label() + "'.");
      return {};
    }
    Status status;
    net::run_blocking([&] {
      status = io::append_file(file_, text);
      // The folder of a mapped drive is not there at first.
      if (!status.ok() && io::make_folders(std::string(io::folder_name(file_))).ok()) {
        status = io::append_file(file_, text);
      }
    });
    return status;
  }

  const TraceProperties properties_;
  flow::TraceSink* const sink_;  // null: the process has none
  const std::string file_;
  const EsqlFacts facts_;
  const std::vector<Piece> pieces_;
};

// End of the expression that begins at `at`: the closing brace outside of quotes and inner braces.
size_t expression_end(const std::string& pattern, size_t at) {
  int depth = 0;
  char quote = 0;
  for (; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth-- == 0) {
      return at;
    }
  }
  return std::string::npos;
}

Result<std::vector<Piece>> parse_pattern(const std::string& pattern,
                                         flow::NodeBuildContext& context,
                                         const value::TimeZone& zone) {
  const esql::LinkOptions options = common::esql_link_options(context.names);
  std::vector<Piece> pieces;
  size_t at = 0;
  while (at < pattern.size()) {
    size_t start = pattern.find("${", at);
    Piece piece;
    piece.text = pattern.substr(at, start == std::string::npos ? start : start - at);
    if (start == std::string::npos) {
      pieces.push_back(std::move(piece));
      break;
    }
    size_t end = expression_end(pattern, start + 2);
    if (end == std::string::npos) {
      return base::make_error(errors::kBadPattern, {"the brace after '" + pattern.substr(at, 20) +
                                                    "' is never closed."});
    }
    auto expression = esql::CompiledExpression::compile(
        std::string_view(pattern).substr(start + 2, end - start - 2), options, zone);
    if (!expression.ok()) {
      return base::wrap_error(
          base::make_error(errors::kBadPattern,
                           {"'" + pattern.substr(start, end - start + 1) + "' is not valid ESQL."}),
          std::move(expression).take_status());
    }
    piece.expression = std::move(expression).value();
    pieces.push_back(std::move(piece));
    at = end + 1;
  }
  return pieces;
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_trace(flow::NodeBuildContext& context) {
  TraceProperties properties =
      MS_TRY(read_trace_properties(context.definition.properties, context.diagnostics));
  if (properties.destination == Destination::kFile && properties.file_path.empty()) {
    // Real flows have such nodes, and the product runs them.
    Status status = base::make_error(errors::kNoTraceFile, {context.definition.label});
    context.diagnostics.warning(context.definition.properties.position, "MS1865",
                                status.error().text);
    properties.destination = Destination::kNone;
  }
  EsqlFacts facts = MS_TRY(make_esql_facts(context));
  std::vector<Piece> pieces =
      MS_TRY(parse_pattern(properties.pattern, context, facts.runtime->zone()));
  std::string file = common::map_path(properties.file_path, facts.application->drives);
  return std::unique_ptr<flow::Node>(new Trace(std::move(properties), std::move(file),
                                               std::move(facts), std::move(pieces),
                                               context.services.find<flow::TraceSink>()));
}

}  // namespace millstream::nodes::compute
