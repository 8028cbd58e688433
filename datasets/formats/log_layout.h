// Layout of an interaction log: lists of items, or (user, item) pairs in columns. Found from a header line,
// else from all lines (log_decision.h), independent of their order. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/formats/log_form.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/text_source.h"

namespace slide {

// The layouts of all parts (files) of a log.
struct LogLayouts {
  std::vector<LogLayout> parts;
  std::vector<std::string> warnings;  // doubtful decisions, one line each

  TextForm form() const { return parts.front().form; }
  bool has_times() const;
};

// A log has pairs if
//   - a header line or `options` name its columns;
//   - or all lines have two fields;
//   - or lines have three or four fields, fields 3 and 4 are numbers or times, and a user is on several
//     lines, items are not numbers, or a column can only be a time.
// Else it has lists. `known`: layout of another part of the log, which decides where each user is on one
// line. Up to a tenth of the lines may be malformed, except with two fields. Throws InputError, with the keys
// to set, where the roles of columns are ambiguous. Reads all lines, in parallel.
LogLayouts find_log_layouts(std::span<const TextSource> sources, const ReadOptions& options,
                            std::optional<KnownLog> known, std::size_t chunk_bytes = kDefaultChunkBytes);

// The layout of a text whose header line names the columns of users and items; nothing without such a line.
std::optional<LogLayout> layout_of_header(std::string_view text, const LogOptions& options);

// Whether the first line is a header of an interaction log: all its columns have a role; or the columns of
// users and items have names that only logs use, and no other column has a usual name of texts or labels.
bool has_log_header(std::string_view text);

// Describes the roles of the columns of a header, or of columns that `options` name by number: "users by
// user_id, items by item_id; not read: channel". Empty where all columns are read, and for other texts.
std::string describe_columns(std::string_view text, const LogOptions& options);

}  // namespace slide
