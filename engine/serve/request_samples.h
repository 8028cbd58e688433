// Samples of a request, brought into the form of a data set. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/model/model_file.h"
#include "engine/run/known_users.h"
#include "engine/serve/request_json.h"
#include "engine/serve/served_model.h"

namespace slide::serve {

class RequestSamples {
 public:
  using Json = RequestJson;

  // What a sample consists of; nullptr: nothing. A user's items are those of the log and those given.
  struct Parts {
    const Json* user = nullptr;
    const Json* text = nullptr;
    const Json* features = nullptr;
  };

  // `users`: what users of a model of interactions have, or nullptr.
  RequestSamples(const Model& model, const KnownUsers* users, Workspace& space)
      : model_(model), users_(users), space_(space) {}

  // Each adds a sample. Throw InputError with a line for the client.
  void add(const Json& input);
  void add(const Parts& parts);

  // Values of features that the model does not know, and that were left out of all samples.
  std::size_t unknown() const { return unknown_; }
  // Words and n-grams of texts that it does not know.
  std::size_t unknown_words() const { return unknown_words_; }
  // Users of whom no item is known.
  std::size_t without_items() const { return without_items_; }
  // Of a sample; nothing where none was named.
  const std::optional<std::string>& user(std::size_t sample) const { return names_[sample]; }

  // All samples; none are left.
  Dataset take();

 private:
  std::size_t columns() const { return model_.shape.dense; }
  std::uint32_t sparse() const {
    return static_cast<std::uint32_t>(model_.network.sample_features() - columns());
  }
  void add_text(const Json& value);
  void add_features(const Json& value);
  void take_user(const Json& user);
  std::size_t with_items_of_user(std::size_t count);
  bool is_dense() const { return columns() > 0 && sparse() == 0; }
  std::uint64_t first_id() const { return model_.config.data.one_based ? 1 : 0; }
  void add_columns(const Json& value);
  void take_dense();
  void add_entry(const Json& entry);
  void add_pair(std::uint64_t id, const Json& value);
  void merge_pairs();
  void append(std::size_t count);

  const Model& model_;
  const KnownUsers* users_;
  Workspace& space_;
  DatasetArrays arrays_;
  std::vector<std::pair<std::uint32_t, float>> pairs_;
  std::vector<float> dense_;                       // rows of dense columns, one behind the other
  std::vector<std::optional<std::string>> names_;  // of the users of samples
  Items items_;
  std::size_t unknown_ = 0, unknown_words_ = 0, without_items_ = 0;
};

}  // namespace slide::serve
