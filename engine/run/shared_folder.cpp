#include "engine/run/shared_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/base/descriptor.h"
#include "engine/base/error.h"

namespace slide {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(5);
constexpr int kNoFolder = -1;  // in place of an errno: rank 0 has no folder, and need not have one

// RunFolder::tidy() removes what a killed process leaves under this name.
fs::path token_in(const fs::path& folder, std::uint64_t number) {
  return folder / fmt::format("config.toml.shared-{:016x}.tmp", number);
}

// The token of rank 0, with the folders made for it; all gone at destruction.
class Token {
 public:
  // Creates the folder with `create`, and in it an empty file; error() tells whether that worked. The
  // destructor removes the file and new folders.
  Token(const fs::path& folder, std::uint64_t number, bool create) : path_(token_in(folder, number)) {
    std::error_code error;
    if (!fs::exists(folder, error)) {
      if (!create) {
        error_ = kNoFolder;
        return;
      }
      for (fs::path part = folder; !part.empty() && !fs::exists(part, error); part = part.parent_path())
        made_.push_back(part);
      fs::create_directories(folder, error);
    }
    const Descriptor file(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file.is_open()) error_ = errno;
  }
  ~Token() {
    std::error_code ignored;
    if (error_ == 0) fs::remove(path_, ignored);
    for (const fs::path& folder : made_) fs::remove(folder, ignored);  // one that is not empty stays
  }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  int error() const { return error_; }  // errno, kNoFolder or 0

 private:
  fs::path path_;
  std::vector<fs::path> made_;  // innermost first
  int error_ = 0;
};

// Opens the token, and before it its folders, for which NFS clients then ask the server. Returns errno or 0.
int look_for(const fs::path& token) {
  const fs::path folder = token.parent_path();
  for (const fs::path& opened : {folder.parent_path(), folder})
    const Descriptor asked(open(opened.empty() ? "." : opened.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Descriptor file(open(token.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() ? 0 : errno;
}

int wait_for(const fs::path& token) {
  const auto end = steady_clock::now() + kPatience;
  while (true) {
    const int error = look_for(token);
    if (error == 0 || steady_clock::now() > end) return error;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

// Rank 0 writes a file of random name; the others look for it, and all compare the results.
void require_shared_folder(Cluster& cluster, const fs::path& folder, bool create) {
  std::random_device random;
  std::array<std::uint64_t, 2> message = {std::uint64_t{random()} << 32 | random(), 0};
  std::unique_ptr<const Token> token;
  if (cluster.rank() == 0) {
    token = std::make_unique<const Token>(folder, message[0], create);
    message[1] = static_cast<std::uint64_t>(token->error());
  }
  cluster.broadcast(std::as_writable_bytes(std::span(message)), 0);
  const int first = static_cast<int>(message[1]);
  if (first == kNoFolder) return;
  if (first != 0)
    fail_run("{}: the folder cannot be written ({}); give another --out", folder.string(),
             std::strerror(first));
  const int own = cluster.rank() == 0 ? 0 : wait_for(token_in(folder, message[0]));
  std::vector<int> all(static_cast<std::size_t>(cluster.size()));
  cluster.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == 0) continue;
    fail_input(
        "{}: rank {} of {} cannot open there what rank 0 writes ({}), and all write the model together; name "
        "a "
        "folder on a disk that all processes share",
        folder.string(), rank, all.size(), std::strerror(all[rank]));
  }
}

}  // namespace slide
