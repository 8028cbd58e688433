// Cluster over MPI. Part of the plug-in slide_mpi.so, which depends only on the headers of engine/base. One
// thread at a time.
//
// An exchange is one message from each rank to each other, tagged with its channel, so that several exchanges
// can be pending.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/cluster/cluster.h"
#include "engine/cluster/mpi_error.h"
#include "engine/cluster/mpi_file.h"
#include "engine/cluster/mpi_link.h"
#include "engine/cluster/parts.h"
#include "engine/cluster/plugin.h"

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChannels = MpiLink::kTags - 1;  // one tag per channel; the last tag is reserved for the link

// Adds the time of a scope.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), begin_(Clock::now()) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  Clock::time_point begin_;
};

class MpiCluster final : public Cluster {
 public:
  explicit MpiCluster(std::size_t longest_message) : link_(longest_message) {}

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  std::string name() const override { return link_.name(); }
  // Copies the own part and posts a receive and a send for each other rank.
  void start(int channel, ConstParts out, Parts in) override {
    if (channel < 0 || channel >= kChannels) fail_run("there is no channel {}", channel);
    Requests& requests = exchanges_[channel];
    if (!requests.handles.empty()) fail_run("channel {} is under way", channel);
    copy_own_part(out, in, rank(), size());
    link_.post(requests, out, in, channel);
    for (std::size_t q = 0; q < out.size(); ++q) {
      if (static_cast<int>(q) != rank() && !out[q].empty()) count(out[q].size(), 1);
    }
  }

  void wait(int channel) override {
    const auto found = exchanges_.find(channel);
    if (found == exchanges_.end()) return;
    const Stopwatch watch(traffic_.seconds_waited);
    link_.finish(found->second);
  }

  void poll() override {
    for (auto& [channel, requests] : exchanges_) {
      if (!link_.done(requests)) return;
    }
  }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    check_gather(mine, all, size());
    const Stopwatch watch(traffic_.seconds_waited);
    link_.gather(mine, all);
    if (!mine.empty()) count(mine.size(), size() - 1);
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    const Stopwatch watch(traffic_.seconds_waited);
    link_.for_pieces(bytes.size(), [&](std::size_t begin, int piece) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Ibcast(bytes.data() + begin, piece, MPI_BYTE, root, link_.communicator(), &request),
            "broadcast");
      link_.finish(request);
    });
    if (rank() == root && !bytes.empty()) count(bytes.size(), size() - 1);
  }

  void barrier() override {
    const Stopwatch watch(traffic_.seconds_waited);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(link_.communicator(), &request), "wait for all ranks");
    link_.finish(request);
  }

  [[noreturn]] void abort(int code) override {
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

  std::unique_ptr<SharedFile> create(const std::string& path) override {
    return std::make_unique<MpiFile>(link_, path);
  }

  Traffic traffic() const override { return traffic_; }

 private:
  void count(std::size_t bytes, int messages) {
    traffic_.bytes_sent += std::uint64_t{bytes} * static_cast<std::uint64_t>(messages);
    traffic_.messages += static_cast<std::uint64_t>(messages);
  }

  MpiLink link_;
  std::map<int, Requests> exchanges_;  // by channel
  Traffic traffic_;
};

}  // namespace

}  // namespace slide

// The plug-in's exported function: OpenMpi in plugin.h.
extern "C" __attribute__((visibility("default"))) slide::Cluster* slide_open_mpi(
    const char* version, std::size_t longest_message) {
  if (std::string_view(version) != SLIDE_VERSION) {
    slide::fail_input("{} is of slide {}, the program is of {}; install both together", slide::kPluginFile,
                      SLIDE_VERSION, version);
  }
  return new slide::MpiCluster(longest_message);
}
