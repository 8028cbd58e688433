// Samples of a request, brought into the form of a data set. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.h"
#include "engine/run/model_file.h"
#include "engine/serve/request_json.h"
#include "engine/serve/served_model.h"

namespace slide::serve {

class RequestSamples {
 public:
  using Json = RequestJson;

  RequestSamples(const Model& model, Workspace& space) : model_(model), space_(space) {}

  // Each adds a sample: of either kind, of a text, of features. Throw InputError with a line for the client.
  void add(const Json& input);
  void add_text(const Json& value);
  void add_features(const Json& value);

  // Values of features that the model does not know, and that were left out of all samples.
  std::size_t unknown() const { return unknown_; }

  // All samples; none are left.
  Dataset take();

 private:
  std::size_t columns() const { return model_.shape.dense; }
  std::uint32_t sparse() const {
    return static_cast<std::uint32_t>(model_.network.sample_features() - columns());
  }
  bool is_dense() const { return columns() > 0 && sparse() == 0; }
  std::uint64_t first_id() const { return model_.config.data.one_based ? 1 : 0; }
  void add_columns(const Json& value);
  void take_dense();
  void add_entry(const Json& entry);
  void add_pair(std::uint64_t id, const Json& value);
  void merge_pairs();
  void append(std::size_t count);

  const Model& model_;
  Workspace& space_;
  DatasetArrays arrays_;
  std::vector<std::pair<std::uint32_t, float>> pairs_;
  std::vector<float> dense_;  // rows of dense columns, one behind the other
  std::size_t unknown_ = 0;
};

}  // namespace slide::serve
