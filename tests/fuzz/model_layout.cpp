#include "tests/fuzz/model_layout.h"

#include <cstring>
#include <string_view>

#include "engine/base/error.h"

namespace slide::fuzz {

namespace {

constexpr std::size_t kFooter = 4 + 8;

class Walk {
 public:
  explicit Walk(const std::string& file) : file_(file) {}

  Layout layout() {
    header();
    matrices();
    if (has(kLinear)) linear_term();
    if (has(kFactors)) section("factors", [&] { values("factors", 4, shape_.features, Kind::kFloat); });
    if (has(kKnn)) section("knn", [&] { has(kBf16 | kInt8) ? packed_knn() : knn(); });
    if (has(kFeatureWeights))
      section("feature weights", [&] { values("feature weights", 2, shape_.features, Kind::kFloat); });
    if (has(kText)) section("text", [&] { text(); });
    if (has(kUnseen)) section("unseen runs", [&] { values("unseen runs", 4, shape_.labels); });
    if (has(kThresholds)) section("thresholds", [&] { thresholds(); });
    if (has(kCalibration)) section("calibration", [&] { values("calibration", 4, 3, Kind::kFloat); });
    if (at_ + kFooter != file_.size())
      fail_run("the page describes {} of {} bytes", at_ + kFooter, file_.size());
    return std::move(shape_);
  }

 private:
  bool has(std::uint32_t flags) const { return (shape_.flags & flags) != 0; }

  template <class Body>
  void section(const char* name, const Body& body) {
    const std::size_t begin = at_;
    body();
    shape_.sections.push_back({name, begin, at_});
  }

  // Adds a field of `count` values behind the ones before.
  void values(const char* name, std::size_t width, std::uint64_t count, Kind kind = Kind::kNumber,
              std::size_t counted_by = kNoField) {
    if (at_ > file_.size() || count > (file_.size() - at_) / width) fail_run("{} beyond the file", name);
    if (count > 0) shape_.fields.push_back({name, at_, width, count, kind, counted_by});
    at_ += width * count;
  }
  std::uint64_t number(const char* name, std::size_t width = 8) {
    values(name, width, 1);
    std::uint64_t value = 0;
    std::memcpy(&value, file_.data() + at_ - width, width);
    return value;
  }
  std::size_t last() const { return shape_.fields.size() - 1; }

  void header() {
    section("header", [&] {
      values("magic", 1, 8, Kind::kBytes);
      number("version", 4);
      shape_.flags = static_cast<std::uint32_t>(number("flags", 4));
      number("length");
      number("steps");
    });
    section("configuration", [&] {
      shape_.config_bytes = number("configuration bytes");
      shape_.config_at = at_;
      values("configuration", 1, shape_.config_bytes, Kind::kBytes, last());
    });
    section("shape", [&] { shape(); });
    if (has(kCrosses)) section("crosses", [&] { crosses(); });
    section("layers", [&] {
      by_neuron_ = number("layers");
      values("hash seeds and generations", 8, 2 * by_neuron_);
    });
  }

  void shape() {
    shape_.features = number("features");
    shape_.labels = number("labels");
    labels_at_ = last();
    number("samples");
    if (has(kDense)) dense_ = number("dense");
    values("frequencies", 4, shape_.labels, Kind::kNumber, labels_at_);
  }

  void crosses() {
    const std::uint64_t count = number("number of crosses");
    values("crosses", 4, 2 * count);
  }

  void matrices() {
    const std::string_view config(file_.data() + shape_.config_at, shape_.config_bytes);
    std::size_t layers = 0;
    for (std::size_t at = 0; (at = config.find("\n[[layer]]", at)) != config.npos; ++at) ++layers;
    bf16_ = has(kBf16) || (!has(kInt8) && config.find("\nweights = \"bf16\"") != config.npos);
    for (std::size_t m = 0; m < 2 * layers; ++m) {
      section(m % 2 == 0 ? "weights" : "biases", [&] { matrix(m % 2 == 0); });
    }
  }

