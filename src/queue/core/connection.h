// One application's connection (hconn): its handles and its unit of work. The verbs are those of
// the MQI, with its options and codes; a call structure belongs to the caller and stays alive until
// the call has ended (it returned something other than pending, or `done` was called).
//
// Several calls may be under way at a time; a unit of work is committed with what has ended.
// destroy: abandon() (or the last reference goes): the unit is backed out, gets that wait end with
// 2009. disconnect() commits first, as MQDISC does.
// Thread: the connection's executor, for calls and callbacks alike.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "queue/core/delivery.h"
#include "queue/core/group.h"
#include "queue/core/name_resolution.h"
#include "queue/core/outcome.h"
#include "queue/core/pubsub.h"
#include "queue/core/queue_manager.h"
#include "queue/core/unit_of_work.h"

namespace millstream::queue {

using Hobj = int32_t;
inline constexpr Hobj kNoObject = -1;

struct OpenCall {
  int32_t object_type = mqi::ot::kQueue;
  std::string object_name;
  std::string queue_manager_name;
  std::string dynamic_name = "AMQ.*";
  std::string alternate_user;
  std::string object_string;     // topics
  std::string selection_string;  // what input and browse see
  int32_t options = 0;
  // --- out ---
  Hobj handle = kNoObject;
  std::string resolved_queue;
  std::string resolved_queue_manager;
  std::string resolved_object_string;
};

struct PutCall {
  mqi::MessageDescriptor md;  // in and out
  int32_t options = 0;        // MQPMO_
  Hobj context = kNoObject;   // a handle opened with save-all-context, for pass context
  Body body;
  std::string properties;  // a mqi::PropertyList's bytes
  std::string origin;
  OriginKind origin_kind = OriginKind::kNone;
  LongIds long_ids;
  int64_t delay_ms = 0;  // delivered no earlier
  // PubLevel: of those subscriptions that match, the highest SUBLEVEL up to it gets a publication.
  int32_t publish_level = 9;
  // --- out ---
  std::string resolved_queue;
  std::string resolved_queue_manager;
};

struct GetCall {
  mqi::MessageDescriptor md;  // in: what to match; out: the message's
  int32_t options = 0;        // MQGMO_
  int32_t match_options = mqi::mo::kMessageId | mqi::mo::kCorrelationId;
  int64_t wait_ms = 0;  // mqi::kUnlimited: for ever
  size_t buffer_bytes = SIZE_MAX;
  Sequence token = 0;  // in: to match; out: the message's
  // Messages that this getter does not take, by token. Null: it takes all.
  std::shared_ptr<const std::vector<Sequence>> passed_over;
  LongIds long_ids;    // in: to match, instead of the descriptor's
  // For getters that do not look at BOTHRESH themselves (other protocols, flows): a message that
  // was backed out that often (or 10 times) is moved to BOQNAME or the dead-letter queue instead.
  bool handles_poison = false;
  // Properties are given beside the body (in `message`), as with a message handle. Without, they
  // are in an MQRFH2 in front of it or left out, as options and PROPCTL say.
  bool takes_properties = true;
  // With MQGMO_SYNCPOINT: the message does not become part of the unit, but is given to this.
  Delivery* delivery = nullptr;
  // --- out ---
  MessageRef message;     // shared; `md` has what is special to this get (backout count, expiry)
  Body body;              // what fits into the buffer
  size_t data_bytes = 0;  // of the whole body, also when it did not fit
  char group_status = ' ';
  char segment_status = ' ';
  char segmentation = ' ';
  bool is_maybe_redelivered = false;
  std::string resolved_queue;
};

// MQSUB. Durable subscriptions need a name; managed ones get their queue made.
struct SubscribeCall {
  int32_t options = 0;      // MQSO_
  std::string object_name;  // of a topic object
  std::string object_string;
  std::string name;
  std::string selection_string;
  std::string user_data;
  std::string alternate_user;
  int32_t priority = -3;         // of its publications; as published
  int32_t level = 1;             // SubLevel, 0 to 9
  bool is_shared = false;        // several handles consume from it, as JMS 2 has it
  bool is_no_local = false;      // not what this connection publishes (ConnectOptions::publisher)
  mqi::Id correlation_id;        // in with set-correlation-id; out
  Hobj destination = kNoObject;  // in when not managed; out when managed
  // --- out ---
  Hobj handle = kNoObject;
  std::string resolved_topic;
};

class GetOperation;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(QueueManager& manager, ConnectOptions options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Outcome open(OpenCall& call, Done done = nullptr);
  Outcome close(Hobj& handle, int32_t options = mqi::co::kNone, Done done = nullptr);
  Outcome put(Hobj handle, PutCall& call, Done done = nullptr);
  Outcome put1(OpenCall& object, PutCall& call, Done done = nullptr);
  Outcome get(Hobj handle, GetCall& call, Done done = nullptr);
  // A durable one is pending until its definition is.
  Outcome subscribe(SubscribeCall& call, Done done = nullptr);
  // MQSUBRQ: what is retained, once more. 2437 when nothing is.
  Outcome request_retained(Hobj subscription, int32_t& count, Done done = nullptr);
  // MQINQ: what the object of a handle that was opened for it is now. 2038.
  struct Inquiry {
    objects::DefinitionPtr definition;  // of the name that was opened
    uint32_t depth = 0;                 // of a local queue
    uint32_t open_input = 0;
    uint32_t open_output = 0;
  };
  Outcome inquire(Hobj handle, Inquiry& out) const;
  // The same by selectors (MQIA_*, MQCA_*), as the MQI has it. 2066, 2067; 2068 is a warning.
  Outcome inquire(Hobj handle, std::span<const int32_t> selectors, std::vector<int32_t>& integers,
                  std::string& characters) const;
  // MQSET: inhibits of queues, triggers of local ones. Pending until the definition is durable.
  // 2040, 2066, 2067, 2068, 2008, 2022, and a reason for each value that is none.
  Outcome set(Hobj handle, std::span<const int32_t> selectors, std::span<const int32_t> integers,
              std::string_view characters, Done done = nullptr);
  // MQSTAT: what became of puts with MQPMO_ASYNC_RESPONSE since the last call. 2430 for other
  // types than 0 (MQSTAT_TYPE_ASYNC_ERROR).
  struct AsyncPuts {
    Outcome outcome;  // of the first that failed, or of the first with a warning
    int32_t successes = 0;
    int32_t warnings = 0;
    int32_t failures = 0;
    std::string object;  // of that outcome
    std::string resolved_queue;
  };
  Outcome status(int32_t type, AsyncPuts& out);
  // Ends a get that waits: its `done` is called with 2033. False: it is not waiting.
  bool cancel(GetCall& call);
  Outcome begin();
  // Becomes part of the unit (client_records.h).
  void add_record(UnitRecord record) {
    (void)unit_owner();
    unit_.records.push_back(std::move(record));
  }
  // A queue of the caller's own making, whatever the user's rights are: shared input and browsing.
  Outcome open_private(const std::string& queue, Hobj& out);
  Outcome commit(Done done = nullptr);
  Outcome back();
  // For protocols whose clients may not notice that something in their transaction was refused:
  // its commit gives 2003 and backs out.
  void mark_rollback_only(int32_t reason) {
    if (unit_.rollback_only == 0) unit_.rollback_only = reason;
  }
  // A delivery becomes part of the unit: Delivery::join() and join_rejected().
  Outcome adopt(Delivery& delivery, int32_t dead_letter_reason);
  Outcome disconnect(Done done = nullptr);
  // Global transactions: the codes of XA (xa.h), xa::kPending when `done` will be called. Between
  // start and end everything under syncpoint belongs to the branch; commit() gives 2012.
  int32_t xa_start(std::string_view xid, int32_t flags);
  int32_t xa_end(std::string_view xid, int32_t flags);
  int32_t xa_prepare(std::string_view xid, XaDone done = nullptr);
  int32_t xa_commit(std::string_view xid, bool is_one_phase, XaDone done = nullptr);
  int32_t xa_rollback(std::string_view xid, XaDone done = nullptr);
  int32_t xa_forget(std::string_view xid, XaDone done = nullptr);
  std::vector<std::string> xa_recover() const;
  void abandon();

  QueueManager& manager() { return manager_; }
  base::Executor& executor() { return *options_.executor; }
  const ConnectOptions& options() const { return options_; }
  uint64_t id() const { return id_; }
  uint64_t publisher() const { return options_.publisher != 0 ? options_.publisher : id_; }
  bool is_open() const { return is_open_; }
  const UnitOfWork& unit() const { return unit_; }
  // For displays; any thread.
  objects::ConnectionStatus status() const;
  std::string external_id() const;  // 24 bytes

 private:
  friend class GetOperation;
  struct Handle : Resolved {
    Hobj id = kNoObject;
    int32_t type = mqi::ot::kQueue;
    int32_t options = 0;
    bool is_input = false;
    bool is_exclusive = false;
    mqi::PropertyControl property_control = mqi::PropertyControl::kCompat;
    std::shared_ptr<const selector::Selector> selector;
    Cursor cursor;
    uint64_t marker = 0;  // of this handle, for marks
    Slot locked = kNoSlot;
    Sequence locked_sequence = 0;
    std::string topic;             // of a topic
    SubscriptionRef subscription;  // of a subscription
    std::unique_ptr<mqi::MessageDescriptor> saved_context;
    GroupState puts;  // logical order of puts, gets and browses
    GroupState gets;
    GroupState browses;
    bool owns_dynamic = false;  // a temporary queue goes with it
    bool is_creator = false;    // of a dynamic queue
  };
  using HandleRef = std::shared_ptr<Handle>;

  // A call that failed, if anybody wants to know (events.h).
  void report_failure(const Outcome& outcome, const std::string& object, ManagerEvent event = {});
  // open.cc
  Outcome open_object(OpenCall& call, Done done);
  Outcome check_open_options(const OpenCall& call) const;
  Outcome open_queue(OpenCall& call, Handle& handle, Done done);
  void create_unknown(const std::string& name);
  Outcome delete_closed(const Handle& handle, int32_t options);
  Outcome attach(Handle& handle);
  void detach(Handle& handle);
  Outcome create_dynamic(OpenCall& call, Handle& handle, Done done);
  Outcome check_access(const OpenCall& call, int32_t type, std::string_view name) const;
  Outcome allow(int32_t type, std::string_view name, uint32_t rights, std::string_view user) const;
  Outcome acting_user(bool is_alternate, std::string_view alternate, std::string_view& user) const;
  HandleRef find_handle(Hobj handle) const;

  // subscribe.cc
  static constexpr int32_t kSubscriptionHandle = 1000;
  Outcome subscribe_to(SubscribeCall& call, Done done);
  Outcome open_topic(OpenCall& call, Handle& handle);
  Outcome publish_to(Handle& handle, PutCall& call, MessageRef message, Done done);
  Outcome open_managed(const NamedQueueRef& object, Hobj& out);
  Outcome resume_subscription(const SubscriptionRef& s, SubscribeCall& call);
  Outcome alter_subscription(const SubscriptionRef& s, SubscribeCall& call, Done done);
  Outcome check_alter(const Subscription& s, const SubscribeCall& call) const;
  Outcome add_subscription_handle(const SubscriptionRef& s, SubscribeCall& call);
  Outcome may_subscribe(const SubscribeCall& call, const std::string& topic,
                        std::string_view& user) const;
  Outcome fill_subscription(const SubscribeCall& call, Subscription& s);
  Outcome create_subscription(std::shared_ptr<Subscription> s, SubscribeCall& call, Done done);
  Outcome define_subscription(const Subscription& s, const SubscribeCall& call, Done done);
  void close_subscription(Handle& handle, int32_t options);

  // put.cc
  Outcome check_put(const Handle& handle, const PutCall& call) const;
  Outcome put_to(Handle& handle, PutCall& call, bool is_put1, Done done);
  Outcome fill_descriptor(const Handle& handle, PutCall& call, MessageRef& message);
  Outcome fill_context(const Handle& handle, PutCall& call) const;
  Outcome take_body_properties(const PutCall& call, Message& message) const;
  Outcome put_message(const QueueRef& queue, MessageRef message, bool in_unit, Done done);
  // A message in pieces: all of them or none.
  Outcome put_pieces(const QueueRef& queue, std::vector<MessageRef> pieces, bool in_unit,
                     Done done);
  Outcome check_unit(size_t messages, uint64_t bytes) const;
  // Runs a unit of its own, or adds to the open one.
  Outcome submit(UnitPut put, bool in_unit, Done done);

  // inquire_set.cc
  Outcome administer(const std::function<void(objects::AdminDone)>& change, Done done);
  void count_async_put(const PutCall& call, const std::string& object, const Outcome& outcome);
  Done watch_async_put(const PutCall& call, std::string object, Done done);

  // Where a handle was within a group before the unit changed it: MQBACK goes back there.
  struct SavedGroup {
    Hobj handle = kNoObject;
    bool is_of_puts = false;
    GroupState state;
  };
  void save_group(const Handle& handle, bool is_of_puts);
  void restore_groups();

  void show_handles();
  void show_unit(bool has_unit);
  uint32_t unit_owner();

  QueueManager& manager_;
  ConnectOptions options_;
  uint64_t id_ = 0;
  bool is_open_ = true;
  UnitOfWork unit_;
  std::vector<SavedGroup> saved_groups_;
  AsyncPuts async_puts_;
  std::string xid_;  // of the branch that it is
  Hobj last_handle_ = 0;
  std::unordered_map<Hobj, HandleRef> handles_;
  std::unordered_map<GetCall*, std::shared_ptr<GetOperation>> waiting_;
  mutable std::mutex display_mutex_;  // guards what displays see
  std::vector<objects::HandleStatus> display_handles_;
  bool display_has_unit_ = false;
  int64_t display_unit_started_ms_ = 0;
  int64_t stamp_hundredths_ = -1;  // of the date and time below
  mqi::FixedText<8> stamp_date_;
  mqi::FixedText<8> stamp_time_;
};

}  // namespace millstream::queue
