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

// Sources with quoted names: puts a field that contains blanks in quotes where it is a name of the known log
// (the first field: a user; other fields: items). Fields are divided at the separator of the known log. So
// the line "Ann Lee" is one user where the log has this user, and otherwise a user "Ann" with an item "Lee".
// Lines that already have quotes are unchanged.
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

// A warning of the first line without quotes whose first word is not a user, but begins the name of a user:
// divided at blanks, the line is a user of one word with items. "" where there is none. O(bytes + users).
std::string divided_name_warning(std::span<const TextSource> sources, const LogUsers& users);

}  // namespace slide
