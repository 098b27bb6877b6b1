#include "text/saslprep.h"

#include <unicode/usprep.h>
#include <unicode/ustring.h>

#include <vector>

#include "text/utf8.h"

namespace millstream::text {
namespace {

constexpr size_t kSaslprepBytesMax = 4096;

// The profile is never closed: it lives as long as the process.
const UStringPrepProfile* saslprep_profile() {
  static const UStringPrepProfile* profile = [] {
    UErrorCode code = U_ZERO_ERROR;
    UStringPrepProfile* p = usprep_openByType(USPREP_RFC4013_SASLPREP, &code);
    return U_SUCCESS(code) ? p : nullptr;
  }();
  return profile;
}

}  // namespace

std::string saslprep(std::string_view s) {
  if (is_ascii(s) || s.size() > kSaslprepBytesMax || !saslprep_profile()) return std::string(s);
  UErrorCode code = U_ZERO_ERROR;
  std::vector<UChar> wide(s.size() + 1), prepared(8 * s.size() + 16);
  int32_t wide_size = 0, prepared_size = 0, size = 0;
  u_strFromUTF8(wide.data(), static_cast<int32_t>(wide.size()), &wide_size, s.data(),
                static_cast<int32_t>(s.size()), &code);
  if (U_SUCCESS(code)) {
    prepared_size =
        usprep_prepare(saslprep_profile(), wide.data(), wide_size, prepared.data(),
                       static_cast<int32_t>(prepared.size()), USPREP_DEFAULT, nullptr, &code);
  }
  std::string out(U_SUCCESS(code) ? 3 * static_cast<size_t>(prepared_size) + 1 : 0, '\0');
  if (U_SUCCESS(code)) {
    u_strToUTF8(out.data(), static_cast<int32_t>(out.size()), &size, prepared.data(), prepared_size,
                &code);
  }
  if (U_FAILURE(code)) return std::string(s);
  out.resize(static_cast<size_t>(size));
  return out;
}

}  // namespace millstream::text
