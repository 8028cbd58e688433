// Request and answer of POST /similar, of a server started with --similar or --similar-features. A request is
// an object with "item" (a name; a number where there are no names) or "items" (a list of items), and
// optionally "of" ("labels" or "features", the kind of the items) and "k". The answer is
//   {"model": "<fingerprint>", "similar": [{"id": 7, "label": "jam", "score": 0.93}, ...]} by falling cosine,
//   or for "items" has a list "results" of objects with "item" and "similar", in the order of the items.
//   Among several items, an unknown item has an "error" and an empty list, and "unknown_items" is the number
//   of unknown items; a request with unknown items only is refused.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/serve/predict_api.h"

namespace slide::serve {

// Throws as answer_predict(). Safe from any thread.
PredictAnswer answer_similar(std::string_view body, const ServedModel& model, HeldBytes* held = nullptr);

}  // namespace slide::serve
