// Compares the hash tables of inference with the indexes of other libraries, over the rows of the output
// layer of a trained model: hnswlib (Malkov and Yashunin's graph) and faiss (inverted lists, flat), where
// they are installed. scripts/index_comparison.py runs it.
//   index_comparison MODEL DATA [--samples N] [--only tables,all,hnsw,ivf,flat]
// True answers are the 5 labels of the largest inner product with the hidden activations of a sample, biases
// included. Prints a line of JSON for each index and setting: share of the true labels found (recall_at_5),
// share of samples whose first label is found, microseconds of processor time a sample on one thread (median
// of five passes), seconds of processor time to build on one thread, bytes with a copy of the rows. "tables"
// and "all neurons" are predictions, hidden layers included, by candidates of hash tables and over the whole
// layer, 512 samples at a time, and one at a time where the name ends with "alone"; "longest rows" asks no
// tables, but scores the rows that are scored for every sample. Others are asked for one sample at a time;
// hidden layers are in none of their times. The model has no linear term and no kNN votes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "engine/inference/prediction_batch.h"
#include "engine/kernels/kernels.h"
#include "engine/model/model_file.h"
#include "lsh/fetch_row.h"
#ifdef SLIDE_HNSWLIB
#include <hnswlib/hnswlib.h>
#endif
#ifdef SLIDE_FAISS
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFFlat.h>
#include <omp.h>
#endif

namespace {

using namespace slide;
constexpr std::size_t kTop = 5;
constexpr std::size_t kLanes = PredictionBatch::kLanes;  // samples that ask tables together
constexpr std::size_t kLists = 1024;                     // of faiss IVF
constexpr int kPasses = 5;

// Processor time of this thread: other programs of the machine do not count.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

using Answer = std::vector<std::uint32_t>;

// Rows and queries as vectors of one width: weights and bias, hidden activations and 1, then zeros.
struct Vectors {
  std::size_t width = 0, rows = 0, queries = 0;
  AlignedArray<float> w, x;
  const float* row(std::size_t i) const { return w.data() + i * width; }
  const float* query(std::size_t q) const { return x.data() + q * width; }
};

Vectors vectors_of(const Network& network, const Dataset& data, std::size_t samples) {
  const Layer& output = network.output();
  const std::size_t inputs = output.inputs();
  Vectors v;
  v.width = round_up(inputs + 1, kernels::kLaneMultiple);
  v.rows = output.size();
  v.queries = std::min(samples, data.size()) / kLanes * kLanes;
  v.w = AlignedArray<float>(v.rows * v.width);
  v.x = AlignedArray<float>(v.queries * v.width);
  const lsh::WeightRows rows = output.weight_rows();
  std::vector<float> buffer(inputs);
  for (std::size_t i = 0; i < v.rows; ++i) {
    std::copy_n(lsh::fetch_row(rows, inputs, i, buffer.data()), inputs, v.w.data() + i * v.width);
    v.w[i * v.width + inputs] = rows.bias != nullptr ? rows.bias[i] : 0.0F;
  }
  const std::size_t entries = max_entries(network, data, kLanes);
  Block block = network.make_inference_block(kLanes, entries);
  ThreadScratch scratch = network.make_inference_scratch(kLanes, entries);
  for (std::size_t first = 0; first < v.queries; first += kLanes) {
    block.clear_samples();
    for (std::size_t i = first; i < first + kLanes; ++i) network.add_sample(data, i, block);
    const BlockInput in = network.infer_hidden(block, scratch);
    if (in.partial || in.width != inputs) fail_input("the output layer needs a dense layer before it");
    for (std::size_t s = 0; s < kLanes; ++s) {
      float* x = v.x.data() + (first + s) * v.width;
      std::copy_n(in.x + s * in.ldx, inputs, x);
      x[inputs] = 1.0F;
    }
  }
  return v;
}

double rows_bytes(const Vectors& v) {
  return double(v.rows * v.width * sizeof(float));
}

// The best of what is offered, in falling order.
struct Best {
  std::array<float, kTop> scores;
  std::array<std::uint32_t, kTop> ids{};
  Best() { scores.fill(-std::numeric_limits<float>::infinity()); }
  void offer(float score, std::uint32_t id) {
    if (score <= scores.back()) return;
    std::size_t place = kTop - 1;
    for (; place > 0 && scores[place - 1] < score; --place)
      scores[place] = scores[place - 1], ids[place] = ids[place - 1];
    scores[place] = score, ids[place] = id;
  }
};

struct Comparison {
  const Vectors& v;
  std::vector<Answer> truth;

