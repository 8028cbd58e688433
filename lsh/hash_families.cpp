#include "lsh/hash_families.h"

#include "engine/base/error.h"
#include "lsh/simhash.h"

namespace slide::lsh {

std::unique_ptr<HashFunctions> make_hash_functions(const HashConfig& config, std::size_t dim,
                                                   std::uint64_t seed) {
  std::unique_ptr<HashFunctions> functions;
  switch (config.family) {
    case HashFamily::kSimhash:
      functions = std::make_unique<Simhash>(config, dim, seed);
      break;
    case HashFamily::kWta:
      functions = make_wta(config, dim, seed);
      break;
    case HashFamily::kDwta:
      functions = make_dwta(config, dim, seed);
      break;
    case HashFamily::kMinhash:
      functions = make_minhash(config, dim, seed);
      break;
  }
  if (!functions) fail_input("hash.family: unknown family {}", static_cast<int>(config.family));
  functions->draw(0);
  return functions;
}

}  // namespace slide::lsh
