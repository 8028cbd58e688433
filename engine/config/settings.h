// The configuration of a run: plain structs, one field for each key of the TOML file. Their defaults, layers
// included, are the model of configs/default.toml. fields.cpp describes every field (name, range, meaning).
// Values are plain data: copy and share them freely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/read_options.h"
#include "datasets/text_options.h"
#include "lsh/hash_config.h"

namespace slide {

inline constexpr std::uint32_t kMostThreads = 4096;
inline constexpr std::uint64_t kMostSeed = 0x7fffffffffffffff;  // what TOML can hold

enum class DataKind { kAuto, kSamples, kInteractions };
enum class LayerKind { kDense, kSampled };
enum class Activation { kRelu, kTanh, kSigmoid, kLinear };
enum class LossKind { kSoftmax, kSigmoid };
enum class OptimizerKind { kSgd, kMomentum, kAdagrad, kAdam };
enum class RateSchedule { kConstant, kLinear, kCosine };
enum class Precision { kFp32, kBf16 };
enum class Inference { kFull, kLsh };

// What a run is validated on: a share of the training samples, which are held out, or a file.
struct ValidationSource {
  double share = 0.0;
  std::string file;  // empty: the share
  bool wanted() const { return share > 0 || !file.empty(); }
};

// What a label counts in training: a power of how frequent it is, or what a file says.
struct LabelWeights {
  double power = 0.0;
  std::string file;  // empty: the power
  bool wanted() const { return power != 0 || !file.empty(); }
};

// data.time: samples are in the order of their times.
inline constexpr std::string_view kFileOrder = "order";

// [data]: where samples come from.
struct DataConfig {
  std::string train;  // training file; for IDX the images file, labels beside it
  std::string test;   // test file, may be empty
  DataFormat format = DataFormat::kAuto;
  DataKind kind = DataKind::kAuto;
  // Interactions: the share of a user's items that an epoch hides, and asks for; and what else the users of
  // the test file have.
  double hide = 0.5;
  std::string known;
  bool test_newest = false;  // and whether the newest item of each is the test
  // Tables, JSON lines and CSV: see TableColumns.
  std::string text;
  std::string labels;
  std::string label_separator = ",";
  std::string weight;
  std::string sample_weights;    // file with a weight for each training sample, or empty
  LabelWeights label_weights;    // without, all are 1
  std::string label_text;        // file with texts or features of labels, `names`, or empty
  double label_text_weight = 0;  // of such a text in training, where a sample weighs 1
  bool one_based = false;        // libsvm: feature ids start at 1
  bool normalize = true;         // scale each sample to unit Euclidean length
  std::uint32_t pairs = 8;       // of features that each label chooses as further features (feature_pairs.h)
  double idf_power = 0.0;        // of the rarity that features are multiplied by (feature_scale.h)
  bool cache = false;            // training: keep the parsed rows in FILE.slidecache and map them from there
  ValidationSource validation;   // without, none
  // What a share for validation goes by, and so does that of a search. Of tables a column, else a file with a
  // value for each training sample, or empty; for the time kFileOrder, too.
  std::string group;              // samples of one are held out together
  std::string time;               // the latest samples are held out
  std::uint32_t train_first = 0;  // IDX: use the first n samples for training, 0 = all
  std::uint32_t test_last = 0;    // IDX: use the last n samples of the test file, 0 = all
};

// [train]: the loop.
struct TrainConfig {
  std::uint32_t epochs = 7;
  std::uint32_t batch_size = 256;  // samples in one step
  std::uint32_t block_size = 128;  // samples that share an active set; 1 = the paper's SLIDE
  std::uint64_t seed = 1;
  std::uint32_t threads = 0;   // 0 = all cores
  bool deterministic = false;  // without effect: runs never depend on the thread count
  bool shuffle = true;
  std::uint32_t eval_every = 1;          // epochs between evaluations, 0 = only after the last
  std::uint32_t patience = 0;            // validations without improvement that end the run, 0 = never
  Precision weights = Precision::kFp32;  // of weight matrices; biases and sums are always fp32
  std::uint32_t checkpoint_every = 0;    // steps between checkpoints, 0 = only when stopped by a signal
  bool save_optimizer = true;            // optimizer state goes into the model file
  std::uint32_t shards = 1;              // parts that the arithmetic is cut into, for as many processes
  std::string init;                      // model that training goes on from, or empty: from the beginning
  std::string vectors;                   // of features, which the first layer starts from, or empty
  std::uint32_t forget = 0;              // init: trainings without a sample that end a label, 0 = none do
};

// [optimizer]
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdagrad;
  double learning_rate = 0.1;
  RateSchedule schedule = RateSchedule::kLinear;
  std::uint32_t warmup_steps = 0;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // decoupled, on touched rows
};

