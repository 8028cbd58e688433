// Names with blanks in lines of users to predict for. Safe from any thread.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "datasets/formats/log_users.h"
#include "datasets/rows/text_source.h"
#include "datasets/text/log_fields.h"
#include "datasets/text/text_model.h"

namespace slide {

// Sources in which fields with blanks between the separators of the known log stand in quotes where they are
// names that it has: the first field that of a user, another that of an item. So a line "Ann Lee" is a user
// where the log has this user, and a user with an item where it has not. Other lines with quotes stay as they
// are.
class AskedSources {
 public:
  // `separator`: of the known log; kBlanks leaves everything as it is. The sources must outlive this.
  AskedSources(std::span<const TextSource> sources, Separator separator, const LogUsers& users,
               const TextModel& items);
  AskedSources(const AskedSources&) = delete;
  AskedSources& operator=(const AskedSources&) = delete;

  std::span<const TextSource> sources() const { return sources_; }

 private:
  std::deque<std::string> texts_;  // of changed sources
  std::vector<TextSource> sources_;
};

// A warning of the first line without quotes whose first word is no user, but begins the name of one: divided
// at blanks, such a line is a user of one word with items. "" where there is none. O(bytes + users).
std::string divided_name_warning(std::span<const TextSource> sources, const LogUsers& users);

}  // namespace slide
