// Rows of scores for samples, from text or a matrix. Safe from any thread, with different LabelIndex objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/file_bytes.h"
#include "engine/run/label_index.h"
#include "engine/run/truth.h"

namespace slide {

// Scores as features, a row a sample; labels ascend. `origin` names the file in messages. `order`, unless
// nullptr, gets for each entry its place among equal scores of its row. All throw InputError for rows that do
// not belong to the samples, and for invalid labels and scores.

// A sample a line. Rows of blank lines are left out where there are such.
DatasetArrays parse_scores(std::string_view text, const std::string& origin, const ScoredRows& rows,
                           LabelIndex& index, std::vector<std::uint32_t>* order);
// A user a line, in any order. Lines of users that the samples do not have are left out and counted in
// rows.report.
DatasetArrays parse_user_scores(std::string_view text, const std::string& origin, const ScoredRows& rows,
                                LabelIndex& index, std::vector<std::uint32_t>* order);
// An archive of a SciPy matrix, by the names of its users where rows have users, and by the names of its
// columns, if it has these and the index has names.
DatasetArrays parse_score_matrix(const NamedBytes& bytes, const ScoredRows& rows, LabelIndex& index,
                                 std::vector<std::uint32_t>* order);

}  // namespace slide
