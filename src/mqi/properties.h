// Message properties: typed values under dotted names, as MQI message handles, JMS and MQRFH2
// folders know them, and the list of them that is kept with a message.
//
// - Names: "color" and "usr.color" are the same property; another first part is the MQRFH2 folder
//   ("jms.Dst", "mcd.Type", "mq_usr.x"). `Root.MQMD.*` and the JMS names are synonyms for fields of
//   the message descriptor; resolve_property() knows them, the list does not hold them.
// - A PropertyList is one flat piece of bytes, so that it is stored with the message as it is and
//   selectors read it in place. Its format has a version; view() of foreign bytes checks all of it.
// Names and values are case-sensitive. Limits: below. Errors carry the MQI reason as their number
// (2442 name, 2473 type, 2478 too big).
// Thread: any; a list that changes belongs to one. Views live as long as the list is unchanged.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::mqi {

enum class PropertyType : uint8_t {
  kNull,
  kBoolean,
  kBytes,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kString,  // UTF-8
};

// A typed value; text and bytes are views.
struct PropertyView {
  PropertyType type = PropertyType::kNull;
  uint32_t size = 0;  // bytes of kString and kBytes
  union {
    int64_t integer = 0;  // kBoolean 0/1 and the integers
    double real;          // both floats
    const char* data;
  };

  bool is_null() const { return type == PropertyType::kNull; }
  bool is_integer() const { return type >= PropertyType::kInt8 && type <= PropertyType::kInt64; }
  bool is_float() const { return type == PropertyType::kFloat32 || type == PropertyType::kFloat64; }
  bool is_string() const { return type == PropertyType::kString; }
  bool is_bytes() const { return type == PropertyType::kBytes; }
  bool is_boolean() const { return type == PropertyType::kBoolean; }
  std::string_view text() const { return {data, size}; }  // kString and kBytes
  // The same type and the same value; NULL equals NULL.
  bool equals(const PropertyView& other) const;

  static PropertyView null() { return {}; }
  static PropertyView boolean(bool b) { return make(PropertyType::kBoolean, b ? 1 : 0); }
  static PropertyView make(PropertyType type, int64_t i) {
    PropertyView v;
    v.type = type;
    v.integer = i;
    return v;
  }
  static PropertyView int32(int32_t i) { return make(PropertyType::kInt32, i); }
  static PropertyView int64(int64_t i) { return make(PropertyType::kInt64, i); }
  static PropertyView float32(float f) {
    PropertyView v = float64(f);
    v.type = PropertyType::kFloat32;
    return v;
  }
  static PropertyView float64(double d) {
    PropertyView v;
    v.type = PropertyType::kFloat64;
    v.real = d;
    return v;
  }
  static PropertyView string(std::string_view s) { return view_of(PropertyType::kString, s); }
  static PropertyView bytes(std::string_view s) { return view_of(PropertyType::kBytes, s); }

 private:
  static PropertyView view_of(PropertyType type, std::string_view s) {
    PropertyView v;
    v.type = type;
    v.size = static_cast<uint32_t>(s.size());
    v.data = s.data();
    return v;
  }
};

// Which field of the message a name stands for. The kMqmd ones give the field as it is in the
// descriptor (integer, trimmed text or bytes), the kJms ones what JMS makes of it.
enum class PropertyId : uint8_t {
  kNamed,  // none: it is looked up in the list, by name
  kMqmdVersion,
  kMqmdReport,
  kMqmdMsgType,
  kMqmdExpiry,
  kMqmdFeedback,
  kMqmdEncoding,
  kMqmdCodedCharSetId,
  kMqmdFormat,
  kMqmdPriority,
  kMqmdPersistence,
  kMqmdMsgId,
  kMqmdCorrelId,
  kMqmdBackoutCount,
  kMqmdReplyToQ,
  kMqmdReplyToQMgr,
  kMqmdUserIdentifier,
  kMqmdAccountingToken,
  kMqmdApplIdentityData,
  kMqmdPutApplType,
  kMqmdPutApplName,
  kMqmdPutDate,
  kMqmdPutTime,
  kMqmdApplOriginData,
  kMqmdGroupId,
  kMqmdMsgSeqNumber,
  kMqmdOffset,
  kMqmdMsgFlags,
  kMqmdOriginalLength,
  kJmsMessageId,      // string: "ID:" and 48 lower-case hexadecimal digits
  kJmsCorrelationId,  // string: jms.Cid, else "ID:" and hexadecimal digits of CorrelId
  kJmsDeliveryMode,   // string: PERSISTENT or NON_PERSISTENT
  kJmsDestination,    // string: jms.Dst
  kJmsExpiration,     // 64-bit: milliseconds since 1970, 0 is never
  kJmsPriority,       // 32-bit
  kJmsRedelivered,    // boolean
  kJmsReplyTo,        // string: jms.Rto, else queue://qmgr/queue
  kJmsTimestamp,      // 64-bit: milliseconds since 1970
  kJmsType,           // string: mcd.Type
  kJmsxAppId,
  kJmsxDeliveryCount,  // 32-bit, from 1
  kJmsxGroupId,        // string: jms.Gid, else "ID:" and hexadecimal digits of GroupId
  kJmsxGroupSeq,
  kJmsxUserId,
  kLastMessageInGroup,  // boolean: JMS_IBM_Last_Msg_In_Group
};

