// What POST /predict takes and answers, without the network: one JSON text in, one out.
//
// A request is an object with one of
//   "text": "plain text"                         of a model trained on text
//   "features": {"12": 0.5, "700": 1}            ids as in the training file; or a list of ids and
//                                                [id, value] pairs
//   "features": [0.5, 1, ...]                    of a model of dense columns alone: a number for each
//   "inputs": [ ... ]                            many of them: objects with "text" or "features", or plain
//                                                strings
// and, for all of them, "k", "threshold", "scores" ("probability" or "logit"), "inference" ("full" or
// "lsh"), "keep_known" (whether items that an input has are answered, too) and "explain", a number of
// features. A list alone stands for its "inputs". The answer to one is
//   {"model": "<fingerprint>", "predictions": [{"id": 7, "label": "music", "score": 0.93}, ...]}
// best first, without "label" where labels have no names; the answer to "inputs" holds a list "results" of
// objects with "predictions" in their order. With "explain", each prediction has the features that spoke most
// for it (engine/inference/attribution.h), with what each adds to its logit:
//   "because": [{"id": 3, "feature": "cello", "part": 1.7}, ...]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/serve/served_model.h"

namespace slide::serve {

inline constexpr std::size_t kMaxK = 10000;
inline constexpr std::size_t kMaxInputs = 4096;      // in one request
inline constexpr std::size_t kMaxAnswers = 1000000;  // labels in one answer
inline constexpr std::size_t kMaxExplained = 100;    // labels that are explained in one,
inline constexpr std::size_t kMaxFeatures = 100;     // with so many features each

struct PredictAnswer {
  std::string json;
  std::size_t rows = 0;  // inputs of the request
};

// Answers a request that does not say how many labels it wants with `default_k` of them. May be called from
// any thread. Throws InputError with one line for the client when the request is none or the model cannot
// answer it.
PredictAnswer answer_predict(std::string_view body, const ServedModel& model, std::size_t default_k);

// Appends {"id":7,"label":"music","score":0.93}, without "label" where labels have no names; a score that is
// not finite is null.
void append_prediction(std::string& text, std::uint32_t id, std::optional<std::string_view> name,
                       double score);

// {"error": "..."}
std::string error_json(std::string_view message);

}  // namespace slide::serve
