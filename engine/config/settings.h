// The configuration of a run: plain structs with one field per TOML key. Defaults, including layers, equal
// configs/default.toml. fields.cpp describes every field (name, range, meaning). Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/read_options.h"
#include "datasets/rows/text_options.h"
#include "lsh/hash_config.h"

namespace slide {

inline constexpr std::uint32_t kMaxThreads = 4096;
inline constexpr std::uint64_t kMaxSeed = 0x7fffffffffffffff;  // maximum of TOML integers

enum class DataKind { kAuto, kSamples, kInteractions };
enum class LayerKind { kDense, kSampled };
enum class Activation { kRelu, kTanh, kSigmoid, kLinear };
enum class LossKind { kSoftmax, kSigmoid };
enum class OptimizerKind { kSgd, kMomentum, kAdagrad, kAdam };
enum class RateSchedule { kConstant, kLinear, kCosine };
enum class Precision { kFp32, kBf16 };
enum class Inference { kAuto, kFull, kLsh };

// The newest items of each user that are held out to test on.
struct TestNewest {
  std::uint32_t items = 0;  // so many of each user, or
  double share = 0;         // this share of a user's items, rounded down
  bool wanted() const { return items > 0 || share > 0; }
  bool operator==(const TestNewest&) const = default;
};

// Validation samples: a share held out of the training samples, or a file.
struct ValidationSource {
  double share = 0.0;
  std::string file;  // empty: the share
  bool wanted() const { return share > 0 || !file.empty(); }
};

// Label weights in training: a power of the label frequency, or a file.
struct LabelWeights {
  double power = 0.0;
  std::string file;  // empty: the power
  bool wanted() const { return power != 0 || !file.empty(); }
};

// data.time: the order of the samples is their time.
inline constexpr std::string_view kFileOrder = "order";
// The samples have no order that matters: validation samples are random, also in a search.
inline constexpr std::string_view kNoTime = "none";
inline constexpr std::string_view kNoColumn = "none";  // data.dense

// [data]: sources of samples.
struct DataConfig {
  std::string train;  // training file; for IDX the images file, with labels beside it
  std::string test;   // test file, may be empty
  DataFormat format = DataFormat::kAuto;
  DataKind kind = DataKind::kAuto;
  // Interactions:
  double mask = 0.5;  // share of a user's items that each epoch masks as targets
  std::string known;
  TestNewest test_newest;  // the newest items of each user are test items
  // Interactions: items of each user from this time on are test items; else samples from this time on; empty:
  // none.
  std::string test_after;
  // Interactions: how lines are read, and which columns are what; weight and time below name further ones.
  LogForm log = LogForm::kAuto;
  std::string user, item;
  // Tables (JSON Lines and CSV): see TableColumns.
  std::string text;
  std::string labels;
  std::string label_separator = ",";
  std::string dense;  // of JSON Lines; empty: found in the training file, or none; kNoColumn: none
  std::string weight;
  std::string sample_weights;    // file with one weight per training sample, or empty
  LabelWeights label_weights;    // default: all 1
  std::string label_text;        // file with texts or features of labels, `names`, or empty
  double label_text_weight = 0;  // weight of a label text in training, relative to a sample
  bool one_based = false;        // libsvm: feature ids start at 1
  bool normalize = true;         // scale each sample to unit Euclidean length
  std::uint32_t crosses = 8;     // feature crosses chosen per label (feature_crosses.h)
  double idf_power = 0.0;        // exponent of the idf factors of features (feature_scale.h)
  bool cache = false;            // training: store the parsed rows in FILE.slidecache and map them
  ValidationSource validation;   // default: none
  // Groups and times for held-out validation samples, also in a search: a column of a table, or a file with
  // one value per training sample, or empty; time may also be kFileOrder or kNoTime.
  std::string group;              // samples of a group are held out together
  std::string time;               // the latest samples are held out
  std::uint32_t train_first = 0;  // use the first n samples for training, 0 = all
  std::uint32_t test_last = 0;    // use the last n samples of the test file, 0 = all
};

// [train]: the training loop.
struct TrainConfig {
  std::uint32_t epochs = 7;
  std::uint32_t batch_size = 256;  // samples per step
  std::uint32_t block_size = 128;  // samples that share an active set; 1 = the paper's SLIDE
  std::uint64_t seed = 1;
  std::uint32_t threads = 0;   // 0 = all cores
  bool deterministic = false;  // no effect: runs never depend on the number of threads
  bool shuffle = true;
  std::uint32_t eval_every = 1;          // epochs between evaluations, 0 = only after the last
  std::uint32_t patience = 0;            // validations without improvement that end the run, 0 = never
  Precision weights = Precision::kFp32;  // of weight matrices; biases and sums are always fp32
  std::uint32_t checkpoint_every = 0;    // steps between checkpoints, 0 = only when a signal stops the run
  bool save_optimizer = true;            // write the optimizer state to the model file
  bool tensorboard = false;              // slide train: also write an event file for TensorBoard
  std::uint32_t shards = 1;              // shards of the network, for at most as many processes
  std::string init;                      // model to continue, or empty: train from the beginning
  std::string vectors;                   // pretrained vectors of features for the first layer, or empty
  std::uint32_t expire_labels = 0;  // init: drop a label after this many runs without a sample, 0 = never
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
  // Gradient sparsification: smaller output gradients become 0 or this threshold, at random; 0: off.
  double gradient_threshold = 0.05;
  double positive_weight = 1.0;  // sigmoid loss: weight of a label relative to a negative
  double prior = 0.3;            // sigmoid loss: initial biases are this share of the labels' log-odds
};

// [[layer]]: in order from the input. Defaults are for a hidden layer; default_layers() has the others.
struct LayerConfig {
  std::uint32_t size = 128;  // neurons; 0 in the last layer: number of labels in the data
  LayerKind kind = LayerKind::kDense;
  Activation activation = Activation::kRelu;  // hidden layers; the loss determines the output layer's
  double dropout = 0.0;
  double init_scale = 1.0;  // of the initial weights; 0, the last layer's default: zeros
  // Active set of a sampled layer: number of neurons per block, by source:
  std::uint32_t lsh = 0;
  std::uint32_t uniform = 1280;
  std::uint32_t frequency = 0;   // negatives sampled by label frequency; output layer only
  bool logq_correction = false;  // sampled negatives represent all neurons that were not sampled
  double logq_power = 1.0;       // exponent of the number of neurons that one of them represents
  // Output layer: linear term (linear_term.h).
  bool wide = false;
  std::uint32_t wide_features = 256;  // max per neuron
  std::uint32_t wide_negatives = 16;  // additional hard-negative features per neuron
  double wide_rate = 0.0;             // learning rate of these weights, scheduled as the others; 0: by epochs
  double wide_scale = 3.0;            // length of a neuron's initial weights
  double wide_fit = 0.5;  // share of the fitted initialisation that replaces wide_scale and loss.prior
  // Share of label_margins() that training subtracts from the logits of labels; nullopt: 0 or 1, by the data.
  std::optional<double> wide_margin;
  double wide_ridge = 0.0;  // interactions: penalty of the item regression for initial weights; 0: none
  HashConfig hash;
};

// The layer's wide_rate in a run of `epochs` epochs: where it is 0, 1.5, and for fewer than 7 epochs larger
// by the inverse square root of their number (Zinkevich, "Online Convex Programming and Generalized
// Infinitesimal Gradient Ascent", 2003, theorem 1: for T steps the optimal step size is of the order of
// T^-1/2).
double used_wide_rate(const LayerConfig& layer, std::uint32_t epochs);

// `count` layers of default values: hidden layers, and a sampled last layer with a linear term, sized by the
// data.
std::vector<LayerConfig> default_layers(std::size_t count = 2);

// [eval]
struct EvalConfig {
  std::vector<std::uint32_t> k = {1, 3, 5};
  Inference inference = Inference::kAuto;
  std::uint32_t candidates = 256;  // lsh inference: max neurons from the tables scored per sample
  double propensity_a = 0.55;      // Jain, Prabhu, Varma 2016, section 4
  double propensity_b = 1.5;
  double rare = 0.0;  // power of the inverse propensities in the ranking (rare_ranking.h)
};

// [neighbours]: kNN prediction (neighbours.h).
struct NeighbourConfig {
  double share = 0.3;  // share of the vote in a label's probability; 0: no kNN prediction
  std::uint32_t count = 20;
  double power = 4.0;          // exponent of the cosine in the weight of a vote
  double cooccurrence = 0.25;  // strength of label propagation along co-occurrence
  bool learn = true;           // learn feature weights of the cosine
  double mean = 0.5;           // exponent of the power mean of probability and vote
};

// Write Config(), not Config{}, for default arguments: with Config{}, GCC 12 destroys members twice when the
// construction of a later one throws.
struct Config {
  DataConfig data;
  TextOptions text;  // [text]: conversion of text to features
  TrainConfig train;
  OptimizerConfig optimizer;
  LossConfig loss;
  EvalConfig eval;
  NeighbourConfig neighbours;
  std::vector<LayerConfig> layers = default_layers();
};

// `base` with the settings for interaction logs in place of those for samples.
Config suited_to_interactions(Config base = Config());

}  // namespace slide