  void matrix(bool weights) {
    const std::uint64_t rows = number("rows"), columns = number("columns");
    if (weights) neurons_ = rows;
    if (weights && has(kInt8)) {
      values("exponents", 1, rows);
      values("int8 weights", 1, rows * columns);
    } else if (weights && bf16_) {
      values("bf16 weights", 2, rows * ((columns + 31) / 32 * 32), Kind::kFloat);
    } else {
      values(weights ? "weights" : "biases", 4, rows * columns, Kind::kFloat);
    }
    if (!has(kOptimizer)) return;
    for (const char* name : {"first state", "second state", "steps of rows"}) {
      const std::uint64_t count = number("size of state");
      values(name, 4, count, name[0] == 's' && name[1] == 't' ? Kind::kNumber : Kind::kFloat, last());
    }
  }

  void linear_term() {
    section("linear term", [&] {
      if (has(kBf16 | kInt8)) return sparse_rows(neurons_);
      const std::uint64_t weights = number("linear weights");
      const std::size_t counted = last();
      values("linear offsets", 8, neurons_ + 1);
      values("linear features", 4, weights, Kind::kNumber, counted);
      values("linear values", 4, weights, Kind::kFloat, counted);
      if (has(kOptimizer)) values("linear accumulators", 4, weights, Kind::kFloat, counted);
    });
  }

  std::uint64_t packed_lists() {
    const std::uint64_t ids = number("packed ids");
    const std::uint64_t bytes = number("packed bytes");
    values("packed lists", 1, bytes, Kind::kBytes, last());
    return ids;
  }
  void sparse_rows(std::uint64_t rows) {
    const std::uint64_t ids = packed_lists();
    if (has(kBf16)) return values("sparse values", 2, ids, Kind::kFloat);
    values("sparse exponents", 1, rows);
    values("sparse int8", 1, ids);
  }

  bool all_dense() const { return dense_ > 0 && dense_ == shape_.features; }

  void knn() {
    const std::uint64_t samples = number("knn samples");
    const std::size_t samples_at = last();
    const std::uint64_t features = number("knn features");
    const std::size_t features_at = last();
    const std::uint64_t labels = number("knn labels");
    const std::size_t labels_at = last();
    values("knn feature offsets", 8, samples + 1, Kind::kNumber, samples_at);
    values("knn label offsets", 8, samples + 1, Kind::kNumber, samples_at);
    values("knn feature ids", 4, features, Kind::kNumber, features_at);
    values("knn label ids", 4, labels, Kind::kNumber, labels_at);
    values("knn values", 2, features, Kind::kFloat, features_at);
    if (all_dense()) values("knn dense rows", 2, samples * dense_, Kind::kFloat);
  }
  void packed_knn() {
    const std::uint64_t samples = number("knn samples");
    sparse_rows(samples);
    packed_lists();
    if (!all_dense()) return;
    has(kBf16) ? values("knn dense rows", 2, samples * dense_, Kind::kFloat)
               : values("knn dense int8", 1, samples * (1 + dense_));
  }

  void names(const char* name, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t bytes = number("bytes of a name", 4);
      values(name, 1, bytes, Kind::kBytes, last());
    }
  }
  void text() {
    number("text bytes");
    shape_.text_form = number("text form");
    number("text samples");
    const std::uint64_t vocabulary = number("vocabulary");
    const std::size_t vocabulary_at = last();
    const std::uint64_t features = number("text features");
    const std::size_t features_at = last();
    const std::uint64_t labels = number("text labels");
    values("hashes", 8, vocabulary, Kind::kNumber, vocabulary_at);
    values("text weights", 4, features, Kind::kFloat, features_at);
    names("feature name", vocabulary);
    shape_.first_label_name = shape_.fields.size();
    names("label name", labels);
  }

  void thresholds() {
    values("threshold", 8, 1, Kind::kFloat);
    const std::uint64_t labels = number("labels with thresholds");
    const std::size_t labels_at = last();
    values("labels of thresholds", 4, labels, Kind::kNumber, labels_at);
    values("thresholds of labels", 8, labels, Kind::kFloat, labels_at);
  }

  const std::string& file_;
  std::size_t at_ = 0;
  Layout shape_;
  std::uint64_t by_neuron_ = 0, neurons_ = 0, dense_ = 0;
  std::size_t labels_at_ = 0;
  bool bf16_ = false;
};

}  // namespace

Layout layout_of(const std::string& file) {
  return Walk(file).layout();
}

}  // namespace slide::fuzz
