// Options for reading a data file. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace slide {

class LogUsers;
class TextModel;
class UnknownLabels;
struct ReadReport;
enum class Separator : std::uint8_t;  // log_fields.h

enum class DataFormat { kAuto, kXmc, kLibsvm, kIdx, kText, kNpz, kJsonl, kCsv, kTsv, kInteractions };

// Whether samples of this format have named columns.
inline bool is_table(DataFormat format) {
  return format == DataFormat::kJsonl || format == DataFormat::kCsv || format == DataFormat::kTsv;
}

// Roles of the columns of a table; a table without `text` is an error.
struct TableColumns {
  std::string text;                   // column names, comma-separated
  std::string labels;                 // column name
  std::string label_separator = ",";  // where the labels column is one string
  std::string weight;                 // column name; empty: all weights 1
  std::string group{}, time{};        // column names or empty: see SampleKeys
  std::string dense{};                // JSON Lines: column of dense features, a list of numbers; or empty
  bool operator==(const TableColumns&) const = default;
};

// Whether a line of a log of interactions is a user with its items, or a user and one item.
enum class LogForm { kAuto, kLists, kPairs };

// The items of a user that are held out (LogUsers::held_out()): the newest, by number or by share, rounded
// down; or items that the user has from a time on and not before. `from` in seconds, such as a date, is
// converted to the unit of the log.
struct HoldOut {
  std::uint32_t newest = 0;
  double share = 0;
  std::optional<double> from{};
  bool wanted() const { return newest > 0 || share > 0 || from; }
  bool operator==(const HoldOut&) const = default;
};

// How a log of interactions is read (log_layout.h). Columns are names of the first line or numbers from 1;
// empty: found by the names that public sets use, or by what the fields hold. kNoColumn: there is none.
struct LogOptions {
  static constexpr const char* kNoColumn = "none";

  LogForm form = LogForm::kAuto;
  std::string user{}, item{};  // either: lines are pairs
  std::string weight{}, time{};
  HoldOut hold_out{};
  bool in_order = false;        // an item later in the file is newer, whatever its time
  bool rows_by_name = false;    // rows in the order of the users' names, else of their first lines
  std::size_t like_fields = 0;  // to predict for: pairs have so many fields, or two; 0: any number
  std::optional<Separator> like_separator{};  // and are separated by this; none: any separator
  const LogUsers* like_users = nullptr;       // to predict for: known users, whose names may have blanks
  bool operator==(const LogOptions&) const = default;
};

struct ReadOptions {
  DataFormat format = DataFormat::kAuto;
  bool one_based = false;  // libsvm: feature ids start at 1
  bool normalize = true;   // scale each sample to unit Euclidean length (zero samples stay)
  // Ids at or above are an error; 0: the header's value, or no limit. A given limit also becomes the
  // sparse_count() or label_count() of the data set, so that a test set has the shape of its training set.
  std::uint32_t feature_limit = 0;
  std::uint32_t label_limit = 0;
  // Sparse features at or above feature_limit are left out and counted in the report: a trained model has no
  // weights for them. This applies to formats whose files may have more features than the model, not to IDX
  // images, whose size is fixed.
  bool leave_out_features = false;
  // If set: labels of text that `text` lacks get ids after its own, and their names go here; else they are
  // left out.
  UnknownLabels* unknown_labels = nullptr;
  // Required number of dense columns; nullopt: any.
  std::optional<std::uint32_t> dense_columns = std::nullopt;
  int threads = 0;  // 0 = all cores
  // Vocabulary for text; without it, labelled text is an error.
  std::shared_ptr<const TextModel> text = nullptr;
  // Columns of a table.
  TableColumns columns = {};
  // Columns and form of an interaction log.
  LogOptions log = {};
  // Skip malformed lines of text; else the first one is an error.
  bool skip_bad = false;
  // If set: receives the report of the reading; overwritten.
  ReadReport* report = nullptr;
  // For interactions, if set: receives the users of the rows; must be empty.
  LogUsers* users = nullptr;
};

}  // namespace slide
