// The message assembly that flows through terminals: Root, LocalEnvironment, Environment and
// ExceptionList, all in one arena with one set of names.
//
// MessageAssembly is a small view (four pointers): a node that changes a tree makes a new one and
// points to it; what it does not replace it passes on. Environment is the same element for the
// whole life of the message. Lifetime: trees live until MessageArena::reset(). Thread: one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tree/domain.h"
#include "tree/edit.h"
#include "tree/element.h"

namespace millstream::tree {

struct MessageAssembly {
  Element* root = nullptr;               // "Root": Properties, headers, body
  Element* local_environment = nullptr;  // "LocalEnvironment"
  Element* environment = nullptr;        // "Environment"
  Element* exception_list = nullptr;     // "ExceptionList"
};

// Names of the four roots, for nodes that make trees for every message.
struct RootNames {
  const base::QName *root, *local_environment, *environment, *exception_list;
};
RootNames intern_root_names(base::NameTable& table);

// Everything one message owns; pooled by the flow's instances.
class MessageArena {
 public:
  explicit MessageArena(std::shared_ptr<const base::NameTable> table)
      : context_(arena_, std::move(table)) {
    find_root_names();
  }
  TreeContext& context() { return context_; }
  base::Arena& arena() { return arena_; }
  // An assembly with four empty trees.
  MessageAssembly make_assembly();
  // For the next message; every pointer into this arena is invalid afterwards.
  void reset(std::shared_ptr<const base::NameTable> table);

 private:
  void find_root_names();

  base::Arena arena_;
  TreeContext context_;
  RootNames root_names_;
  bool are_root_names_shared_ = false;  // in the deployment's table, not made for one message
};

Element* make_root(TreeContext& context, std::string_view name);  // an empty owner-less tree
// The body of the message: the last child of Root that is a body domain, else null. It need not be
// the last child: flows add header folders to a finished message, and those do not hide its body.
// (InputBody and `InputRoot.*[<]` of ESQL are the last child, whatever that is.)
DomainRoot* body_of(Element* root);
DomainRoot* find_domain(Element* root, std::string_view name);

// Bytes of one domain root: the original ones when nothing was modified and the CCSID is the same,
// else its domain's serialise. Appends.
Status serialise_body(TreeContext& context, DomainRoot* body, const SerialiseOptions& options,
                      std::string& out);

// Builds the nested exception elements of `error` under `exception_list` (spec B4).
void append_exception(TreeContext& context, Element* exception_list, const base::Error& error);

}  // namespace millstream::tree
