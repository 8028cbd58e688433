// Names with blanks in lines of users to predict for. Safe from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "datasets/rows/text_source.h"
#include "datasets/text/log_fields.h"
#include "datasets/text/text_model.h"

namespace slide {

// Sources in which fields with blanks between the separators of the known log stand in quotes where they are
// names that it has: the first field that of a user, another that of an item. So a line "Ann Lee" is a user
// where the log has this user, and a user with an item where it has not. Lines with quotes stay as they are.
class AskedSources {
 public:
  // `separator`: of the known log; kBlanks leaves everything as it is. The sources must outlive this.
  using HasUser = std::function<bool(std::string_view user)>;
  AskedSources(std::span<const TextSource> sources, Separator separator, const HasUser& has_user,
               const TextModel& items);
  AskedSources(const AskedSources&) = delete;
  AskedSources& operator=(const AskedSources&) = delete;

  std::span<const TextSource> sources() const { return sources_; }

 private:
  std::deque<std::string> texts_;  // of changed sources
  std::vector<TextSource> sources_;
};

// First words of the names of known users that hold blanks.
using FirstWords = std::unordered_set<std::string_view>;
template <class Users>  // LogUsers
FirstWords first_words_of(const Users& users) {
  FirstWords words;
  for (std::size_t row = 0; row < users.size(); ++row) {
    const std::string_view name = users.name(row);
    if (const std::size_t end = name.find(' '); end != std::string_view::npos)
      words.insert(name.substr(0, end));
  }
  return words;
}

// A warning of the first line without quotes whose first word is no user, but one of `first_words`: divided
// at blanks, such a line is a user of one word with items. "" where there is none. O(bytes).
std::string divided_name_warning(std::span<const TextSource> sources, const FirstWords& first_words,
                                 const AskedSources::HasUser& has_user);

}  // namespace slide
