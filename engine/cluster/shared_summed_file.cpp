#include "engine/cluster/shared_summed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/summed_file.h"

namespace slide {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

// `own` of each rank, in rank order. Collective.
template <class T>
std::vector<T> of_all_ranks(Cluster& cluster, std::span<const T> own) {
  std::vector<T> all(own.size() * static_cast<std::size_t>(cluster.size()));
  cluster.all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace

ByteWriter::Shares SharedPlace::shares_of(std::uint64_t own) const {
  const std::vector<std::uint64_t> all = of_all_ranks<std::uint64_t>(cluster_, {&own, 1});
  ByteWriter::Shares shares{0, 0};
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (r < static_cast<std::size_t>(cluster_.rank())) shares.before += all[r];
    shares.all += all[r];
  }
  return shares;
}

void SharedPlace::begin(ByteWriter::Shares shares, std::uint64_t own) {
  end_ = offset_ + shares.all;
  offset_ += shares.before;
  left_ = own;
  in_share_ = own > 0;
  if (!in_share_) offset_ = end_;
}

bool SharedPlace::advance(std::uint64_t bytes) {
  offset_ += bytes;
  if (!in_share_) return false;
  left_ -= bytes;
  in_share_ = left_ > 0;
  if (!in_share_) offset_ = end_;
  return !in_share_;
}

void SharedCounter::share(std::uint64_t bytes) {
  place_.begin(place_.shares_of(bytes), bytes);
}

SharedSummedFile::SharedSummedFile(Cluster& cluster, std::string path)
    : place_(cluster),
      path_(std::move(path)),
      temporary_(path_ + ".shared.tmp"),
      unfinished_{cluster.rank() == 0 ? temporary_ : ""},
      file_(cluster.create(temporary_)) {
  buffer_.reserve(kBufferBytes);
}

// Common bytes are written by rank 0, bytes of a share by their rank; all ranks advance the position. Each
// begin and end of a share starts a segment with its own checksum.
void SharedSummedFile::write(std::string_view bytes) {
  if (bytes.empty()) return;
  if (mine()) {
    Segment& segment = segments_.back();
    segment.bytes += bytes.size();
    segment.crc = crc_32(static_cast<std::uint32_t>(segment.crc), bytes);
    if (buffer_.size() + bytes.size() > kBufferBytes) flush();
    if (buffer_.empty()) buffer_at_ = place_.offset();
    if (bytes.size() > kBufferBytes) {
      file_->write_at(place_.offset(), std::as_bytes(std::span(bytes)));
    } else {
      buffer_.append(bytes);
    }
  }
  if (!place_.advance(bytes.size())) return;
  flush();
  segments_.emplace_back();
}

// Starts the segment of the share. A rank without bytes of its own is past the share at once.
void SharedSummedFile::share(std::uint64_t bytes) {
  flush();
  segments_.emplace_back();
  place_.begin(place_.shares_of(bytes), bytes);
  if (bytes == 0) segments_.emplace_back();
}

void SharedSummedFile::flush() {
  if (!buffer_.empty()) file_->write_at(buffer_at_, std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

// Even segments are common, written by rank 0; odd segments are the ranks' shares, in rank order.
std::uint32_t SharedSummedFile::sum_of_all() const {
  const std::vector<Segment> all = of_all_ranks<Segment>(place_.cluster(), segments_);
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::size_t writers = i % 2 == 0 ? 1 : all.size() / segments_.size();
    for (std::size_t r = 0; r < writers; ++r) {
      const Segment& segment = all[r * segments_.size() + i];
      crc = join_crc_32(crc, static_cast<std::uint32_t>(segment.crc), segment.bytes);
    }
  }
  return crc;
}

// Writes the checksum over all segments and the end marker; rank 0 then gives the file its name.
void SharedSummedFile::finish() {
  put(sum_of_all());
  write(kEndMarker);
  flush();
  file_->close();
  // All ranks learn whether the file has its name now.
  std::uint64_t failed = 0;
  std::string reason;
  try {
    if (place_.cluster().rank() == 0) name_it();
  } catch (const Error& error) {
    failed = 1;
    reason = error.what();
  }
  if (place_.shares_of(failed).all == 0) return;
  fail_run("{}", failed != 0 ? reason : path_ + ": rank 0 could not name it");
}

SharedSummedFile::Unfinished::~Unfinished() {
  if (!name.empty()) std::remove(name.c_str());
}

void SharedSummedFile::name_it() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail_run("{}: cannot be written ({}); check the folder and its permissions", path_, std::strerror(errno));
  unfinished_.name.clear();
  const std::filesystem::path folder = std::filesystem::absolute(path_).parent_path();
  const Descriptor open_folder(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open_folder.is_open()) fsync(open_folder.get());
}

}  // namespace slide
