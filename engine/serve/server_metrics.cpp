#include "engine/serve/server_metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "engine/config/spellings.h"

namespace slide::serve {

namespace {

constexpr const char* kNames[] = {"/predict", "/similar", "/", "/health", "/ready", "/metrics", "other"};

const char* name_of(ServerMetrics::Endpoint endpoint) {
  return kNames[static_cast<std::size_t>(endpoint)];
}

// Resident memory of the process; 0 where unknown.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Escapes a label value for the Prometheus format.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    result += c == '\n' ? "\\n" : std::string(1, c);
  }
  return result;
}

class Text {
 public:
  void head(const char* name, const char* type, const char* help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class T>
  void value(const char* name, const std::string& labels, T number) {
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", name, labels.empty() ? "" : "{" + labels + "}",
                   number);
  }
  template <class T>
  void single(const char* name, const char* type, const char* help, T number) {
    head(name, type, help);
    value(name, "", number);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_answers(Text& out, const AnswerMetrics& answers) {
  out.head("slide_top_score", "histogram", "The highest probability of each sample's labels.");
  std::uint64_t scored = 0;
  for (std::size_t b = 0; b <= AnswerMetrics::kScores.size(); ++b) {
    scored += answers.top(b);
    const bool last = b == AnswerMetrics::kScores.size();
    out.value("slide_top_score_bucket",
              last ? "le=\"+Inf\"" : fmt::format("le=\"{}\"", AnswerMetrics::kScores[b]), scored);
  }
  out.value("slide_top_score_sum", "", answers.top_sum());
  out.value("slide_top_score_count", "", scored);
  out.single("slide_unknown_features_total", "counter",
             "Values of features, or words, that the model does not know.", answers.unknown());
  out.single("slide_empty_answers_total", "counter", "Samples answered without a label.", answers.empty());
}

void add_model(Text& out, const ServedModel& model) {
  out.single("slide_labels_used", "gauge", "Distinct labels answered since the model was loaded.",
             model.labels_used());
  out.head("slide_model_info", "gauge", "The model that is served.");
  out.value("slide_model_info",
            fmt::format("fingerprint=\"{}\",path=\"{}\",inference=\"{}\"", model.fingerprint(),
                        escaped(model.path()), spelling(model.usual_inference())),
            1);
  out.single("slide_model_load_seconds", "gauge", "Time that loading the model took.", model.load_seconds());
  const double loaded = std::chrono::duration<double>(model.loaded_at().time_since_epoch()).count();
  out.single("slide_model_loaded_timestamp_seconds", "gauge", "When the model was loaded.", loaded);
}

}  // namespace

// Counts the time in the smallest bucket that holds it.
void ServerMetrics::add_request(Endpoint endpoint, unsigned code, double seconds) {
  ++requests_[{endpoint, code}];
  Latency& latency = latency_[endpoint];
  ++latency.count;
  latency.sum += seconds;
  for (std::size_t b = 0; b < kBounds.size(); ++b) {
    if (seconds <= kBounds[b]) {
      ++latency.within[b];
      break;
    }
  }
}

std::string ServerMetrics::text(const ServedModel& model, const ByteBudget& waiting) const {
  Text out;
  out.head("slide_requests_total", "counter", "Requests answered.");
  for (const auto& [key, count] : requests_) {
    out.value("slide_requests_total",
              fmt::format("endpoint=\"{}\",code=\"{}\"", name_of(key.first), key.second), count);
  }
  out.head("slide_request_seconds", "histogram", "From a request's last byte to its answer.");
  for (const auto& [endpoint, latency] : latency_) {
    const std::string label = fmt::format("endpoint=\"{}\"", name_of(endpoint));
    std::uint64_t below = 0;
    for (std::size_t b = 0; b < kBounds.size(); ++b) {
      below += latency.within[b];
      out.value("slide_request_seconds_bucket", fmt::format("{},le=\"{}\"", label, kBounds[b]), below);
    }
    out.value("slide_request_seconds_bucket", label + ",le=\"+Inf\"", latency.count);
    out.value("slide_request_seconds_sum", label, latency.sum);
    out.value("slide_request_seconds_count", label, latency.count);
  }
  out.single("slide_requests_in_flight", "gauge", "Predictions asked for and not answered.", in_flight);
  out.single("slide_connections", "gauge", "Open connections.", connections);
  out.single("slide_rejected_total", "counter", "Requests and connections refused for want of room.",
             rejected);
  out.single("slide_waiting_bytes", "gauge", "Bytes of requests and answers that are held.", waiting.held());
  out.single("slide_waiting_limit_bytes", "gauge", "Beyond it requests are refused.", waiting.limit());
  add_answers(out, answers);
  add_model(out, model);
  out.head("slide_reloads_total", "counter", "Reloads of the model on SIGHUP.");
  out.value("slide_reloads_total", "result=\"done\"", reloads_[1]);
  out.value("slide_reloads_total", "result=\"failed\"", reloads_[0]);
  out.single("process_resident_memory_bytes", "gauge", "Memory of the process.", resident_bytes());
  out.single("process_start_time_seconds", "gauge", "When the server was started.", started_);
  return out.take();
}

}  // namespace slide::serve
