// Tests of slide recommend and slide similar.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class RecommendTest : public CliTest {
 protected:
  // Users of a group have four of its five items, named iGROUP-NUMBER.
  void train_shop() {
    std::string log = "user,item\n";
    for (int user = 0; user < 60; ++user) {
      for (int item = 0; item < 5; ++item) {
        if (item != user / 6 % 5) log += fmt::format("u{},i{}-{}\n", user, user % 6, item);
      }
    }
    write_file(slide_.path("log.csv"), log);
    expect_done(slide_.run({"train", "log.csv", "--set", "data.kind=interactions", "train.epochs=20", "--out",
                            "shop", "--quiet"}));
  }
  std::string out(const std::vector<std::string>& arguments, const std::string& input = "") {
    const Outcome done = expect_done(slide_.run(arguments, input));
    return done.out;
  }
  // Lines "a TAB b TAB score" by their first field.
  static std::map<std::string, std::vector<std::pair<std::string, double>>> by_first(
      const std::string& text) {
    std::map<std::string, std::vector<std::pair<std::string, double>>> all;
    std::istringstream lines(text);
    std::string first, second, score;
    while (std::getline(lines, first, '\t') && std::getline(lines, second, '\t') &&
           std::getline(lines, score))
      all[first].emplace_back(second, std::stod(score));
    return all;
  }
};

TEST_F(RecommendTest, UsersGetWhatPredictAnswers) {
  train_shop();
  const auto all = by_first(out({"recommend", "shop", "--k", "3"}));
  EXPECT_EQ(all.size(), 60U);
  std::istringstream lines(out({"predict", "shop", "log.csv", "--k", "3"}));
  int compared = 0;
  for (std::string line; std::getline(lines, line); ++compared) {
    std::istringstream parts(line);
    std::string user, one, again;
    std::getline(parts, user, '\t');
    for (const auto& [item, score] : all.at(user)) again += fmt::format("\t{}:{:.6g}", item, score);
    std::getline(parts, one, '\0');
    EXPECT_EQ("\t" + one, again) << user;
  }
  EXPECT_EQ(compared, 60);
  EXPECT_EQ(all.at("u0").front().first, "i0-0") << "what the group has and the user lacks";
  EXPECT_EQ(by_first(out({"recommend", "shop"})).at("u0").size(), 20U) << "20 unless told";
}

TEST_F(RecommendTest, SomeUsersNewUsersAndWhatTheyHave) {
  train_shop();
  write_file(slide_.path("users.txt"), "u7\nu3\n");
  const std::string some = out({"recommend", "shop", "--users", "users.txt", "--k", "2"});
  EXPECT_TRUE(some.starts_with("u7\t")) << some;
  EXPECT_EQ(by_first(some).size(), 2U);
  const auto kept = by_first(out({"recommend", "shop", "--users", "users.txt", "--keep-known", "--k", "5"}));
  std::set<std::string> items;
  for (const auto& [item, score] : kept.at("u7")) items.insert(item);
  EXPECT_EQ(items, (std::set<std::string>{"i1-0", "i1-1", "i1-2", "i1-3", "i1-4"}));
  const auto cold =
      by_first(out({"recommend", "shop", "--users", "-", "--k", "1"}, "new i2-0 i2-1 i2-2 i2-3\n"));
  EXPECT_EQ(cold.at("new").front().first, "i2-4");
}

// Without a log, a name alone says nothing of its user.
TEST_F(RecommendTest, NamesThatCannotBeLookedUpAreRefused) {
  train_shop();
  std::filesystem::copy_file(slide_.path("shop/model.slide"), slide_.path("alone.slide"));
  for (const char* log : {"log.csv, which is read only for", "log.csv is not there"}) {
    const bool gone = std::string(log).ends_with("there");
    if (gone) std::filesystem::rename(slide_.path("log.csv"), slide_.path("moved.csv"));
    const std::string model = gone ? "shop" : "alone.slide";
    const auto ask = [&](const std::string& users) {
      return slide_.run({"recommend", model, "--users", "-", "--k", "2"}, users);
    };
    const Outcome refused = ask("u7\nnobody\n");
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    for (const char* part : {"standard input: no user has an item that the model knows; ",
                             gone ? log : "log.csv as the log", "by --known, or give items behind the names"})
      EXPECT_TRUE(contains(refused.err, part));
    const Outcome some = ask("u7\nnew i2-0 i2-1\n");  // others are answered
    EXPECT_EQ(some.code, 0) << some.err;
    EXPECT_EQ(by_first(some.out).size(), 2U);
    EXPECT_EQ(std::ranges::count(some.err, '\n'), 1) << some.err;
    EXPECT_TRUE(contains(some.err, "1 of 2 users have no item"));
    EXPECT_EQ(ask("new i2-0 i2-1\n").code, 0);
  }
  expect_done(
      slide_.run({"recommend", "alone.slide", "--users", "-", "--known", "moved.csv"}, "u7\nnobody\n"));
  EXPECT_EQ(slide_.run({"recommend", "alone.slide", "--users", "-", "--known", "moved.csv"}, "nobody\n").code,
            0)
      << "cold users of a log get what most users have";
}

