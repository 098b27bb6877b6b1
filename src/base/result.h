// Status and Result<T>: the only way a function of ours fails. OK costs one null pointer.
//   Status f();            MS_TRY(f());
//   Result<int> g();       int v = MS_TRY(g());
// MS_TRY returns the error from the enclosing function (which returns Status or any Result).
// Thread: any. An error is moved, never copied.
#pragma once
#include <memory>
#include <new>
#include <utility>

#include "base/error.h"

namespace millstream::base {

// Success, or the error that it owns.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success; `return {};` says so
  explicit Status(std::unique_ptr<Error> error) : error_(std::move(error)) {}
  bool ok() const { return !error_; }
  // Only when not ok().
  const Error& error() const { return *error_; }
  Error& error() { return *error_; }
  std::unique_ptr<Error> take_error() { return std::move(error_); }
  // What MS_TRY needs of both classes.
  Status take_status() && { return std::move(*this); }
  void take_value() && {}

 private:
  std::unique_ptr<Error> error_;
};

// A value, or the error why there is none. T is any movable type; the value lives in the Result,
// without an allocation of its own.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that a function returns a value or a Status as it is. The Status is a failed one.
  Result(T value) : has_value_(true) { new (&value_) T(std::move(value)); }
  Result(Status status) : error_(status.take_error()) {}
  Result(Result&& other) noexcept : has_value_(other.has_value_), error_(std::move(other.error_)) {
    if (has_value_) new (&value_) T(std::move(other.value_));
  }
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      this->~Result();
      new (this) Result(std::move(other));
    }
    return *this;
  }
  ~Result() {
    if (has_value_) value_.~T();
  }
  bool ok() const { return has_value_; }
  // Only when ok(); take_value() moves it out.
  T& value() & { return value_; }
  const T& value() const& { return value_; }
  T&& value() && { return std::move(value_); }
  T take_value() && { return std::move(value_); }
  // Only when not ok().
  const Error& error() const { return *error_; }
  Error& error() { return *error_; }
  std::unique_ptr<Error> take_error() { return std::move(error_); }
  Status take_status() && { return Status(std::move(error_)); }

 private:
  bool has_value_ = false;
  union {
    T value_;
  };
  std::unique_ptr<Error> error_;
};

// Builds an error from its record; inserts fill {0}, {1}, ...
Status make_error(const ErrorCode& code, std::vector<Insert> inserts = {});
// The same with the place in a source artifact that is to blame.
Status make_error_at(const ErrorCode& code, Position position, std::vector<Insert> inserts = {});
// `outer` becomes the parent of the error in `inner` (the usual nesting of the exception tree).
Status wrap_error(Status outer, Status inner);

}  // namespace millstream::base

namespace millstream {
using base::Result;
using base::Status;
}  // namespace millstream

#define MS_CONCAT_INNER(a, b) a##b
#define MS_CONCAT(a, b) MS_CONCAT_INNER(a, b)
// A statement expression, so that it can stand where a value is needed. `expr` is evaluated once.
#define MS_TRY(expr)                                                   \
  ({                                                                   \
    auto MS_CONCAT(ms_result_, __LINE__) = (expr);                     \
    if (__builtin_expect(!MS_CONCAT(ms_result_, __LINE__).ok(), 0))    \
      return std::move(MS_CONCAT(ms_result_, __LINE__)).take_status(); \
    std::move(MS_CONCAT(ms_result_, __LINE__)).take_value();           \
  })
