// Cluster over MPI. Part of the plug-in slide_mpi.so, which depends only on the headers of engine/base. One
// thread at a time.
//
// An exchange is one message from each rank to each other, tagged with its channel, so that several exchanges
// can be pending.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/cluster/cluster.h"
#include "engine/cluster/mpi_link.h"

namespace slide {

class MpiCluster final : public Cluster {
 public:
  explicit MpiCluster(std::size_t longest_message) : link_(longest_message) {}

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  std::string name() const override { return link_.name(); }
  void start(int channel, ConstParts out, Parts in) override;
  void wait(int channel) override;
  void poll() override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  void barrier() override;
  [[noreturn]] void abort(int code) override;
  std::unique_ptr<SharedFile> create(const std::string& path) override;
  Traffic traffic() const override { return traffic_; }

 private:
  void count(std::size_t bytes, int messages);

  MpiLink link_;
  std::map<int, Requests> exchanges_;  // by channel
  Traffic traffic_;
};

}  // namespace slide