// In logs whose columns have something else than blanks between them, names with blanks need no quotes.
TEST_F(RecommendTest, UsersOfTheLogMayHaveBlanksInTheirNames) {
  for (const std::string separator : {",", "\t", "::"}) {
    std::string log;
    for (int user = 0; user < 60; ++user) {
      for (int item = 0; item < 5; ++item) {
        if (item != user / 6 % 5)
          log += fmt::format("\"Ann {}\"{}\"tea {}-{}\"\n", user, separator, user % 6, item);
      }
    }
    write_file(slide_.path("blanks.csv"), log);
    ASSERT_EQ(slide_
                  .run({"train", "blanks.csv", "--set", "data.kind=interactions", "train.epochs=20", "--out",
                        "blanks", "--quiet", "--force"})
                  .code,
              0);
    const auto answers = [&](const std::string& asked) {
      return by_first(out({"recommend", "blanks", "--users", "-", "--k", "1"}, asked));
    };
    const auto some = answers("Ann 7\nAnn 3\n");
    EXPECT_EQ(some, answers("\"Ann 7\"\n\"Ann 3\"\n")) << separator;
    ASSERT_EQ(some.size(), 2U) << separator;
    EXPECT_EQ(some.at("Ann 7").front().first, "tea 1-1") << "what the group has and the user lacks";
    const auto few = answers(fmt::format("Ann 7\nAnn 12{}tea 3-0\n", separator));
    EXPECT_EQ(few.at("Ann 7"), some.at("Ann 7"));
    EXPECT_EQ(few.at("Ann 12").front().first, "tea 0-2");
    // Users that the log does not have are lists, as before.
    const Outcome other = slide_.run({"recommend", "blanks", "--users", "-", "--k", "1"}, "Bob Lee\n");
    EXPECT_TRUE(other.out.starts_with("Bob\t")) << other.out;
    EXPECT_TRUE(contains(other.err, "1 of 1 users have no item that the model knows"));
    EXPECT_EQ(answers("new \"tea 2-0\" \"tea 2-1\" \"tea 2-2\" \"tea 2-3\"\n").at("new").front().first,
              "tea 2-4");
  }
}

// Share of the users, or under the softmax of the log's lines; items that the model has seen least come last.
TEST_F(RecommendTest, UsersWithoutItemsGetWhatMostUsersHave) {
  std::string log;
  for (int user = 0; user < 60; ++user) {
    if (user < 45) log += fmt::format("u{},hit\n", user);
    if (user >= 20) log += fmt::format("u{},second\n", user);
    log += fmt::format("u{0},own{1}\nu{0},also{1}\n", user, user % 20);
  }
  write_file(slide_.path("hits.csv"), log);
  for (const auto& [loss, all] :
       {std::pair<std::string, double>{"sigmoid", 60}, {"softmax", 45 + 40 + 120}}) {
    expect_done(slide_.run({"train", "hits.csv", "--set", "data.kind=interactions", "loss.kind=" + loss,
                            "train.epochs=2", "--out", "hits", "--quiet", "--force"}));
    const auto answer = by_first(out({"recommend", "hits", "--users", "-", "--k", "3"}, "nobody\nu3\n"));
    ASSERT_EQ(answer.at("nobody").size(), 3U);
    EXPECT_EQ(answer.at("nobody")[0].first, "hit");
    EXPECT_NEAR(answer.at("nobody")[0].second, 45 / all, 1e-5);
    EXPECT_EQ(answer.at("nobody")[1].first, "second");
    EXPECT_NEAR(answer.at("nobody")[1].second, 40 / all, 1e-5);
    EXPECT_NEAR(answer.at("nobody")[2].second, 3 / all, 1e-5);
    EXPECT_NE(answer.at("u3")[0].first, "hit") << "the user has it";
  }
}

