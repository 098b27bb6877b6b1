// base::CredentialCrypto with OpenSSL. Thread: any.
#pragma once
#include "base/credential_crypto.h"

namespace millstream::net {

const base::CredentialCrypto& credential_crypto();

}  // namespace millstream::net