struct ResolvedProperty {
  PropertyId id = PropertyId::kNamed;
  std::string_view name;  // kNamed: as the list has it, without "usr."; part of what was passed
};
// Never fails: what is no synonym is a name.
ResolvedProperty resolve_property(std::string_view name);

// What a selector asks. find_property(): the value; NULL when the message does not have it. The
// view lives until the next call with the same id and name, at least.
class PropertySource {
 public:
  virtual ~PropertySource() = default;
  virtual PropertyView find_property(PropertyId id, std::string_view name) const = 0;
};

// Whether an application may set a property of this name (2442).
Status check_property_name(std::string_view name);

// A list read in place.
class PropertyListView {
 public:
  PropertyListView() = default;
  // Checks every length, type, name and UTF-8; 2421 when it is not a list.
  static Result<PropertyListView> view(std::string_view bytes);
  // For bytes that view() has accepted before (a message of ours): checks nothing.
  static PropertyListView trusted(std::string_view bytes) { return PropertyListView(bytes); }

  // `name` without "usr.". NULL when it is not there; `is_there` tells that from a null value.
  PropertyView find(std::string_view name, bool* is_there = nullptr) const;
  bool empty() const { return bytes_.size() <= kHeaderBytes; }
  uint32_t count() const;
  std::string_view bytes() const { return bytes_; }

  // f(std::string_view name, const PropertyView& value), in the order in which they were set.
  template <typename F>
  void for_each(F&& f) const {
    std::string_view name;
    PropertyView value;
    for (size_t at = kHeaderBytes; next(at, name, value);) f(name, value);
  }

 private:
  friend class PropertyList;
  static constexpr size_t kHeaderBytes = 1;  // the version
  explicit PropertyListView(std::string_view bytes) : bytes_(bytes) {}
  // False at the end; moves `at` behind the entry.
  bool next(size_t& at, std::string_view& name, PropertyView& value) const;
  std::string_view bytes_;
};

class PropertyList {
 public:
  static constexpr size_t kNameBytesMax = 4095;
  static constexpr uint32_t kCountMax = 2'000;
  static constexpr size_t kBytesMax = 16u << 20;

  // Sets or replaces; checks the name as an application's (2442), the value's UTF-8 (2473) and the
  // limits (2478). On failure nothing has changed.
  Status set(std::string_view name, const PropertyView& value);
  // The same for names that only we write: jms.*, mcd.* and whatever a folder of MQRFH2 held.
  Status set_unchecked_name(std::string_view name, const PropertyView& value);
  bool remove(std::string_view name);  // false: it was not there
  void clear() {
    bytes_.clear();
    count_ = 0;
  }

  PropertyView find(std::string_view name, bool* is_there = nullptr) const;
  uint32_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  PropertyListView view() const { return PropertyListView(bytes_); }
  // What to store: empty when there are none.
  const std::string& bytes() const { return bytes_; }
  static Result<PropertyList> from_bytes(std::string bytes);

 private:
  bool remove_stored(std::string_view name);
  std::string bytes_;
  uint32_t count_ = 0;
};

// PROPCTL of a queue, and what an MQGET says about properties.
enum class PropertyControl : uint8_t { kCompat, kNone, kAll, kForce, kV6Compat };
enum class PropertyRequest : uint8_t {
  kAsQueue,
  kNone,      // MQGMO_NO_PROPERTIES
  kInHandle,  // MQGMO_PROPERTIES_IN_HANDLE: without a handle the caller refuses it (2460)
  kForce,     // MQGMO_PROPERTIES_FORCE_MQRFH2
  kCompat,    // MQGMO_PROPERTIES_COMPATIBILITY
};
enum class PropertyDelivery : uint8_t { kDropped, kRfh2, kHandle };
// Nothing for more than one of the options (2046).
Result<PropertyRequest> property_request_of(int32_t get_options);
PropertyDelivery decide_delivery(PropertyControl control, PropertyRequest request, bool has_handle,
                                 PropertyListView properties);

}  // namespace millstream::mqi
