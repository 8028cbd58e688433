// A summed file (summed_file.h) that all ranks write together: each puts the same values and its share of
// what is shared (ByteWriter::share). Rank 0 writes what all have. The file is the one that a single process
// with all shares would write, and appears under its name when it is whole; until then it lies in
// NAME.shared.tmp. An object destroyed before finish() leaves nothing.
//
// All ranks make the same calls in the same order; for one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/cluster/cluster.h"

namespace slide {

// Where in a file that all write the next byte of a rank goes.
class SharedPlace {
 public:
  explicit SharedPlace(Cluster& cluster) : cluster_(cluster) {}

  ByteWriter::Shares shares_of(std::uint64_t own) const;
  // The share begins that `shares` tells of, of `own` bytes.
  void begin(ByteWriter::Shares shares, std::uint64_t own);
  // `bytes` more were put; whether that ended a share.
  bool advance(std::uint64_t bytes);
  bool in_share() const { return in_share_; }
  std::uint64_t offset() const { return offset_; }
  Cluster& cluster() const { return cluster_; }

 private:
  Cluster& cluster_;
  std::uint64_t offset_ = 0;
  bool in_share_ = false;
  std::uint64_t left_ = 0;  // of the share
  std::uint64_t end_ = 0;   // of all shares
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
  // Throws Error on every rank, here and in finish(), when one cannot write.
  SharedSummedFile(Cluster& cluster, std::string path);

  void write(std::string_view bytes) override;
  Shares shares_of(std::uint64_t own) override { return place_.shares_of(own); }
  void share(std::uint64_t bytes) override;
  // Puts the footer and gives the file its name.
  void finish();

 private:
  struct Unfinished {  // removed at the end where it still has this name; rank 0 does it for all
    std::string name;
    ~Unfinished();
  };
  struct Segment {  // of the file, in its order: what all have and the shares by turns
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
