#include "engine/run_log.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

[[noreturn]] void fail_write(const std::string& path) {
  fail_run("{}: cannot be written ({}); check the folder, its permissions and the space on its disk", path,
           std::strerror(errno));
}

}  // namespace

RunLog::RunLog(std::string path, std::vector<std::uint32_t> ks)
    : path_(std::move(path)), ks_(std::move(ks)), file_(std::fopen(path_.c_str(), "we")) {
  if (!file_) fail_write(path_);
}

RunLog::RunLog(std::string path, std::vector<std::uint32_t> ks, std::uint64_t kept)
    : path_(std::move(path)), ks_(std::move(ks)), file_(std::fopen(path_.c_str(), "ae")) {
  std::error_code error;
  if (!file_) fail_write(path_);
  if (std::filesystem::file_size(path_, error) > kept && !error) std::filesystem::resize_file(path_, kept, error);
  if (error) fail_run("{}: cannot be cut to what the checkpoint knows ({})", path_, error.message());
}

std::uint64_t RunLog::sync() {
  // Some files cannot sync; they say EINVAL.
  if (fsync(fileno(file_.get())) != 0 && errno != EINVAL) fail_write(path_);
  std::fseek(file_.get(), 0, SEEK_END);
  return static_cast<std::uint64_t>(std::ftell(file_.get()));
}

void RunLog::write(const EpochReport& report) {
  append({{"event", "epoch"},
          {"epoch", report.epoch},
          {"step", report.step},
          {"loss", report.loss},
          {"train_seconds", report.train_seconds},
          {"rehash_seconds", report.rehash_seconds},
          {"active_mean", report.active_mean},
          {"samples_per_second", report.samples_per_second},
          {"peak_rss_mb", peak_rss_mb()}});
}

void RunLog::write(const EvalReport& report) {
  nlohmann::ordered_json event = {{"event", report.validation ? "validation" : "eval"},
                                  {"epoch", report.epoch},
                                  {"train_seconds", report.train_seconds},
                                  {"eval_seconds", report.eval_seconds}};
  event.update(eval_measures(report.metrics, ks_));
  if (report.validation) event["best"] = report.best;
  append(event);
}

void RunLog::append(const nlohmann::ordered_json& event) {
  const std::string line = event.dump() + '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) fail_write(path_);
  if (std::fflush(file_.get()) != 0) fail_write(path_);
}

nlohmann::ordered_json eval_measures(const Metrics& metrics, std::vector<std::uint32_t> ks) {
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  const std::uint32_t smallest = ks.front(), largest = ks.back();
  nlohmann::ordered_json measures;
  for (const std::uint32_t k : ks) measures[fmt::format("p_at_{}", k)] = metrics.precision(k);
  measures[fmt::format("ndcg_at_{}", largest)] = metrics.ndcg(largest);
  measures[fmt::format("psp_at_{}", smallest)] = metrics.psp(smallest);
  measures[fmt::format("psp_at_{}", largest)] = metrics.psp(largest);
  measures[fmt::format("recall_at_{}", largest)] = metrics.recall(largest);
  return measures;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace slide
