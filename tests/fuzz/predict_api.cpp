// Fuzz target: the body of POST /predict, for a feature model and a text model. An answer must be JSON with
// finite scores.
#include "engine/serve/predict_api.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/served_models.h"

namespace slide::fuzz {
namespace {

using Json = nlohmann::json;

void check_predictions(const Json& answer) {
  for (const Json& prediction : answer.at("predictions")) {
    check(prediction.at("score").is_number(), "a score is a finite number");
    for (const Json& reason : prediction.value("because", Json::array()))
      check(reason.at("part").is_number(), "a part is a finite number");
  }
}

void check_answer(const std::string& text) {
  const Json answer = Json::parse(text);
  if (!answer.contains("results")) return check_predictions(answer);
  for (const Json& result : answer.at("results")) check_predictions(result);
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide::fuzz;
  for (const auto& model : served_models()) {
    std::string answer, message;
    if (accepted([&] { answer = slide::serve::answer_predict(text_of(data, size), *model, 2).json(); },
                 message)) {
      check_answer(answer);
    } else {
      check(Json::parse(slide::serve::error_json(message)).at("error").is_string(), "an error is JSON");
    }
  }
  return 0;
}
