// The samples that `slide predict` answers, from a file or standard input. For one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/row_stream.h"
#include "engine/cluster/cluster.h"
#include "engine/run/interaction_data.h"
#include "engine/run/model_file.h"
#include "engine/run/model_use.h"

namespace slide::cli {

class SampleInput {
 public:
  // `path`: "-" is standard input; several files (data_parts.h) are answered one after the other. All
  // arguments must outlive this object. Of several processes, which make the same calls, each reads a file
  // for itself; of standard input the first tells the others.
  SampleInput(const Model& model, const ModelUse& use, const std::string& path, Cluster& cluster);

  // Whether rows are there only as somebody writes them, so that which come together is a matter of time:
  // standard input that is no file.
  bool comes_in_pieces() const { return in_pieces_; }

  // Of a log of interactions, users are looked up in the log that the model was trained on, or that `use`
  // names: what they have there counts as what they have in the input.
  //
  // Calls take(part) for all rows in their order; each line is passed on as soon as it is there. The format
  // is named by `use`, else found from the first line that is neither blank nor a comment, for a model
  // trained on text from the first line: the same way wherever the bytes come from. Throws InputError.
  using Take = std::function<void(const RowPart& part)>;
  void for_each_part(const Take& take) const;

 private:
  void take_pieces(const Take& take) const;
  void take_files(const std::vector<std::string>& files, const Take& take) const;
  void take_bytes(std::string_view bytes, const Take& take) const;
  void take_users(const ReadAsked& read, const Take& take) const;
  std::string known_log() const;
  bool is_array_file() const;
  bool shows_format(std::string_view head) const;
  DataFormat format_of(std::string_view head) const;
  std::optional<DataFormat> table_format_of(std::string_view head) const;
  std::optional<DataFormat> features_format_of(std::string_view head) const;
  RowStream stream_of(DataFormat format) const;

  const Model& model_;
  const ModelUse& use_;
  Cluster& cluster_;
  std::string path_;    // of a file that can be read from its beginning
  std::string origin_;  // stands for it in messages
  bool in_pieces_;
};

}  // namespace slide::cli