// [loss]: of the output layer.
struct LossConfig {
  LossKind kind = LossKind::kSigmoid;
  double delta_floor = 0.05;  // smaller deltas of the output layer become 0 or this, at random; 0 keeps all
  double positive_weight = 1.0;  // sigmoid loss: weight of a label against a negative
  double prior = 0.3;            // sigmoid loss: biases start at this share of the labels' log-odds
};

// [[layer]]: in order from the input. The defaults are those of a hidden layer; see default_layers().
struct LayerConfig {
  std::uint32_t size = 128;  // neurons; 0 in the last layer = number of labels in the data
  LayerKind kind = LayerKind::kDense;
  Activation activation = Activation::kRelu;  // hidden layers; the output layer's is the loss's
  double dropout = 0.0;
  double init_scale = 1.0;  // of the first weights; 0, the last layer's default, starts them at zero
  // A sampled layer's active set, neurons for each block of samples, by source:
  std::uint32_t lsh = 0;
  std::uint32_t uniform = 1280;
  std::uint32_t frequency = 0;    // drawn by label frequency; output layer only
  bool correction = false;        // sampled negatives stand for all neurons that were not drawn
  double correction_power = 1.0;  // the number of neurons that one of them stands for is taken to this power
  // Output layer: sparse weights straight from the features of a label's own samples (see wide_path.h).
  bool wide = false;
  std::uint32_t wide_features = 256;  // of one neuron at most
  std::uint32_t wide_against = 16;    // besides, features of near misses
  double wide_rate = 0.0;             // learning rate of these weights, scheduled as the others; 0: by epochs
  double wide_scale = 3.0;            // length of a neuron's first wide weights
  double wide_fit = 0.5;    // share of a fitted start that takes the place of wide_scale and loss.prior
  double wide_ridge = 0.0;  // interactions: penalty of the regression that first weights come from; 0: none
  HashConfig hash;
};

// The layer's wide_rate in a run of so many epochs; where that is 0, 1.5, of fewer than 7 epochs more, as the
// inverse root of their number (Zinkevich, "Online Convex Programming and Generalized Infinitesimal Gradient
// Ascent", 2003, theorem 1: a fixed number T of steps asks for steps of the order of T^-1/2).
double used_wide_rate(const LayerConfig& layer, std::uint32_t epochs);

// As many layers as wanted, of default values: hidden ones, and a last one that is sampled, has a wide path
// and takes its size from the data.
std::vector<LayerConfig> default_layers(std::size_t count = 2);

// [eval]
struct EvalConfig {
  std::vector<std::uint32_t> k = {1, 3, 5};
  Inference inference = Inference::kFull;
  std::uint32_t candidates = 256;  // lsh inference: neurons from the tables scored for a sample at most
  double propensity_a = 0.55;      // Jain, Prabhu, Varma 2016, section 4
  double propensity_b = 1.5;
};

// [neighbours]: training samples that vote at inference (see neighbours.h).
struct NeighbourConfig {
  double share = 0.3;  // of a label's probability that is their vote; 0 = none are kept
  std::uint32_t count = 20;
  double power = 4.0;        // of the cosine, for the weight of a vote
  double companions = 0.25;  // of a label's probability, which it lends to those it comes with
  bool learn = true;         // what features weigh in the cosine
  double mean = 0.5;         // exponent of the mean of probability and vote
};

// As a default write Config(): for Config{}, GCC 12 destroys members twice when a later one's value throws.
struct Config {
  DataConfig data;
  TextOptions text;  // [text]: how text becomes features
  TrainConfig train;
  OptimizerConfig optimizer;
  LossConfig loss;
  EvalConfig eval;
  NeighbourConfig neighbours;
  std::vector<LayerConfig> layers = default_layers();
};

// `base` with what suits logs of interactions in place of what it has for samples.
Config suited_to_interactions(Config base = Config());

}  // namespace slide
