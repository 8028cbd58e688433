#include "engine/model/model_input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/unpack.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"

namespace slide {

namespace {

constexpr double kFreelyRead = 1 << 26;  // bytes of a model that need no look at free memory
constexpr std::uint32_t kOldestVersion = 1;
constexpr std::uint32_t kPassedOver = 8;  // never released: feature crosses had linear-term weights

// Copies the content of a pipe or compressed file to a memory file.
ModelInput file_of_stream(const std::string& path) {
  const FileBytes stream(path);
  ModelInput input{Descriptor(memfd_create("model", MFD_CLOEXEC)), stream.text().size()};
  const auto fail = [&] { fail_run("{}: it cannot be held ({})", path, std::strerror(errno)); };
  if (!input.file.is_open()) fail();
  for (std::string_view rest = stream.text(); !rest.empty();) {
    const ssize_t written = write(input.file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return input;
}

}  // namespace

// Opens a model for reads at any offset: pipes and compressed files are copied to memory first.
ModelInput open_model_input(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 && errno == ENOENT) {
    fail_input("{}: there is no such model; name the folder of a run of 'slide train', or a model file",
               path);
  }
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
    fail_input("{}: this is a device and no model; name the folder of a run, or a model file", path);
  if (!S_ISREG(status.st_mode)) return file_of_stream(path);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    fail_input("{}: cannot be opened ({}); check the path and its permissions", path, std::strerror(errno));
  }
  std::array<char, kPackedMagicBytes> start{};
  const ssize_t got = read_at(file.get(), start.data(), start.size(), 0);
  if (got == static_cast<ssize_t>(start.size()) && is_packed({start.data(), start.size()}))
    return file_of_stream(path);
  return {std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

void require_regular_model(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    fail_input("{}: this is no regular file; name the folder of a run, or a model file", path);
}

Descriptor hold_stream(std::string& path) {
  if (path.empty() || !is_stream(path)) return {};
  Descriptor copy = open_model_input(path).file;
  path = fmt::format("/proc/self/fd/{}", copy.get());
  return copy;
}

bool looks_like_model(const std::string& path) {
  if (is_stream(path)) return false;
  std::ifstream file(path, std::ios::binary);
  char start[kModelMagic.size()] = {};
  file.read(start, sizeof start);
  return file && std::string_view(start, sizeof start) == kModelMagic;
}

void require_model_room(std::uint64_t file_bytes, bool state_stored, const std::string& path) {
  const double needed = double(file_bytes) / (state_stored ? 8 : 1);
  if (needed < kFreelyRead) return;
  const std::optional<double> free = free_memory();
  if (free && needed > *free) {
    fail_input(
        "{}: the model needs {:.0f} MB of memory or more, and {:.0f} MB are free; use a smaller form of "
        "it ('slide convert --weights int8')",
        path, needed / 1e6, *free / 1e6);
  }
}

// Checks magic bytes, version and length against the file's; returns the version.
std::uint32_t check_model_header(std::string_view header, std::uint64_t bytes, const std::string& path) {
  if (header.substr(0, kModelMagic.size()) !=
      kModelMagic.substr(0, std::max<std::size_t>(1, header.size()))) {
    fail_input("{}: this is no slide model; the model comes first: name the folder of a run, or a model file",
               path);
  }
  if (header.size() < kModelHeaderBytes) {
    fail_input("{}: the model is cut off after {} bytes; copy it again or train again", path, bytes);
  }
  ByteReader in(header.substr(kModelMagic.size()), "", "");
  const auto version = in.get<std::uint32_t>();
  if (version < kOldestVersion || version > kModelVersion || version == kPassedOver) {
    fail_input(
        "{}: the model has format version {}, this program reads versions {} to {} but {}; train again", path,
        version, kOldestVersion, kModelVersion, kPassedOver);
  }
  in.get<std::uint32_t>();  // flags
  const auto length = in.get<std::uint64_t>();
  if (bytes < length) {
    fail_input("{}: the model is cut off: {} of {} bytes; copy it again or train again", path, bytes, length);
  }
  if (bytes > length) {
    fail_input("{}: {} bytes follow the model of {}; copy it again or train again", path, bytes - length,
               length);
  }
  return version;
}

OpenedModel open_model(ModelInput input, const std::string& path) {
  std::array<char, kModelHeaderBytes> header{};
  const ssize_t got = read_at(input.file.get(), header.data(), header.size(), 0);
  if (got < 0) fail_input("{}: cannot be read ({}); check the file and its disk", path, std::strerror(errno));
  OpenedModel opened;
  opened.bytes = input.bytes;
  opened.version = check_model_header({header.data(), static_cast<std::size_t>(got)}, opened.bytes, path);
  opened.in = std::make_unique<SummedReader>(std::move(input.file), opened.bytes,
                                             path + ": the model is damaged", "copy it again or train again");
  opened.in->check_end();
  opened.in->skip(kModelFlagsAt);
  return opened;
}

}  // namespace slide