  explicit Comparison(const Vectors& vectors) : v(vectors) {
    for (std::size_t first = 0; first < v.queries; first += kLanes) {
      std::vector<Best> best(kLanes);
      for (std::uint32_t row = 0; row < v.rows; ++row) {
        for (std::size_t s = 0; s < kLanes; ++s)
          best[s].offer(kernels::active().dot(v.row(row), v.query(first + s), v.width), row);
      }
      for (const Best& one : best) truth.emplace_back(one.ids.begin(), one.ids.end());
    }
  }

  // ask(answers): answers all queries once.
  template <class Ask>
  void report(const std::string& index, std::size_t setting, double build_seconds, double bytes,
              Ask&& ask) const {
    std::vector<Answer> answers(v.queries);
    std::vector<double> seconds;
    for (int pass = 0; pass < kPasses; ++pass) {
      const double start = thread_seconds();
      ask(answers);
      seconds.push_back(thread_seconds() - start);
    }
    std::nth_element(seconds.begin(), seconds.begin() + kPasses / 2, seconds.end());
    std::size_t found = 0, first = 0, wanted = 0;
    for (std::size_t q = 0; q < v.queries; ++q) {
      const auto has = [&](std::uint32_t id) { return std::ranges::count(answers[q], id) > 0; };
      found += static_cast<std::size_t>(std::ranges::count_if(truth[q], has));
      first += has(truth[q].front()) ? 1 : 0;
      wanted += truth[q].size();
    }
    fmt::print(
        "{{\"index\": \"{}\", \"rows\": {}, \"setting\": {}, \"recall_at_5\": {:.4f}, \"first\": {:.4f}, "
        "\"query_us\": {:.2f}, \"build_seconds\": {:.2f}, \"bytes\": {:.0f}}}\n",
        index, v.rows, setting, double(found) / double(wanted), double(first) / double(v.queries),
        seconds[kPasses / 2] * 1e6 / double(v.queries), build_seconds, bytes);
    std::fflush(stdout);
  }
};

// Predictions of the model, hidden layers included: 512 samples at a time, and one at a time.
void compare_predictions(const Comparison& c, const std::string& index, std::size_t setting,
                         const Model& model, const Dataset& asked, InferenceOptions options) {
  options.k = kTop;
  options.threads = 1;
  const double start = thread_seconds();
  const Predictor predictor(model.trained(), options);
  const double build_seconds = thread_seconds() - start;
  const double bytes = double(predictor.index_bytes()) + rows_bytes(c.v);
  const auto take = [](std::span<const Prediction> best, Answer& answer) {
    answer.clear();
    for (const Prediction& one : best) answer.push_back(one.label);
  };
  std::vector<Predictor::Scratch> scratch(1);
  c.report(index, setting, build_seconds, bytes, [&](std::vector<Answer>& answers) {
    predictor.predict(asked, scratch,
                      [&](std::size_t q, std::span<const Prediction> best) { take(best, answers[q]); });
  });
  Predictor::Scratch single;
  c.report(index + " alone", setting, build_seconds, bytes, [&](std::vector<Answer>& answers) {
    for (std::size_t q = 0; q < asked.size(); ++q)
      predictor.predict(asked.slice(q, 1), predictor.wanted(), single,
                        [&](std::size_t, std::span<const Prediction> best) { take(best, answers[q]); });
  });
}

void compare_tables(const Comparison& c, const Model& model, const Dataset& asked) {
  for (const std::size_t wanted : {0, 32, 64, 128, 256, 512, 1024}) {
    InferenceOptions options;
    options.mode = Inference::kLsh;
    options.candidates = wanted;
    compare_predictions(c, wanted == 0 ? "longest rows" : "tables", wanted, model, asked, options);
  }
}

#ifdef SLIDE_HNSWLIB
void compare_hnsw(const Comparison& c) {
  const Vectors& v = c.v;
  hnswlib::InnerProductSpace space(v.width);
  const double start = thread_seconds();
  hnswlib::HierarchicalNSW<float> index(&space, v.rows, 12, 100);
  for (std::size_t i = 0; i < v.rows; ++i) index.addPoint(v.row(i), i);
  const double build_seconds = thread_seconds() - start;
  for (const std::size_t ef : {10, 20, 40, 80, 160, 320, 640}) {
    index.setEf(ef);
    const auto bytes = double(v.rows * index.size_data_per_element_);
    c.report("hnswlib", ef, build_seconds, bytes, [&](std::vector<Answer>& answers) {
      for (std::size_t q = 0; q < v.queries; ++q) {
        auto queue = index.searchKnn(v.query(q), kTop);
        answers[q].clear();
        for (; !queue.empty(); queue.pop())
          answers[q].push_back(static_cast<std::uint32_t>(queue.top().second));
      }
    });
  }
}
#endif

#ifdef SLIDE_FAISS
template <class Index>
void ask_faiss(const Comparison& c, const std::string& name, std::size_t setting, double build_seconds,
               const Index& index) {
  const Vectors& v = c.v;
  std::vector<float> distances(kTop);
  std::vector<faiss::Index::idx_t> labels(kTop);
  c.report(name, setting, build_seconds, rows_bytes(v), [&](std::vector<Answer>& answers) {
    for (std::size_t q = 0; q < v.queries; ++q) {
      index.search(1, v.query(q), kTop, distances.data(), labels.data());
      answers[q].assign(labels.begin(), labels.end());
    }
  });
}

void compare_faiss(const Comparison& c, bool flat) {
  const Vectors& v = c.v;
  omp_set_num_threads(1);
  const auto count = static_cast<faiss::Index::idx_t>(v.rows);
  const auto width = static_cast<int>(v.width);
  double start = thread_seconds();
  faiss::IndexFlatIP all(width);
  if (flat) {
    all.add(count, v.w.data());
    return ask_faiss(c, "faiss flat", 0, thread_seconds() - start, all);
  }
  faiss::IndexIVFFlat lists(&all, v.width, kLists, faiss::METRIC_INNER_PRODUCT);
  start = thread_seconds();
  lists.train(count, v.w.data());
  lists.add(count, v.w.data());
  const double build_seconds = thread_seconds() - start;
  for (const std::size_t probes : {4, 16, 64, 256}) {
    lists.nprobe = probes;
    ask_faiss(c, "faiss ivf", probes, build_seconds, lists);
  }
}
#endif

struct Options {
  std::string model, data;
  std::size_t samples = 1024;
  std::vector<std::string> only = {"tables", "all", "hnsw", "ivf", "flat"};
};

bool wants(const Options& options, std::string_view index) {
  return std::ranges::find(options.only, index) != options.only.end();
}

int compare(const Options& options) {
  const Model model = load_model(options.model);
  ReadOptions reading;
  reading.feature_limit = static_cast<std::uint32_t>(model.network.features());
  reading.label_limit = static_cast<std::uint32_t>(model.network.labels());
  if (model.network.wide() || model.neighbours)
    fail_input("{}: has a linear term or kNN votes, which other indexes do not know", options.model);
  const Dataset data = read_dataset(options.data, reading);
  const Vectors v = vectors_of(model.network, data, options.samples);
  if (v.queries == 0) fail_input("{}: fewer than {} samples; give more", options.data, kLanes);
  const Comparison comparison(v);
  const Dataset asked = data.slice(0, v.queries);
  if (wants(options, "tables")) compare_tables(comparison, model, asked);
  if (wants(options, "all")) compare_predictions(comparison, "all neurons", 0, model, asked, {});
#ifdef SLIDE_HNSWLIB
  if (wants(options, "hnsw")) compare_hnsw(comparison);
#endif
#ifdef SLIDE_FAISS
  if (wants(options, "ivf")) compare_faiss(comparison, false);
  if (wants(options, "flat")) compare_faiss(comparison, true);
#endif
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares hash tables with hnswlib and faiss over the output layer of a model");
  Options options;
  app.add_option("MODEL", options.model, "Model file")->required();
  app.add_option("DATA", options.data, "XMC text, whose samples ask")->required();
  app.add_option("--samples", options.samples, "So many of them, in blocks of 128")->capture_default_str();
  app.add_option("--only", options.only, "Indexes: tables, all, hnsw, ivf, flat")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  try {
    return compare(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "index_comparison: %s\n", error.what());
    return 1;
  }
}
