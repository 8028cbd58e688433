// Request and answer of POST /similar, of a server started with --similar or --similar-features. A request is
// an object with "item", a name, or a number where there are no names, or "items", a list of these, and
// optionally "of" ("labels", or "features" as samples are made of) and "k".
// The answer is
//   {"model": "<fingerprint>", "similar": [{"id": 7, "label": "jam", "score": 0.93}, ...]}
// by falling cosine, or for "items" has a list "results" of objects with "item" and "similar", in their
// order. Of several items those that the model lacks have an "error" and nothing similar, and "unknown_items"
// is their number; a request whose items are all unknown is refused.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/serve/predict_api.h"

namespace slide::serve {

// Throws as answer_predict(). Safe from any thread.
PredictAnswer answer_similar(std::string_view body, const ServedModel& model, HeldBytes* held = nullptr);

}  // namespace slide::serve
