// The communicator of a cluster, and messages over it. Lives in the plug-in. One thread at a time: the one
// that made it (MPI_THREAD_FUNNELED).
//
// Begins MPI, and ends it when destroyed in good order (cluster.h). All waiting is done in one place,
// finish(), which gives the core away: ranks may be more than cores, and a rank's other threads want theirs.
// So collective calls are those of MPI that do not block.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"

namespace slide {

// Requests that are waited for together; none when nothing is under way.
struct Requests {
  std::vector<MPI_Request> handles;
  std::vector<MPI_Status> statuses;
  std::vector<int> bytes;  // to be received, -1 where nothing is
};

class MpiLink {
 public:
  static constexpr int kTags = 32767;  // tags lie below, in every MPI

  // Messages of MPI have at most `longest_message` bytes.
  explicit MpiLink(std::size_t longest_message);
  ~MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string name() const;
  std::size_t longest() const { return longest_; }
  MPI_Comm communicator() const { return communicator_; }

  // Begins to send and receive the parts of all other ranks. Messages of one tag follow each other in order.
  void post(Requests& requests, Cluster::ConstParts out, Cluster::Parts in, int tag);
  // Looks once, which makes progress of everything under way.
  bool done(Requests& requests);
  void finish(Requests& requests);
  void finish(MPI_Request request);
  // As Cluster::all_gather.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  // Throws Error on all ranks if any has a reason: that of the first, with its name. Collective.
  void agree(const std::string& reason);

  // Calls f(begin, count) for the pieces of so many bytes.
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
  int exceptions_;  // on their way up when this was made
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  int looks_ = 0;  // before a rank that waits sleeps
  std::string host_;
  Requests single_;  // of a collective call
};

}  // namespace slide
