#include "engine/cluster/mpi_file.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "engine/base/descriptor.h"
#include "engine/cluster/mpi_error.h"

namespace slide {

namespace {

constexpr auto kOpenTime = std::chrono::seconds(5);

// Errno of opening `path` for writing, or 0; tries again until kOpenTime is over where it does not exist.
int opening_error(const std::string& path, int flags) {
  const auto end = std::chrono::steady_clock::now() + kOpenTime;
  while (true) {
    const Descriptor file(open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
    if (file.is_open()) return 0;
    const int error = errno;
    if (error != ENOENT || std::chrono::steady_clock::now() > end) return error;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

// MPI files return errors by default, without an error handler.
MpiFile::MpiFile(MpiLink& link, const std::string& path) : link_(link), path_(path) {
  create_on_all_ranks();
  keep_failure("cannot be created", MPI_File_open(link_.communicator(), path_.c_str(),
                                                  MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file_));
  link_.agree(reason_);
  keep_failure("cannot be emptied", MPI_File_set_size(file_, 0));
  link_.agree(reason_);
}

// Rank 0 creates the file; then every other rank must be able to open it.
void MpiFile::create_on_all_ranks() {
  const auto refuse = [&](int error, const char* advice) {
    if (error != 0)
      reason_ = fmt::format("{}: cannot be created ({}); {}", path_, std::strerror(error), advice);
  };
  if (link_.rank() == 0)
    refuse(opening_error(path_, O_CREAT | O_TRUNC),
           "check the folder, its permissions and the space on its disk");
  link_.agree(reason_);
  if (link_.rank() != 0)
    refuse(opening_error(path_, 0), "all processes write it: name a folder on a disk that they share");
  link_.agree(reason_);
}

void MpiFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  link_.for_pieces(bytes.size(), [&](std::size_t begin, int count) {
    if (reason_.empty()) write_piece(offset + begin, bytes.data() + begin, count);
  });
}

// A short write counts as a failure.
void MpiFile::write_piece(std::uint64_t offset, const std::byte* bytes, int count) {
  MPI_Status status;
  const int code = MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), bytes, count, MPI_BYTE, &status);
  keep_failure("cannot be written", code);
  if (code != MPI_SUCCESS) return;
  int written = 0;
  keep_failure("cannot be written", MPI_Get_count(&status, MPI_BYTE, &written));
  if (written != count && reason_.empty()) {
    reason_ = fmt::format("{}: cannot be written ({} of {} bytes); check the space on its disk", path_,
                          written, count);
  }
}

void MpiFile::close() {
  keep_failure("cannot be brought to the disk", MPI_File_sync(file_));
  keep_failure("cannot be closed", MPI_File_close(&file_));
  link_.agree(reason_);
}

// Sets reason_ where `code` is an error and there was none before.
void MpiFile::keep_failure(const char* what, int code) {
  if (code == MPI_SUCCESS || !reason_.empty()) return;
  reason_ = fmt::format("{}: {} ({}); check the folder, its permissions and the space on its disk", path_,
                        what, mpi_text(code));
}

}  // namespace slide
