// Samples of a request, brought into the form of a data set. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

  // Parts of a sample; nullptr: absent. The items of a user are its items in the log and the items in the
  // request.
  struct Parts {
    const Json* user = nullptr;
    const Json* text = nullptr;
    const Json* features = nullptr;
    const Json* dense = nullptr;  // beside a text
  };

  // `users`: what users of a model of interactions have, or nullptr.
  RequestSamples(const Model& model, const KnownUsers* users, Workspace& space)
      : model_(model), users_(users), space_(space), dense_key_(dense_key_of(model)) {}

  // The key of the dense columns beside a text: data.dense of the model, "vector" where that has no name or
  // one of another key; empty: there are none.
  std::string_view dense_key() const { return dense_key_; }
  bool is_dense_key(std::string_view key) const { return !dense_key_.empty() && key == dense_key_; }

  // Whether samples are users of an interaction log.
  bool of_users() const { return model_.config.data.kind == DataKind::kInteractions; }
  bool of_texts() const { return model_.text != nullptr; }

  // Adds a sample. Throws InputError with a line for the client.
  void add(const Json& input);
  void add(Parts parts);

  // Values of features, and words of texts, that the model does not know, and that were left out of all
  // samples.
  std::size_t unknown() const { return unknown_; }
  // Samples without any known feature, users aside.
  std::size_t without_features() const { return without_features_; }
  // Users of whom no item is known.
  std::size_t without_items() const { return without_items_; }
  // Name of the user of a sample; nullopt without one.
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
  static std::string dense_key_of(const Model& model);
  void add_dense(const Json* value);
  void take_dense();
  void add_entry(const Json& entry);
  void add_pair(std::uint64_t id, const Json& value);
  void merge_pairs();
  void append(std::size_t count);

  const Model& model_;
  const KnownUsers* users_;
  Workspace& space_;
  std::string dense_key_;
  DatasetArrays arrays_;
  std::vector<std::pair<std::uint32_t, float>> pairs_;
  std::vector<float> dense_;                       // rows of dense columns, one after the other
  std::vector<std::optional<std::string>> names_;  // of the users of samples
  Items items_;
  std::size_t unknown_ = 0, without_features_ = 0, without_items_ = 0;
};

}  // namespace slide::serve
