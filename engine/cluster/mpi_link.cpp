#include "engine/cluster/mpi_link.h"

#include <sched.h>

#include <chrono>
#include <climits>
#include <exception>
#include <functional>
#include <thread>

#include "engine/cluster/mpi_error.h"
#include "engine/cluster/parts.h"

namespace slide {

namespace {

constexpr std::size_t kReason = 512;  // max bytes of a reason exchanged between ranks
constexpr int kLooks = 2000;          // tests before sleeping: about a millisecond on an idle core
constexpr int kFewLooks = 8;          // the same where ranks share cores

// Waiting strategy: spin with tests, then yield the core, then sleep with growing intervals.
class Patience {
 public:
  explicit Patience(int looks) : looks_(looks) {}
  void pause() {
    if (looks_ > 0) {
      --looks_;
      sched_yield();
    } else {
      std::this_thread::sleep_for(nap_);
      nap_ = std::min(nap_ + nap_ / 8, kLongestNap);
    }
  }

 private:
  using Nap = std::chrono::nanoseconds;
  static constexpr Nap kLongestNap = std::chrono::milliseconds(1);
  int looks_;                                // tests left
  Nap nap_ = std::chrono::microseconds(50);  // grows with the waiting time
};

void initialise() {
  int before = 0;
  check(MPI_Initialized(&before), "be asked for its state");
  if (before != 0) fail_run("a process opens its cluster once");
  int level = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "start");
  if (level < MPI_THREAD_FUNNELED) fail_run("this MPI takes no programs with threads; use another");
}

}  // namespace

MpiLink::MpiLink(std::size_t longest_message)
    : longest_(std::clamp<std::size_t>(longest_message, 1, INT_MAX)),
      exceptions_(std::uncaught_exceptions()) {
  initialise();
  check(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "copy its communicator");
  check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "return errors");
  check(MPI_Comm_rank(communicator_, &rank_), "get the rank");
  check(MPI_Comm_size(communicator_, &size_), "get the number of ranks");
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check(MPI_Get_processor_name(host, &length), "get the host name");
  host_.assign(host, static_cast<std::size_t>(length));
  looks_ = looks_with_neighbours();
}

// Number of tests before sleeping. Few where ranks outnumber the cores they share: each test then takes time
// from the ranks being waited for. Collective.
int MpiLink::looks_with_neighbours() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  const std::string place = host_ + std::string(reinterpret_cast<const char*>(&cores), sizeof cores);
  const std::size_t mine = std::hash<std::string>()(place);
  std::vector<std::size_t> all(static_cast<std::size_t>(size_));
  gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return known && std::ranges::count(all, mine) > CPU_COUNT(&cores) ? kFewLooks : kLooks;
}

MpiLink::~MpiLink() {
  if (std::uncaught_exceptions() > exceptions_) return;  // MPI would wait for ranks that may never come
  MPI_Comm_free(&communicator_);
  MPI_Finalize();
}

std::string MpiLink::name() const {
  return fmt::format("rank {} of {} ({})", rank_, size_, host_);
}

// Starts with the next rank, to spread the load.
void MpiLink::post(Requests& requests, Cluster::ConstParts out, Cluster::Parts in, int tag) {
  for (int i = 1; i < size_; ++i) {
    const int from = (rank_ + size_ - i) % size_;
    receive(requests, in[static_cast<std::size_t>(from)], from, tag);
  }
  for (int i = 1; i < size_; ++i) {
    const int to = (rank_ + i) % size_;
    send(requests, out[static_cast<std::size_t>(to)], to, tag);
  }
}

void MpiLink::receive(Requests& requests, std::span<std::byte> part, int from, int tag) {
  for_pieces(part.size(), [&](std::size_t begin, int bytes) {
    MPI_Request& handle = requests.handles.emplace_back(MPI_REQUEST_NULL);
    check(MPI_Irecv(part.data() + begin, bytes, MPI_BYTE, from, tag, communicator_, &handle), "receive");
    requests.bytes.push_back(bytes);
  });
}

void MpiLink::send(Requests& requests, std::span<const std::byte> part, int to, int tag) {
  for_pieces(part.size(), [&](std::size_t begin, int bytes) {
    MPI_Request& handle = requests.handles.emplace_back(MPI_REQUEST_NULL);
    check(MPI_Isend(part.data() + begin, bytes, MPI_BYTE, to, tag, communicator_, &handle), "send");
    requests.bytes.push_back(-1);
  });
}

// After MPI_ERR_IN_STATUS, the status of each request has its own error.
bool MpiLink::done(Requests& requests) {
  if (requests.handles.empty()) return true;
  const std::size_t n = requests.handles.size();
  requests.statuses.resize(n);
  int all = 0;
  const int code = MPI_Testall(static_cast<int>(n), requests.handles.data(), &all, requests.statuses.data());
  for (std::size_t i = 0; code == MPI_ERR_IN_STATUS && i < n; ++i) {
    const int error = requests.statuses[i].MPI_ERROR;
    if (error != MPI_ERR_PENDING) check(error, "exchange");
  }
  check(code, "exchange");
  if (all == 0) return false;
  check_received(requests);
  requests.handles.clear();
  requests.bytes.clear();
  return true;
}

// MPI itself reports only messages longer than the buffer.
void MpiLink::check_received(Requests& requests) const {
  for (std::size_t i = 0; i < requests.bytes.size(); ++i) {
    int got = requests.bytes[i];
    if (got >= 0) check(MPI_Get_count(&requests.statuses[i], MPI_BYTE, &got), "count");
    if (got != requests.bytes[i]) fail_run("{}: {} bytes came for {}", name(), got, requests.bytes[i]);
  }
}

void MpiLink::finish(Requests& requests) {
  for (Patience patience(looks_); !done(requests);) patience.pause();
}

void MpiLink::finish(MPI_Request request) {
  single_.handles.push_back(request);
  single_.bytes.push_back(-1);
  finish(single_);
}

// Uses point-to-point messages for large data: MPI counts in int, some implementations over all ranks
// together.
void MpiLink::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() <= longest_) {
    const int bytes = static_cast<int>(mine.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, communicator_, &request),
          "gather");
    finish(request);
    return;
  }
  const std::vector<std::span<const std::byte>> out(static_cast<std::size_t>(size_), mine);
  std::vector<std::span<std::byte>> in;
  for (std::size_t q = 0; q < out.size(); ++q) in.push_back(all.subspan(q * mine.size(), mine.size()));
  copy_own_part(out, in, rank_, size_);
  post(single_, out, in, kTags - 1);
  finish(single_);
}

// Exchanges the reasons as texts of kReason bytes, empty without a failure.
void MpiLink::agree(const std::string& reason) {
  std::vector<char> mine(kReason), all(kReason * static_cast<std::size_t>(size_));
  if (!reason.empty()) {
    const std::string named = fmt::format("{} (seen by {})", reason, name());
    std::copy_n(named.begin(), std::min(named.size(), kReason - 1), mine.begin());
  }
  gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  for (std::size_t begin = 0; begin < all.size(); begin += kReason) {
    if (all[begin] != '\0') fail_run("{}", all.data() + begin);
  }
}

}  // namespace slide
