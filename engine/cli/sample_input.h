// Input samples of `slide predict`, from a file or standard input. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/formats/dense_data.h"
#include "datasets/row_stream.h"
#include "engine/cluster/cluster.h"
#include "engine/model/model_file.h"
#include "engine/run/interaction_data.h"
#include "engine/run/model_use.h"

namespace slide::cli {

class SampleInput {
 public:
  // `path`: "-" is standard input; several files (data_parts.h) are read consecutively. All arguments must
  // outlive this object. With several processes (collective calls), each reads a file itself; rank 0
  // distributes standard input. `names`: rows of interactions are users to look up; it is an error where
  // the log cannot be used and no row has items.
  SampleInput(const Model& model, const ModelUse& use, const std::string& path, Cluster& cluster,
              bool names = false);

  // Whether rows arrive over time, so that their grouping depends on timing: standard input that is not a
  // file.
  bool comes_in_pieces() const { return in_pieces_; }

  // Calls take(part) for all rows in order, for each line as soon as it arrives. The format is given by
  // `use`, or detected from the first line that is neither blank nor a comment (for text models: from the
  // first line), independent of the kind of input. Throws InputError.
  using Take = std::function<void(const RowPart& part)>;
  void for_each_part(const Take& take) const;

 private:
  void take_pieces(const Take& take) const;
  void take_files(const std::vector<std::string>& files, const Take& take) const;
  void take_bytes(std::string_view bytes, const Take& take) const;
  Take taking_checked(std::string_view head, DataFormat format, const Take& take) const;
  void take_array(std::string_view bytes, DataFormat format, const Take& take) const;
  void take_array_with_dense(const DensePaths& paths, const Take& take) const;
  void take_users(const ReadAsked& read, const Take& take) const;
  std::string known_log(std::vector<std::string>& notes) const;
  std::optional<DataFormat> array_format() const;
  bool shows_format(std::string_view head) const;
  DataFormat format_of(std::string_view head) const;
  std::optional<DataFormat> table_format_of(std::string_view head) const;
  std::optional<DataFormat> features_format_of(std::string_view head) const;
  RowStream stream_of(DataFormat format) const;

  const Model& model_;
  const ModelUse& use_;
  Cluster& cluster_;
  std::string path_;    // of a file that can be read from its beginning
  std::string origin_;  // replaces the path in messages
  bool in_pieces_, names_;
};

}  // namespace slide::cli
