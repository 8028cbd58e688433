#include "datasets/formats/log_columns.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "datasets/text/column_names.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

// Plain spellings, by preference.
constexpr std::string_view kUsers[] = {
    "user",      "userid",   "uid",        "usersid",  "userno",     "usercode", "userhash",
    "userkey",   "username", "visitorid",  "visitor",  "customerid", "customer", "customercode",
    "memberid",  "member",   "reviewerid", "reviewer", "accountid",  "account",  "profileid",
    "personid",  "playerid", "clientid",   "buyerid",  "readerid",   "msno",     "steamid",
    "sessionid", "session",  "sessionhash"};
constexpr std::string_view kItems[] = {
    "item",       "itemid",      "iid",        "movieid",  "movie",        "productid",  "product",
    "parentasin", "asin",        "isbn",       "bookid",   "book",         "articleid",  "article",
    "newsid",     "trackid",     "track",      "songid",   "song",         "artistid",   "artist",
    "sku",        "skuid",       "goodsid",    "videoid",  "video",        "photoid",    "adid",
    "businessid", "business",    "gameid",     "appid",    "animeid",      "recipeid",   "poiid",
    "poi",        "venueid",     "locationid", "jobid",    "stockcode",    "contentid",  "playlistid",
    "albumid",    "album",       "showid",     "courseid", "docid",        "documentid", "itemcode",
    "itemno",     "productcode", "beerid",     "jokeid",   "restaurantid", "podcastid",  "gmapid"};
constexpr std::string_view kWeights[] = {"rating",     "ratings",     "overall",       "stars",    "score",
                                         "bookrating", "reviewscore", "reviewoverall", "weight",   "w",
                                         "value",      "label",       "preference",    "strength", "plays",
                                         "playcount",  "playcounts",  "listencount",   "count",    "counts",
                                         "watchratio", "quantity",    "hours"};
constexpr std::string_view kTimeNames[] = {
    "timestamp",   "time",       "unixreviewtime", "unixtimestamp", "unixtime",   "timestampms",
    "ts",          "t",          "eventtime",      "datetime",      "date",       "createdat",
    "created",     "reviewtime", "timems",         "epoch",         "ratingdate", "timestamps",
    "invoicedate", "tdat",       "reviewdate",     "updatedat"};

std::span<const std::string_view> spellings_of(LogRole role) {
  switch (role) {
    case LogRole::kUser:
      return kUsers;
    case LogRole::kItem:
      return kItems;
    case LogRole::kWeight:
      return kWeights;
    case LogRole::kTime:
      break;
  }
  return kTimeNames;
}

// Letters and digits in lower case, without the type after a colon that RecBole's files have.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, name.find(':'))) {
    if (c >= 'A' && c <= 'Z') text += static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || is_digit(c)) text += c;
  }
  return text;
}

// A run of digits that a date has, of one length or another.
std::optional<int> take_digits(std::string_view& rest, std::size_t min, std::size_t max) {
  std::size_t count = 0;
  int value = 0;
  while (count < rest.size() && count < max && is_digit(rest[count]))
    value = value * 10 + (rest[count++] - '0');
  if (count < min) return std::nullopt;
  rest.remove_prefix(count);
  return value;
}

