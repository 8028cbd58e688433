#include "engine/config/spellings.h"

namespace slide {
namespace {

constexpr std::string_view kDataFormats[] = {"auto", "xmc",   "libsvm", "idx", "text",
                                             "npz",  "jsonl", "csv",    "tsv", "interactions"};
constexpr std::string_view kDataKinds[] = {"auto", "samples", "interactions"};
constexpr std::string_view kLogForms[] = {"auto", "lists", "pairs"};
constexpr std::string_view kTokenKinds[] = {"words", "blanks"};
constexpr std::string_view kWeightings[] = {"tf-idf", "counts"};
constexpr std::string_view kLayerKinds[] = {"dense", "sampled"};
constexpr std::string_view kActivations[] = {"relu", "tanh", "sigmoid", "linear"};
constexpr std::string_view kLossKinds[] = {"softmax", "sigmoid"};
constexpr std::string_view kOptimizerKinds[] = {"sgd", "momentum", "adagrad", "adam"};
constexpr std::string_view kRateSchedules[] = {"constant", "linear", "cosine"};
constexpr std::string_view kInferences[] = {"auto", "full", "lsh"};
constexpr std::string_view kPrecisions[] = {"fp32", "bf16"};
constexpr std::string_view kHashFamilies[] = {"simhash", "wta", "dwta", "minhash"};
constexpr std::string_view kBucketPolicies[] = {"fifo", "reservoir"};
constexpr std::string_view kCandidatePolicies[] = {"vanilla", "topk", "threshold", "search"};

}  // namespace

Spellings spellings_of(DataFormat) {
  return kDataFormats;
}
Spellings spellings_of(DataKind) {
  return kDataKinds;
}
Spellings spellings_of(LogForm) {
  return kLogForms;
}
Spellings spellings_of(TokenKind) {
  return kTokenKinds;
}
Spellings spellings_of(Weighting) {
  return kWeightings;
}
Spellings spellings_of(LayerKind) {
  return kLayerKinds;
}
Spellings spellings_of(Activation) {
  return kActivations;
}
Spellings spellings_of(LossKind) {
  return kLossKinds;
}
Spellings spellings_of(OptimizerKind) {
  return kOptimizerKinds;
}
Spellings spellings_of(RateSchedule) {
  return kRateSchedules;
}
Spellings spellings_of(Inference) {
  return kInferences;
}
Spellings spellings_of(Precision) {
  return kPrecisions;
}
Spellings spellings_of(HashFamily) {
  return kHashFamilies;
}
Spellings spellings_of(BucketPolicy) {
  return kBucketPolicies;
}
Spellings spellings_of(CandidatePolicy) {
  return kCandidatePolicies;
}

}  // namespace slide
