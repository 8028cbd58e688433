#include "engine/run/run_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

[[noreturn]] void fail_write(const std::string& path) {
  fail_run("{}: cannot be written ({}); check the folder, its permissions and the space on its disk", path,
           std::strerror(errno));
}

// "train", "test" or "validation" for events with numbers over the course of a run, else empty.
std::string_view part_of(const nlohmann::ordered_json& event) {
  const std::string kind = event.is_object() ? event.value("event", "") : "";
  return kind == "epoch" ? "train" : kind == "eval" ? "test" : kind == "validation" ? "validation" : "";
}

// All numbers of an event, also of objects within, under tags such as "train/loss".
void append_scalars(std::vector<EventFile::Scalar>& scalars, const std::string& tag,
                    const nlohmann::ordered_json& event) {
  for (const auto& [key, value] : event.items()) {
    if (value.is_object()) append_scalars(scalars, tag + '/' + key, value);
    if (!value.is_number() || key == "epoch" || key == "step" || key == "samples") continue;
    scalars.emplace_back(tag + '/' + key, value.get<double>());
  }
}

void add_event(EventFile& file, const nlohmann::ordered_json& event) {
  std::vector<EventFile::Scalar> scalars;
  append_scalars(scalars, std::string(part_of(event)), event);
  file.add(static_cast<double>(std::time(nullptr)), event.value("samples", std::int64_t{0}), scalars);
}

}  // namespace

RunLog::RunLog(std::string path, std::vector<std::uint32_t> ks)
    : path_(std::move(path)), ks_(std::move(ks)), file_(std::fopen(path_.c_str(), "we")) {
  if (!file_) fail_write(path_);
  mark_open();
}

RunLog::RunLog(std::string path, std::vector<std::uint32_t> ks, std::uint64_t kept)
    : path_(std::move(path)), ks_(std::move(ks)), file_(std::fopen(path_.c_str(), "ae")) {
  std::error_code error;
  if (!file_) fail_write(path_);
  if (std::filesystem::file_size(path_, error) > kept && !error)
    std::filesystem::resize_file(path_, kept, error);
  if (error) fail_run("{}: cannot be cut to what the checkpoint knows ({})", path_, error.message());
  mark_open();
}

// The lock shows readers that the run is active; the system releases it with the process. Without file locks
// there is no such sign.
void RunLog::mark_open() {
  static_cast<void>(flock(fileno(file_.get()), LOCK_EX | LOCK_NB));
}

bool RunLog::is_open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe has no lock
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return locked;
}

// Opens the event file, and adds the events of the log that it lacks, as after --resume.
void RunLog::also_write_events(const std::string& path) {
  std::vector<nlohmann::ordered_json> past;
  std::ifstream log(path_, std::ios::binary);
  for (std::string line; std::getline(log, line);) {
    if (foreign_json_fault(line)) continue;
    nlohmann::ordered_json event = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!part_of(event).empty()) past.push_back(std::move(event));
  }
  events_.emplace(path, past.size());
  for (std::size_t i = events_->kept(); i < past.size(); ++i) add_event(*events_, past[i]);
}

std::uint64_t RunLog::sync() {
  // EINVAL: the file does not support fsync.
  if (fsync(fileno(file_.get())) != 0 && errno != EINVAL) fail_write(path_);
  std::fseek(file_.get(), 0, SEEK_END);
  return static_cast<std::uint64_t>(std::ftell(file_.get()));
}

void RunLog::write(const RunStart& start) {
  // Code, libraries and small things; stack and allocator of a thread.
  constexpr double kProgramBytes = 10e6, kThreadBytes = 1e5;
  constexpr double kMegabyte = 1024.0 * 1024.0;
  nlohmann::ordered_json groups;
  for (const LabelGroup group : kLabelGroups) {
    const LabelGroups::Part& part = start.groups.part(group);
    groups[name_of(group)] = {
        {"labels", part.labels}, {"least", part.min_samples}, {"most", part.max_samples}};
  }
  nlohmann::ordered_json checksums = {{"train", fmt::format("{:08x}", start.train_labels)}};
  if (start.test_labels) checksums["test"] = fmt::format("{:08x}", *start.test_labels);
  const double program = kProgramBytes + start.threads * kThreadBytes;
  nlohmann::ordered_json event = {
      {"event", "start"},
      {"samples", start.samples},
      {"test_samples", start.test_samples},
      {"features", start.features},
      {"labels", start.labels},
      {"label_checksums", checksums},
      {"load_seconds", start.load_seconds},
      {"label_groups", groups},
      {"planned_mb",
       {{"data", start.data_bytes / kMegabyte},
        {"weights", start.plan.weights() / kMegabyte},
        {"optimizer", start.plan.state() / kMegabyte},
        {"tables", start.plan.tables() / kMegabyte},
        {"neighbours", start.plan.neighbours / kMegabyte},
        {"workspaces", start.plan.workspaces() / kMegabyte},
        {"regression", start.plan.regression / kMegabyte},
        {"patterns", start.plan.patterns / kMegabyte},
        {"learning", start.plan.learning / kMegabyte},
        {"search", start.plan.search / kMegabyte},
        {"program", program / kMegabyte},
        {"total", (start.data_bytes + start.plan.training() + program) / kMegabyte}}}};
  if (start.margin.samples > 0) {
    event["margin"] = {{"share", start.margin.share()},
                       {"samples", start.margin.samples},
                       {"p_at_1_by_sums", start.margin.by_sums},
                       {"p_at_1_by_neighbours", start.margin.by_neighbours}};
  }
  if (!start.validation_by.empty()) {
    event["validation_samples"] = start.validation_samples;
    event["validation_by"] = start.validation_by;
  }
  append(event);
}