bool take_one_of(std::string_view& rest, std::string_view bytes) {
  if (rest.empty() || bytes.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

// Takes hh, hh:mm, hh:mm:ss, hh:mm:ss.fff or hhmm from the start of `rest`; returns seconds, nullopt for
// another form.
std::optional<double> take_clock(std::string_view& rest) {
  const auto hours = take_digits(rest, 2, 2);
  if (!hours || *hours > 24) return std::nullopt;
  take_one_of(rest, ":");
  const auto minutes = take_digits(rest, 2, 2);
  if (!minutes) return *hours * 3600.0;
  double seconds = 0;
  if (*minutes > 59) return std::nullopt;
  if (take_one_of(rest, ":")) {
    const auto whole = take_digits(rest, 2, 2);
    if (!whole || *whole > 60) return std::nullopt;
    seconds = *whole;
    if (take_one_of(rest, ".,")) {
      double unit = 1;
      while (!rest.empty() && is_digit(rest.front())) {
        seconds += (rest.front() - '0') * (unit /= 10);
        rest.remove_prefix(1);
      }
    }
  }
  return *hours * 3600.0 + *minutes * 60.0 + seconds;
}

// Z, UTC or an offset, as seconds to take away; 0 where there is none.
std::optional<double> take_zone(std::string_view& rest) {
  if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (take_one_of(rest, "Zz")) return 0;
  if (rest == "UTC" || rest == "GMT") {
    rest = {};
    return 0;
  }
  if (rest.empty()) return 0;
  const double sign = rest.front() == '-' ? -1 : 1;
  if (!take_one_of(rest, "+-")) return std::nullopt;
  const auto offset = take_clock(rest);
  if (!offset) return std::nullopt;
  return sign * *offset;
}

// Digits alone, few enough to be exact.
std::optional<std::uint64_t> short_whole(std::string_view field) {
  constexpr std::size_t kMaxDigits = 15;
  if (field.empty() || field.size() > kMaxDigits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : field) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

template <class T>
std::optional<T> parsed(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  const std::optional<T> value = number_of<T>(field);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

std::string_view name_of(LogRole role) {
  constexpr std::string_view kNames[] = {"user", "item", "weight", "time"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view key_of(LogRole role) {
  constexpr std::string_view kKeys[] = {"data.user", "data.item", "data.weight", "data.time"};
  return kKeys[static_cast<std::size_t>(role)];
}

// The column with the role; of several, the one whose name comes first in spellings_of().
std::optional<std::size_t> find_role(const std::vector<std::string>& names, LogRole role) {
  const auto spellings = spellings_of(role);
  std::optional<std::size_t> found;
  std::size_t rank = spellings.size();
  for (std::size_t column = 0; column < names.size(); ++column) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(spellings, plain(names[column])) - spellings.begin());
    if (at >= rank) continue;
    rank = at;
    found = column;
  }
  return found;
}

bool names_pairs(std::string_view user, std::string_view item) {
  const std::string of_users = plain(user), of_items = plain(item);
  const bool users = of_users.starts_with("user") || (of_users.ends_with("id") && of_users != "sessionid");
  return users && (of_items.starts_with("item") || of_items.ends_with("id") || of_items.ends_with("asin") ||
                   of_items == "isbn" || of_items == "sku");
}

bool names_text_or_labels(std::string_view name) {
  return has_part_of_table(plain(name));
}

bool names_index(std::string_view name) {
  return plain(name).empty() || name.starts_with("Unnamed: ") || plain(name) == "index";
}

std::optional<float> weight_in_field(std::string_view field) {
  if (const auto whole = short_whole(field)) return static_cast<float>(*whole);
  return parsed<float>(field);
}

// Parses a date, with or without clock and zone, as 2024-05-31T10:00:00+02:00: seconds since 1970 in UTC.
std::optional<double> date_in_field(std::string_view field) {
  constexpr double kDay = 86400;  // seconds
  if (field.size() < 8 || (field[4] != '-' && field[4] != '/')) return std::nullopt;
  std::string_view rest = field;
  const auto year = take_digits(rest, 4, 4);
  if (!year || !take_one_of(rest, "-/")) return std::nullopt;
  const auto month = take_digits(rest, 1, 2);
  if (!month || !take_one_of(rest, "-/")) return std::nullopt;
  const auto day = take_digits(rest, 1, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(unsigned(*month)),
                                         std::chrono::day(unsigned(*day))};
  if (!date.ok()) return std::nullopt;
  const double days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (rest.empty()) return days * kDay;
  if (!take_one_of(rest, "Tt ")) return std::nullopt;
  const auto clock = take_clock(rest);
  if (!clock) return std::nullopt;
  const auto zone = take_zone(rest);
  if (!zone || !rest.empty()) return std::nullopt;
  return days * kDay + *clock - *zone;
}

std::optional<double> time_in_field(std::string_view field) {
  if (const auto whole = short_whole(field)) return static_cast<double>(*whole);
  if (const auto number = parsed<double>(field)) return number;
  return date_in_field(field);
}

std::optional<std::size_t> time_unit_of(double number) {
  double from = 2e8, to = 4.2e9;
  for (std::size_t unit = 0; unit < kTimeUnits; ++unit, from *= 1000, to *= 1000) {
    if (number >= from && number < to) return unit;
  }
  return std::nullopt;
}

double in_unit_of(double time, double like) {
  if (time_unit_of(time) != 0U) return time;
  for (std::size_t unit = time_unit_of(like).value_or(0); unit > 0; --unit) time *= 1000;
  return time;
}

}  // namespace slide
