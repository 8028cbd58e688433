// How the lines of a log of interactions hold users and items: lists, or pairs in columns. Found from a first
// line that names columns, else from all lines, so that their order changes nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/log_form.h"
#include "datasets/read_options.h"
#include "datasets/text_source.h"

namespace slide {

// Of all parts.
struct LogLayouts {
  std::vector<LogLayout> parts;
  std::vector<std::string> warnings;  // what may be meant otherwise, a line each

  TextForm form() const { return parts.front().form; }
  bool has_times() const;
};

// Pairs are lines whose columns a first line or `options` name; lines that all have two fields; and of three
// or four fields those whose third and fourth are numbers or times, where a user is on several lines, items
// are no numbers, or nothing but a time can be meant. All else are lists. Where a user is on one line each,
// `known` decides. A tenth of the lines may be at fault, those of two fields apart. Throws InputError where
// columns cannot be told, with what to set. Goes through all lines, in parallel.
LogLayouts find_log_layouts(std::span<const TextSource> sources, const ReadOptions& options,
                            std::optional<KnownLog> known, std::size_t chunk_bytes = kDefaultChunkBytes);

// The layout of a text whose first line names the columns of users and items; nothing for others.
std::optional<LogLayout> layout_of_head(std::string_view text, const LogOptions& options);

// Whether a first line names nothing but what a log of interactions has.
bool has_log_head(std::string_view text);

}  // namespace slide
