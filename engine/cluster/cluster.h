// Interface to the processes (ranks) that train one network together: asynchronous all-to-all exchanges of
// bytes, collective calls, and shared files.
//
// Every rank makes the same calls in the same order, except poll(), traffic() and abort(); a rank that omits
// a call blocks the others forever. So a rank that fails alone must call abort(); where all ranks fail
// equally, each may throw. One thread at a time. A transport failure is an Error, after which only abort()
// may be called.
//
// Lifetime: a Cluster is the last object of its process. Normal destruction synchronises with the other
// ranks; destruction during stack unwinding does not, and the launcher ends the other ranks when this process
// exits. Most launchers do that (`srun` with --kill-on-bad-exit), so abort() is preferable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace slide {

// A file that all ranks write concurrently, each its own ranges. Destruction before close() leaves a partial
// file, so use a temporary name.
class SharedFile {
 public:
  virtual ~SharedFile() = default;
  // Writes `bytes` at `offset`; not collective. close() reports a failure.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Flushes the file to disk; collective. Throws Error on every rank where any write of any rank failed.
  virtual void close() = 0;
};

class Cluster {
 public:
  using Parts = std::span<const std::span<std::byte>>;             // one per rank, possibly empty
  using ConstParts = std::span<const std::span<const std::byte>>;  // the same, read-only

  virtual ~Cluster() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // For messages: "rank 2 of 4 (host)", ranks from 0.
  virtual std::string name() const = 0;

  // Starts an exchange: sends out[q] to rank q and receives in[q] from rank q; returns at once. Sizes agree
  // on both sides; the own part is copied. `channel` >= 0 identifies the exchange, equally on all ranks, and
  // is free again after wait(). The memory of all parts must stay valid, out unmodified and in unread, until
  // wait(channel) returns; the two lists need not.
  virtual void start(int channel, ConstParts out, Parts in) = 0;
  // Waits for the exchange of `channel`; returns at once where there is none.
  virtual void wait(int channel) = 0;
  // Makes progress on pending exchanges; cheap.
  virtual void poll() = 0;

  // Gathers every rank's `mine`, of equal size, in rank order into `all`.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  // Copies the bytes of rank `root` to every rank; equal sizes.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  virtual void barrier() = 0;
  // Ends all ranks immediately with exit status `code`, without destructors.
  [[noreturn]] virtual void abort(int code) = 0;

  // Creates an empty file for writing by all ranks; collective. Throws Error on every rank where any rank
  // cannot open it.
  virtual std::unique_ptr<SharedFile> create(const std::string& path) = 0;

  // Traffic of this rank since its start. Bytes are payload to other ranks. A message is one nonempty part;
  // all_gather counts one per other rank, broadcast one per other rank on its root.
  struct Traffic {
    std::uint64_t bytes_sent = 0;
    std::uint64_t messages = 0;
    double seconds_waited = 0;  // in wait, all_gather, broadcast and barrier
  };
  virtual Traffic traffic() const = 0;
};

// Longer messages are split into pieces of this many bytes; MPI counts in int.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 30;

// Opens the cluster of this process: Alone (alone.h), or with an MPI launcher the plug-in slide_mpi.so: the
// file named by SLIDE_MPI_PLUGIN, else the one beside the program or in its installed library folder. Call
// once per process. Throws InputError where the plug-in is missing, has another version, or uses another MPI
// than the launcher. Defined in open_cluster.cpp.
std::unique_ptr<Cluster> open_cluster(std::size_t longest_message = kLongestMessage);

}  // namespace slide
