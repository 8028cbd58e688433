// Checksummed file (summed_file.h) that all ranks write together. Each rank writes the same values, and its
// share of shared arrays (ByteWriter::share); rank 0 writes the common values. The result is the file that a
// single process with all shares would write. It appears under its name when complete; until then it is
// NAME.shared.tmp. Destruction before finish() removes it.
//
// All ranks make the same calls in the same order; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/cluster/cluster.h"

namespace slide {

// Write position of a rank within the shared file.
class SharedPlace {
 public:
  explicit SharedPlace(Cluster& cluster) : cluster_(cluster) {}

  ByteWriter::Shares shares_of(std::uint64_t own) const;
  // Begins a share of `own` bytes at the position that `shares` gives.
  void begin(ByteWriter::Shares shares, std::uint64_t own);
  // Advances by `bytes` written bytes; returns whether a share ended.
  bool advance(std::uint64_t bytes);
  bool in_share() const { return in_share_; }
  std::uint64_t offset() const { return offset_; }
  Cluster& cluster() const { return cluster_; }

 private:
  Cluster& cluster_;
  std::uint64_t offset_ = 0;
  bool in_share_ = false;
  std::uint64_t left_ = 0;  // bytes left of the own share
  std::uint64_t end_ = 0;   // end of all shares
};

// Counts the bytes of such a file.
class SharedCounter final : public ByteWriter {
 public:
  explicit SharedCounter(Cluster& cluster) : place_(cluster) {}
  void write(std::string_view bytes) override { place_.advance(bytes.size()); }
  Shares shares_of(std::uint64_t own) override { return place_.shares_of(own); }
  void share(std::uint64_t bytes) override;
  std::uint64_t count() const { return place_.offset(); }

 private:
  SharedPlace place_;
};

class SharedSummedFile final : public ByteWriter {
 public:
  // Throws Error on every rank where any rank cannot write; so does finish().
  SharedSummedFile(Cluster& cluster, std::string path);

  void write(std::string_view bytes) override;
  Shares shares_of(std::uint64_t own) override { return place_.shares_of(own); }
  void share(std::uint64_t bytes) override;
  // Writes the footer and gives the file its name.
  void finish();

 private:
  struct Unfinished {  // removes the temporary file at destruction, if it still exists; rank 0 acts for all
    std::string name;
    ~Unfinished();
  };
  struct Segment {  // alternating common and shared segments, in file order
    std::uint64_t bytes = 0;
    std::uint64_t crc = 0;
  };
  bool mine() const { return place_.in_share() || place_.cluster().rank() == 0; }
  void flush();
  std::uint32_t sum_of_all() const;
  void name_it();

  SharedPlace place_;
  std::string path_, temporary_;
  Unfinished unfinished_;
  std::unique_ptr<SharedFile> file_;
  std::string buffer_;
  std::uint64_t buffer_at_ = 0;
  std::vector<Segment> segments_{Segment{}};
};

}  // namespace slide
