// The MPI communicator of a cluster and its messages. Part of the plug-in. Only the constructing thread may
// call (MPI_THREAD_FUNNELED).
//
// Initialises MPI and finalises it on normal destruction (cluster.h). All waiting happens in finish(), which
// yields the core: there may be more ranks than cores, and other threads of a rank need theirs. Hence
// collective calls use the nonblocking functions of MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"

namespace slide {

// Requests that are completed together; empty when nothing is pending.
struct Requests {
  std::vector<MPI_Request> handles;
  std::vector<MPI_Status> statuses;
  std::vector<int> bytes;  // expected size of each receive; -1 for sends
};

class MpiLink {
 public:
  static constexpr int kTags = 32767;  // tags are below this in every MPI

  // MPI messages have at most `longest_message` bytes.
  explicit MpiLink(std::size_t longest_message);
  ~MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string name() const;
  std::size_t longest() const { return longest_; }
  MPI_Comm communicator() const { return communicator_; }

  // Starts sending and receiving the parts of all other ranks. Messages of one tag keep their order.
  void post(Requests& requests, Cluster::ConstParts out, Cluster::Parts in, int tag);
  // Tests once, which makes progress on all pending requests.
  bool done(Requests& requests);
  void finish(Requests& requests);
  void finish(MPI_Request request);
  // Implements Cluster::all_gather.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  // Collective: throws Error on all ranks where any rank has a nonempty reason: the first such reason, with
  // the rank's name.
  void agree(const std::string& reason);

  // Calls f(begin, count) for the pieces of a message of `bytes` bytes.
  template <class F>
  void for_pieces(std::size_t bytes, F&& f) const {
    for (std::size_t begin = 0; begin < bytes; begin += longest_) {
      f(begin, static_cast<int>(std::min(longest_, bytes - begin)));
    }
  }

 private:
  void receive(Requests& requests, std::span<std::byte> part, int from, int tag);
  void send(Requests& requests, std::span<const std::byte> part, int to, int tag);
  void check_received(Requests& requests) const;

  int looks_with_neighbours();

  std::size_t longest_;
  int exceptions_;  // uncaught exceptions at construction
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  int looks_ = 0;  // tests before a waiting rank sleeps
  std::string host_;
  Requests single_;  // of a collective call
};

}  // namespace slide
