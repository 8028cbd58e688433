// Request and answer format of POST /predict, independent of the transport: JSON text in, JSON text out.
//
// A request is an object with one of
//   "text": "plain text"                         for a model trained on text
//   "features": {"12": 0.5, "700": 1}            ids as in the training file; or a list of ids and pairs
//                                                [id, value]
//   "features": [0.5, 1, ...]                    for a model with dense columns only: one number per column
//   "text": "...", "COLUMN": [0.5, 1, ...]       for a model with text and dense columns: COLUMN is
//                                                data.dense of the model, "vector" where that is empty
//   "user": "ann"                                for a model of interactions: the user's items in the log;
//                                                "text" or "features" beside it add further items
//   "inputs": [ ... ]                            several inputs: objects of the above, or strings
// and optionally "k", "threshold", "scores" ("probability" or "logit"), "inference" ("full" or "lsh"),
// "keep_known" (whether answers include items of the input) and "explain" (a number of features). A list in
// place of the object stands for its "inputs". The answer to a single input is
//   {"model": "<fingerprint>", "predictions": [{"id": 7, "label": "music", "score": 0.93}, ...]}
// best first, without "label" where labels have no names; the answer to "inputs" has a list "results" of
// objects with "predictions", in input order, with the "user" who was named. With "explain", each prediction
// has the features that contribute most to it (engine/inference/attribution.h), with their contribution to
// the logit:
//   "because": [{"id": 3, "feature": "cello", "part": 1.7}, ...]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/inference/attribution.h"
#include "engine/serve/answer_metrics.h"
#include "engine/serve/byte_budget.h"
#include "engine/serve/reply_text.h"
#include "engine/serve/served_model.h"

namespace slide::serve {

inline constexpr std::size_t kMaxK = 10000;
inline constexpr std::size_t kMaxInputs = 4096;      // per request
inline constexpr std::size_t kMaxAnswers = 1000000;  // labels per answer
inline constexpr std::size_t kMaxExplained = 100;    // explained labels per request
inline constexpr std::size_t kMaxFeatures = 100;     // features per explained label

struct PredictAnswer {
  ReplyText text;
  std::size_t rows = 0;  // inputs of the request

  std::string json() const { return text.str(); }
};

// Answers a request; `default_k` labels where it does not set "k". Safe from any thread. Throws InputError
// with one line for the client where the request is malformed, the model cannot answer it, or `held`, which
// counts the answer's bytes while they are made, can never hold them; NoRoom where it cannot now.
PredictAnswer answer_predict(std::string_view body, const ServedModel& model, std::size_t default_k,
                             HeldBytes* held = nullptr, AnswerMetrics* metrics = nullptr);

// Text as a quoted JSON string; invalid UTF-8 is replaced.
std::string json_string(std::string_view text);

// Appends {"id":7,"label":"music","score":0.93}, without "label" where labels have no names; a score that is
// not finite becomes null.
void append_prediction(std::string& text, std::uint32_t id, std::optional<std::string_view> name,
                       double score);
// Adds "because" to the prediction that `text` ends with: the `limit` features that raise it most, of `parts`
// (attribution.h).
void append_reasons(std::string& text, const Model& model, std::span<const FeatureContribution> parts,
                    std::size_t limit);

// {"error": "..."}
std::string error_json(std::string_view message);

}  // namespace slide::serve
