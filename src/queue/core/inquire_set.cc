// MQINQ and MQSET by selectors, and MQSTAT.
#include <optional>

#include "queue/core/connection.h"
#include "queue/core/object_selectors.h"

namespace millstream::queue {
namespace {

namespace reason = mqi::reason;
using objects::Attr;

constexpr size_t kSelectorsMax = 256;
constexpr int32_t kNotApplicable = -1;  // MQIAV_NOT_APPLICABLE

// The reason of a value that is none; 0 when it is one.
int32_t set_value_error(Attr attribute, int32_t value) {
  bool is_switch = value == 0 || value == 1;
  switch (attribute) {
    case Attr::kGet:
    case Attr::kPut:
      return is_switch ? 0 : reason::kInhibitValueError;
    case Attr::kTrigger:
      return is_switch ? 0 : reason::kTriggerControlError;
    case Attr::kTrigtype:
      return value >= 0 && value <= 3 ? 0 : reason::kTriggerTypeError;
    case Attr::kTrigmpri:
      return value >= 0 && value <= mqi::kPriorityMax ? 0 : reason::kTriggerMsgPriorityError;
    case Attr::kTrigdpth:
      return value >= 1 && value <= 999'999'999 ? 0 : reason::kTriggerDepthError;
    default:
      return reason::kSelectorError;
  }
}

bool is_settable(Attr attribute) {
  return attribute == Attr::kTrigdata || set_value_error(attribute, 1) != reason::kSelectorError;
}

}  // namespace

// What does not fit the type of the object is -1 or stars, and a warning.
Outcome Connection::inquire(Hobj id, std::span<const int32_t> selectors,
                            std::vector<int32_t>& integers, std::string& characters) const {
  integers.clear();
  characters.clear();
  Inquiry object;
  if (Outcome o = inquire(id, object); !o.is_ok()) return o;
  if (object.definition == nullptr) return Outcome::failed(reason::kQDeleted);
  if (selectors.size() > kSelectorsMax) return Outcome::failed(reason::kSelectorLimitExceeded);
  const objects::Definition& definition = *object.definition;
  uint8_t type = object_type_bit(definition.type());
  Outcome outcome;
  for (int32_t wanted : selectors) {
    if (!is_object_selector(wanted)) return Outcome::failed(reason::kSelectorError);
    const ObjectSelector* s = find_object_selector(wanted, type);
    if (s == nullptr) {
      outcome = Outcome::warning(reason::kSelectorNotForType);
      const ObjectSelector& other = *find_object_selector(wanted, 0xFF);
      if (other.length == 0) {
        integers.push_back(kNotApplicable);
      } else {
        characters.append(other.length, '*');
      }
    } else if (s->length > 0) {
      std::string text = selected_text(*s, definition);
      text.resize(s->length, ' ');
      characters += text;
    } else if (s->source == ObjectSelector::Source::kDepth) {
      integers.push_back(static_cast<int32_t>(object.depth));
    } else if (s->source == ObjectSelector::Source::kOpenInput) {
      integers.push_back(static_cast<int32_t>(object.open_input));
    } else if (s->source == ObjectSelector::Source::kOpenOutput) {
      integers.push_back(static_cast<int32_t>(object.open_output));
    } else {
      integers.push_back(static_cast<int32_t>(selected_number(*s, definition)));
    }
  }
  return outcome;
}

Outcome Connection::set(Hobj id, std::span<const int32_t> selectors,
                        std::span<const int32_t> integers, std::string_view characters, Done done) {
  if (!is_open_) return Outcome::failed(reason::kHconnError);
  HandleRef handle = find_handle(id);
  if (handle == nullptr) return Outcome::failed(reason::kHobjError);
  if ((handle->options & mqi::oo::kSet) == 0) return Outcome::failed(reason::kNotOpenForSet);
  if (selectors.size() > kSelectorsMax) return Outcome::failed(reason::kSelectorLimitExceeded);
  objects::DefinitionPtr seen =
      handle->object == nullptr
          ? nullptr
          : manager_.admin().catalogue().find(objects::ObjectFamily::kQueue, handle->object->name);
  if (seen == nullptr) return Outcome::failed(reason::kQDeleted);
  objects::Definition changed = *seen;
  for (int32_t wanted : selectors) {
    const ObjectSelector* s = find_object_selector(wanted, object_type_bit(changed.type()));
    if (s == nullptr && is_object_selector(wanted)) {
      return Outcome::failed(reason::kSelectorNotForType);
    }
    bool can_be = s != nullptr && s->source == ObjectSelector::Source::kAttribute &&
                  is_settable(s->attribute);
    if (!can_be) return Outcome::failed(reason::kSelectorError);
    if (s->length > 0) {
      if (characters.size() < s->length) return Outcome::failed(reason::kCharAttrsTooShort);
      changed.set_text(s->attribute, std::string(trim_name(characters.substr(0, s->length))));
      characters.remove_prefix(s->length);
      continue;
    }
    if (integers.empty()) return Outcome::failed(reason::kIntAttrCountTooSmall);
    if (int32_t error = set_value_error(s->attribute, integers.front()); error != 0) {
      return Outcome::failed(error);
    }
    changed.set_number(s->attribute, integers.front());
    integers = integers.subspan(1);
  }
  if (changed.same_attributes(*seen)) return Outcome::ok();
  constexpr int32_t kOriginMqset = 4;
  return administer(
      [&](objects::AdminDone changed_done) {
        manager_.admin().alter(std::move(seen), std::move(changed), true, std::move(changed_done),
                               {options_.user, kOriginMqset});
      },
      std::move(done));
}

Outcome Connection::administer(const std::function<void(objects::AdminDone)>& change, Done done) {
  struct Answer {
    bool is_inline = true;
    Outcome outcome = Outcome::pending();
  };
  auto answer = std::make_shared<Answer>();
  base::Executor* executor = options_.executor;
  change([answer, executor, done = std::move(done)](const objects::AdminResult& r) {
    Outcome outcome = r.ok() ? Outcome::ok() : Outcome::failed(r.reason);
    if (answer->is_inline) {
      answer->outcome = outcome;
    } else if (done) {
      executor->post([done, outcome] { done(outcome); });
    }
  });
  answer->is_inline = false;
  return answer->outcome;
}

void Connection::count_async_put(const PutCall& call, const std::string& object,
                                 const Outcome& outcome) {
  if (outcome.is_ok()) {
    ++async_puts_.successes;
    return;
  }
  ++(outcome.is_warning() ? async_puts_.warnings : async_puts_.failures);
  // The first failure stays; a warning gives way to it.
  if (async_puts_.outcome.is_failed() || (outcome.is_warning() && !async_puts_.outcome.is_ok())) {
    return;
  }
  async_puts_.outcome = outcome;
  async_puts_.object = object;
  async_puts_.resolved_queue = call.resolved_queue;
}

Done Connection::watch_async_put(const PutCall& call, std::string object, Done done) {
  std::weak_ptr<Connection> self = weak_from_this();
  std::string resolved = call.resolved_queue;
  return [self, object = std::move(object), done = std::move(done)](const Outcome& outcome) {
    if (auto connection = self.lock()) connection->count_async_put({}, object, outcome);
    if (done) done(outcome);
  };
}

Outcome Connection::status(int32_t type, AsyncPuts& out) {
  if (!is_open_) return Outcome::failed(reason::kHconnError);
  if (type != 0) return Outcome::failed(reason::kStatTypeError);
  out = std::exchange(async_puts_, {});
  return Outcome::ok();
}

}  // namespace millstream::queue