void RunLog::write_warning(const std::string& text) {
  append({{"event", "warning"}, {"text", text}});
}

void RunLog::write(const EpochReport& report) {
  const PhaseSeconds& phases = report.phases;
  nlohmann::ordered_json event = {{"event", "epoch"},
                                  {"epoch", report.epoch},
                                  {"step", report.step},
                                  {"samples", report.samples},
                                  {"loss", report.loss},
                                  {"train_seconds", report.train_seconds},
                                  {"setup_seconds", phases.setup},
                                  {"data_seconds", phases.data},
                                  {"hashing_seconds", phases.hashing},
                                  {"forward_seconds", phases.forward},
                                  {"backward_seconds", phases.backward},
                                  {"update_seconds", phases.update},
                                  {"rehash_seconds", phases.rehash},
                                  {"active_mean", report.active_mean},
                                  {"active_fraction", report.active_fraction},
                                  {"samples_per_second", report.samples_per_second},
                                  {"peak_rss_mb", peak_rss_mb()}};
  if (report.sources) {
    const ActiveSources& sources = *report.sources;
    event["active_by_source"] = {{"labels", sources.labels},
                                 {"tables", sources.tables},
                                 {"frequency", sources.frequency},
                                 {"uniform", sources.uniform}};
  }
  if (report.tables) {
    const TableHealth& tables = *report.tables;
    if (tables.recall) event["tables_recall_at_10"] = *tables.recall;
    event["tables_in_full_buckets"] = tables.in_full;
    event["tables_largest_bucket"] = tables.largest;
  }
  if (report.ranks > 1) {
    event["ranks"] = report.ranks;
    event["bytes_sent"] = report.traffic.bytes_sent;
    event["messages"] = report.traffic.messages;
    event["seconds_waited"] = report.traffic.seconds_waited;
  }
  append(event);
}

void RunLog::write(const EvalReport& report) {
  nlohmann::ordered_json event = {{"event", report.validation ? "validation" : "eval"},
                                  {"epoch", report.epoch},
                                  {"samples", report.samples},
                                  {"train_seconds", report.train_seconds},
                                  {"eval_seconds", report.eval_seconds}};
  event.update(eval_measures(report.metrics, ks_));
  if (report.metrics.has_groups()) event["groups"] = group_measures(report.metrics, ks_);
  if (report.validation) event["best"] = report.best;
  append(event);
}

void RunLog::write(const TablesReport& report) {
  const lsh::Occupancy& occupancy = report.occupancy;
  append({{"event", "tables"},
          {"epoch", report.epoch},
          {"samples", report.samples},
          {"layer", report.layer},
          {"buckets", occupancy.buckets},
          {"full_buckets", occupancy.full_buckets},
          {"stored", occupancy.stored},
          {"largest_bucket", occupancy.largest_bucket},
          {"filed", occupancy.filed},
          {"filed_in_full", occupancy.filed_in_full},
          {"histogram", occupancy.histogram}});
}

void RunLog::append(const nlohmann::ordered_json& event) {
  // Warnings quote data, which may be in any encoding.
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) fail_write(path_);
  if (std::fflush(file_.get()) != 0) fail_write(path_);
  if (events_ && !part_of(event).empty()) add_event(*events_, event);
}

// P@k at each k; the other metrics at the smallest or largest k only.
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
  if (!metrics.has_first_hits()) return measures;
  measures[fmt::format("hit_rate_at_{}", largest)] = metrics.hit_rate(largest);
  measures[fmt::format("mrr_at_{}", largest)] = metrics.mrr(largest);
  return measures;
}

nlohmann::ordered_json group_measures(const Metrics& metrics, const std::vector<std::uint32_t>& ks) {
  nlohmann::ordered_json measures;
  if (!metrics.has_groups()) return measures;
  for (const LabelGroup group : kLabelGroups) {
    nlohmann::ordered_json& of = measures[name_of(group)];
    of["positives"] = metrics.positives(group);
    for (const std::uint32_t k : ks) {
      of[fmt::format("recall_at_{}", k)] = metrics.recall(k, group);
      of[fmt::format("p_at_{}", k)] = metrics.precision(k, group);
    }
  }
  return measures;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace slide
