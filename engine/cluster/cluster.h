// The processes (ranks) that train one network together, as a training step sees them: it exchanges bytes
// with the others, by parts that are under way while it computes and by collective calls, and writes files
// with them.
//
// Every rank makes the same calls in the same order, but for poll(), traffic() and abort(); a rank that
// leaves one out lets the others wait for ever. So a rank that fails for itself must call abort(); where all
// fail alike, each may just throw. One thread at a time may call. A failure of the transport is an Error,
// after which only abort() may be called.
//
// A Cluster is the last of its process: destroyed in good order it takes leave of the other ranks and waits
// for them; destroyed by an exception on its way up it does not, and the launcher ends the other ranks when
// this process ends without having taken leave. Most launchers do that, `srun` with --kill-on-bad-exit, so
// abort() is the better way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace slide {

// A file that all ranks write at once, each its own ranges. An object destroyed before close() leaves a part
// of it, so it should not yet lie under the name that readers look for.
class SharedFile {
 public:
  virtual ~SharedFile() = default;
  // Puts `bytes` at `offset` from the start. For one rank alone; what fails is remembered for close().
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Brings the file to the disk; collective. Throws Error on every rank if any write of any rank failed.
  virtual void close() = 0;
};

class Cluster {
 public:
  using Parts = std::span<const std::span<std::byte>>;             // one a rank, may be empty
  using ConstParts = std::span<const std::span<const std::byte>>;  // the same, only read

  virtual ~Cluster() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // For messages: "rank 2 of 4 (host)", ranks from 0.
  virtual std::string name() const = 0;

  // Sends out[q] to rank q, while in[q] comes from rank q. Sizes agree on both sides; the own part is copied.
  // Returns at once. `channel`, from 0 on, numbers exchanges under way, on all ranks alike; it is free again
  // after wait(). What the parts point to stays, out unchanged and in unread, until wait(channel) returns;
  // the two lists need not.
  virtual void start(int channel, ConstParts out, Parts in) = 0;
  // Returns when the exchange of `channel` is done, at once when there is none.
  virtual void wait(int channel) = 0;
  // Makes progress of what is under way; cheap.
  virtual void poll() = 0;

  // Every rank's `mine`, all of one size, in rank order.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  // The bytes of rank `root` on every rank, in memory of the same size.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  virtual void barrier() = 0;
  // Ends all ranks now, with exit status `code` and without destructors.
  [[noreturn]] virtual void abort(int code) = 0;

  // Opens a file for writing by all ranks, empty; collective. Throws Error on every rank if any cannot open
  // it.
  virtual std::unique_ptr<SharedFile> create(const std::string& path) = 0;

  // What this rank has done since the beginning. Bytes are those of the callers, to other ranks: all_gather
  // counts as a message to each, broadcast too, of its root; a message is one part that is not empty.
  struct Traffic {
    std::uint64_t bytes_sent = 0;
    std::uint64_t messages = 0;
    double seconds_waited = 0;  // in wait, all_gather, broadcast and barrier
  };
  virtual Traffic traffic() const = 0;
};

// Longer messages are cut into pieces of so many bytes; MPI counts in int.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 30;

// The cluster that this process was started in: Alone (alone.h), unless a launcher of MPI has started it as
// one of several. Then the plug-in slide_mpi.so is loaded: the file that SLIDE_MPI_PLUGIN names, else one
// beside the program or in the library folder it was installed with. Called once in a process. Throws
// InputError where there is no plug-in, it belongs to another version, or its MPI is not the launcher's. In
// open_cluster.cpp.
std::unique_ptr<Cluster> open_cluster(std::size_t longest_message = kLongestMessage);

}  // namespace slide