TEST_F(RecommendTest, ARegistryLooksUpUsersAsTheRunDoes) {
  train_shop();
  const std::string answers = out({"recommend", "shop", "--k", "2"});
  ASSERT_EQ(slide_.run({"models", "add", "shops", "shop", "--name", "v1"}).code, 0);
  EXPECT_EQ(out({"recommend", "shops", "--k", "2"}), answers);
  ASSERT_EQ(slide_.run({"models", "add", "more", "shops", "--name", "v2"}).code, 0);
  EXPECT_EQ(out({"recommend", "more", "--k", "2"}), answers) << "from registry to registry";
  // A model that was no run's has no configuration to keep, also where another's was.
  std::filesystem::copy_file(slide_.path("shop/model.slide"), slide_.path("alone.slide"));
  std::filesystem::remove(slide_.path("shops/v1.slide"));
  ASSERT_EQ(slide_.run({"models", "add", "shops", "alone.slide", "--name", "v1"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(slide_.path("shops/v1.run.toml")));
  expect_refused(slide_.run({"recommend", "shops"}), "name it by --known");
}

TEST_F(RecommendTest, WritesTablesObjectsAndMatrices) {
  train_shop();
  const std::string text = out({"recommend", "shop", "--k", "2"});
  const std::string json = out({"recommend", "shop", "--k", "2", "--json"});
  for (const auto& [name, wanted] : {std::pair("best.tsv", text), std::pair("best.jsonl", json)}) {
    EXPECT_EQ(out({"recommend", "shop", "--k", "2", "--out", name}), "");
    EXPECT_EQ(file(name), wanted);
  }
  out({"recommend", "shop", "--k", "2", "--out", "why.jsonl", "--explain", "2"});
  EXPECT_EQ(file("why.jsonl"), out({"recommend", "shop", "--k", "2", "--json", "--explain", "2"}));
  expect_refused(slide_.run({"recommend", "shop", "--explain", "2"}), "only objects hold reasons");
  const Json first = Json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(first["user"], "u0");
  EXPECT_EQ(first["predictions"].size(), 2U);
  out({"recommend", "shop", "--k", "2", "--out", "best.npz"});
  out({"predict", "shop", "log.csv", "--k", "2", "--out", "other.npz"});
  EXPECT_EQ(file("best.npz"), file("other.npz"));
  EXPECT_EQ(slide_.run({"recommend", "shop", "--out", "best.csv"}).code, 2);
}

// The files of ml-1m, in their exact form: users of six groups, each with four of its five films. One title
// is not ASCII, but Latin-1.
class MovieLensTest : public RecommendTest {
 protected:
  void write_movielens() {
    std::filesystem::create_directories(slide_.path("ml-1m"));
    std::string ratings, movies;
    for (int user = 1; user <= 60; ++user) {
      for (int film = 0; film < 5; ++film) {
        if (film != user / 6 % 5)
          ratings += fmt::format("{}::{}::{}::{}\n", user, id_of(user, film), 3 + film % 3,
                                 978300760 + user * 100 + film);
      }
    }
    for (int film = 0; film < 30; ++film)
      movies +=
          fmt::format("{}::{}::Animation|Children's|Comedy\n", 100 * (film / 5) + film % 5 + 1,
                      film == 0 ? "Mis\xe9rables, Les (1995)" : fmt::format("Film, the {} (1995)", film));
    write_file(slide_.path("ml-1m/ratings.dat"), ratings);
    write_file(slide_.path("ml-1m/movies.dat"), movies + "3952::Contender, The (2000)::Drama|Thriller\n");
  }
  static int id_of(int user, int film) { return 100 * (user % 6) + film + 1; }
};

TEST_F(MovieLensTest, ThreeCommandsLeadToTitles) {
  write_movielens();
  expect_done(slide_.run({"train", "ml-1m/ratings.dat", "--set", "data.test_newest=0.2", "train.epochs=20",
                          "--out", "run/ml-1m"}));
  const Outcome best = expect_done(
      slide_.run({"recommend", "run/ml-1m", "--titles", "ml-1m/movies.dat", "--out", "top20.tsv"}));
  EXPECT_EQ(best.err, "slide: ml-1m/movies.dat: is not UTF-8; read as Latin-1\n");
  const std::string top = file("top20.tsv"), bare = out({"recommend", "run/ml-1m"});
  EXPECT_EQ(std::count(top.begin(), top.end(), '\n'), 60 * 20);
  // The columns before the titles are those without them.
  EXPECT_TRUE(top.starts_with("1\t")) << top.substr(0, 80);
  std::istringstream lines(top), bare_lines(bare);
  for (std::string line, without; std::getline(lines, line) && std::getline(bare_lines, without);) {
    ASSERT_TRUE(line.starts_with(without + "\t")) << line;
    EXPECT_TRUE(line.ends_with("(1995)")) << line;
  }
  EXPECT_TRUE(contains(top, "\tMis\u00e9rables, Les (1995)\n"));
  const std::string similar = out({"similar", "run/ml-1m", "1", "--titles", "ml-1m/movies.dat", "--json"});
  EXPECT_TRUE(Json::parse(similar)["similar"][0]["title"].get<std::string>().starts_with("Film, the "));
  const Json user = Json::parse(
      out({"recommend", "run/ml-1m", "--users", "-", "--json", "--k", "1", "--titles", "ml-1m/movies.dat"},
          "new 2 3 4 5\n"));
  EXPECT_EQ(user["predictions"][0]["label"], "1");
  EXPECT_EQ(user["predictions"][0]["title"], "Mis\u00e9rables, Les (1995)");
}

TEST_F(MovieLensTest, TitlesComeFromTheOtherReleasesToo) {
  train_shop();
  const std::string asked = "new i0-0 i0-1 i0-2 i0-3\n";
  for (const auto& [titles, wanted] :
       {std::pair("movieId,title,genres\ni0-4,\"American \"\"President\"\", The (1995)\",Drama\n",
                  "American \"President\", The (1995)"),
        {"i0-4|GoldenEye (1995)|01-Jan-1995||http://us.imdb.com|0|1\n", "GoldenEye (1995)"},
        {"i0-4\tA, b::c\n", "A, b::c"},
        {"movieId,title,genres\ni0-4,shown,Drama\ni0-4,\"\",Drama\n", "shown"},
        {"i9\tnone\ni0-4\t\ni0-4\tlast\n", "last"}}) {
    write_file(slide_.path("titles"), titles);
    const std::string line =
        out({"recommend", "shop", "--users", "-", "--k", "1", "--titles", "titles"}, asked);
    EXPECT_TRUE(line.ends_with(fmt::format("\t{}\n", wanted))) << line;
  }
  write_file(slide_.path("titles"), "i9\tnone\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"recommend", "shop", "--titles", "titles"},
        {"similar", "shop", "i0-0", "--titles", "titles"},
        {"similar", "shop", "i0-0", "--titles", "nothing"},
        {"similar", "shop", "i0-0", "--of", "features", "--titles", "titles"},
        {"recommend", "shop", "--titles", "titles", "--out", "best.npz"}}) {
    const Outcome refused = slide_.run(command);
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
  write_file(slide_.path("titles"), "movieId,title\ni0-4,\"American President (1995)\n");
  const Outcome open = slide_.run({"recommend", "shop", "--titles", "titles"});
  EXPECT_EQ(open.code, 2);
  EXPECT_EQ(open.err,
            "slide: titles:2:6: quotes open here and are never closed; close them, or double a lone quote\n");
}

TEST_F(RecommendTest, RefusesWhatKnowsNoUsers) {
  train_model();
  expect_refused(slide_.run({"recommend", "out"}), "was not trained on interactions");
  train_shop();
  expect_refused(slide_.run({"recommend", "shop", "--users", "nobody.txt"}), "nobody.txt");
}

TEST_F(RecommendTest, SimilarItemsAreThoseOfInspect) {
  train_shop();
  const auto found = by_first(out({"similar", "shop", "i2-0", "i4-3", "--k", "4"}));
  ASSERT_EQ(found.size(), 2U);
  for (const auto& [item, similar] : found) {
    const Json inspected = Json::parse(out({"inspect", "shop", "--label", item, "--k", "4", "--json"}));
    const Json& nearest = inspected["labels"][0]["nearest"];
    ASSERT_EQ(nearest.size(), similar.size());
    for (std::size_t r = 0; r < similar.size(); ++r) {
      EXPECT_NEAR(nearest[r]["cosine"].get<double>(), similar[r].second, 1e-5);
    }
  }
  EXPECT_EQ(by_first(out({"similar", "shop", "--all", "--k", "1"})).size(), 30U);
  EXPECT_EQ(out({"similar", "shop", "-"}, "i2-0\ni4-3\n"), out({"similar", "shop", "i2-0", "i4-3"}));
  const Outcome some = slide_.run({"similar", "shop", "-"}, "i2-0\ni9-0x\n\nelse where\ni4-3\n");
  EXPECT_EQ(some.code, 0);
  EXPECT_EQ(some.out, out({"similar", "shop", "i2-0", "i4-3"})) << "what the model has";
  EXPECT_NE(
      some.err.find("warning: standard input:2: there is no label 'i9-0x' in the model; did you mean 'i"),
      std::string::npos)
      << some.err;
  EXPECT_NE(some.err.find("warning: standard input:4: there is no label 'else where' in the model\n"),
            std::string::npos)
      << some.err;
  const Outcome misspelt = slide_.run({"similar", "shop", "i2-0", "i3-00"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_EQ(misspelt.err, "slide: there is no label 'i3-00' in the model; did you mean 'i3-0'?\n");
  const Outcome nothing = slide_.run({"similar", "shop", "-"}, "nowhere\n");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.err, "slide: standard input:1: there is no label 'nowhere' in the model\n");
  const Json line = Json::parse(out({"similar", "shop", "i0-0", "--k", "1", "--json"}));
  EXPECT_EQ(line["item"], "i0-0");
  EXPECT_TRUE(line["similar"][0].contains("name"));
  EXPECT_EQ(line["similar"][0]["label"], line["similar"][0]["name"]);
  EXPECT_EQ(line["similar"][0]["score"], line["similar"][0]["cosine"]);
  EXPECT_EQ(by_first(out({"similar", "shop", "i1-1", "--of", "features"})).size(), 1U);
  EXPECT_EQ(out({"similar", "shop", "--all", "--k", "2", "--out", "all.tsv"}), "");
  EXPECT_EQ(file("all.tsv"), out({"similar", "shop", "--all", "--k", "2", "--exact"}));
  EXPECT_EQ(out({"similar", "shop", "--all", "--k", "2", "--out", "all.jsonl"}), "");
  EXPECT_EQ(file("all.jsonl"), out({"similar", "shop", "--all", "--k", "2", "--json"}));
  EXPECT_TRUE(contains(out({"similar", "--help"}), "MODEL [ITEM...]"));
}

TEST_F(RecommendTest, NamesHoldBlanks) {
  std::string log = "user\titem\n";
  for (int user = 0; user < 40; ++user) {
    for (const char* item : {"green tea", "jam, hot", "the \"big\" one"})
      log += fmt::format("Ann Lee {}\t{}\n", user, user % 2 == 0 ? item : std::string("old ") + item);
  }
  write_file(slide_.path("log.tsv"), log);
  out({"train", "--set", "data.train=log.tsv", "data.kind=\"interactions\"", "layer.0.size=4",
       "train.epochs=2", "--out", "blanks", "--quiet"});
  const auto similar = [&](std::vector<std::string> items, const std::string& input = "") {
    items.insert(items.begin(), {"similar", "blanks"});
    items.insert(items.end(), {"--k", "1"});
    return slide_.run(items, input);
  };
  const Outcome plain = similar({"green tea", "jam, hot", "the \"big\" one"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(std::count(plain.out.begin(), plain.out.end(), '\n'), 3);
  const Outcome lines = similar({"-"}, "green tea\r\n  \r\n\"jam, hot\"\n \"the \"\"big\"\" one\" \n");
  EXPECT_EQ(lines.out, plain.out);
  EXPECT_EQ(lines.err, "");
  EXPECT_EQ(similar({"\"green tea\"", "jam, hot", "the \"big\" one"}).out, plain.out);
  const Outcome apart = similar({"jam, hot", "old", "green", "tea"});
  EXPECT_EQ(apart.code, 2);
  EXPECT_EQ(
      apart.err,
      "slide: there is no label 'old' in the model; put quotes around a name with blanks: 'old green tea'\n");
  EXPECT_EQ(
      similar({"-"}, "\"grean tea\"\r\n").err,
      "slide: standard input:1: there is no label 'grean tea' in the model; did you mean 'green tea'?\n");
  write_file(slide_.path("users.txt"), "Ann Lee 2\r\n\"Ann Lee 3\"\n\"New One\" \"green tea\"\n");
  const auto users = by_first(out({"recommend", "blanks", "--users", "users.txt", "--k", "1"}));
  ASSERT_EQ(users.size(), 3U);
  EXPECT_TRUE(users.contains("Ann Lee 2") && users.contains("Ann Lee 3") && users.contains("New One"));
}

TEST_F(RecommendTest, SimilarRefusesWhatIsNotThere) {
  train_model();
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome done = slide_.run(arguments);
    EXPECT_EQ(done.code, 2);
    return done.err;
  };
  EXPECT_EQ(refused({"similar", "out"}),
            "slide: similar: give ITEMs, or - for names on standard input, or --all for each of them\n");
  EXPECT_EQ(refused({"similar", "out", "60"}),
            "slide: there is no label '60' in the model; its labels have numbers from 0 to 59\n");
  EXPECT_EQ(refused({"similar", "out", "x", "--of", "features"}),
            "slide: there is no feature 'x' in the model; its features have numbers from 0 to 119\n");
  EXPECT_NE(out({"similar", "out", "7"}), "");
}

}  // namespace
}  // namespace slide::test
