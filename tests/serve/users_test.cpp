// Users of a model of interactions by name: over HTTP they are answered as by `slide predict`.
#include <set>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class ServeUsersTest : public ServeTest {
 protected:
  // Trains on a log of four users, and removes it if it is not to be there.
  static void train_items(bool keep_log) {
    write_file(
        slide_->path("log.csv"),
        "user,item,rating\nann,tea,5\nann,\"jam, hot\",4\nbob,tea,1\nbob,rice,2\nbob,salt,2\ncid,rice,3\n"
        "cid,salt,1\n7,tea,3\n7,salt,5\n");
    run({"train", "log.csv", "--set", "data.kind=interactions", "--epochs", "3", "--out", "items",
         "--force"});
    write_file(slide_->path("other.csv"), "user,item,rating\nann,rice,5\nann,salt,5\n");
    if (!keep_log) std::remove(slide_->path("log.csv").c_str());
  }
  // What `slide predict --json` prints of `log`.
  static Json predicted(const std::string& log, const Strings& more = {}) {
    const Outcome done = expect_done(
        slide_->run(Strings{"predict", "items", "-", "--json", "--k", "4", "--threads", "1"} + more, log));
    return Json::parse(done.out.substr(0, done.out.find('\n')));
  }
  static void expect_same(const Json& answer, const Json& wanted) {
    EXPECT_EQ(answer["user"], wanted["user"]);
    ASSERT_EQ(answer["predictions"].size(), wanted["predictions"].size()) << answer << wanted;
    for (std::size_t i = 0; i < wanted["predictions"].size(); ++i) {
      EXPECT_EQ(answer["predictions"][i]["label"], wanted["predictions"][i]["label"]);
      EXPECT_NEAR(answer["predictions"][i]["score"], wanted["predictions"][i]["score"], 1e-5);
    }
  }
};

TEST_F(ServeUsersTest, AreAnsweredAsByPredict) {
  train_items(true);
  ServerProcess server = serve("items");
  const auto ask = [&](const Json& request) {
    const Answer answer = server.client().predict(request);
    EXPECT_EQ(answer.code, 200u) << answer.body;
    return answer.json();
  };
  expect_same(ask({{"user", "ann"}, {"k", 4}}), predicted("ann\n"));
  expect_same(ask({{"user", "ann"}, {"text", "rice"}, {"k", 4}}), predicted("ann,rice,1\n"));
  expect_same(ask({{"user", 7}, {"k", 4}}), predicted("7\n"));
  expect_same(ask({{"user", "new"}, {"text", "\"jam, hot\" tea"}, {"k", 4}}),
              predicted("new,tea,1\nnew,\"jam, hot\",1\n"));
  EXPECT_EQ(ask({{"user", "ann"}, {"k", 4}, {"keep_known", true}})["predictions"].size(), 4U);
  const Json several =
      ask({{"inputs", {{{"user", "bob"}}, {{"user", "visitor"}}, "tea unheard-of"}}, {"k", 4}});
  expect_same(several["results"][0], predicted("bob\n"));
  EXPECT_EQ(several["results"][1]["user"], "visitor");
  EXPECT_EQ(several["results"][1]["predictions"].size(), 4U);
  EXPECT_FALSE(several["results"][2].contains("user"));
  EXPECT_EQ(several["users_without_items"], 1);
  EXPECT_EQ(several["unknown_features"], 1);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ServeUsersTest, AreLookedUpInTheNamedLog) {
  train_items(true);
  ServerProcess server = serve("items", {"--known", "other.csv"});
  const Json answer = server.client().predict({{"user", "ann"}, {"k", 4}}).json();
  EXPECT_EQ(answer["predictions"].size(), 2U) << answer;
  expect_same(answer, predicted("ann\n", {"--known", "other.csv"}));
  EXPECT_EQ(server.stop(), 0) << server.errors();
  EXPECT_EQ(slide_->run({"serve", "items", "--known", "none.csv"}).code, 2);
  EXPECT_EQ(slide_->run({"serve", "ids", "--known", "other.csv"}).code, 2);
}

TEST_F(ServeUsersTest, WithoutALogItIsSaid) {
  train_items(false);
  ServerProcess server = serve("items");
  const Answer alone = server.client().predict({{"user", "ann"}});
  EXPECT_EQ(alone.code, 400u);
  EXPECT_TRUE(contains(alone.body, "the server has no log of what users have"));
  const Answer items = server.client().predict({{"items", {"tea"}}});
  EXPECT_EQ(items.code, 400u);
  EXPECT_TRUE(contains(items.body, "items: send the items that a user has as"));
  EXPECT_EQ(server.client().predict({{"user", "ann"}, {"text", "tea"}}).code, 200u);
  EXPECT_EQ(server.stop(), 0);
  EXPECT_TRUE(contains(server.errors(), "is not there, so users are not looked up"));
}

TEST_F(ServeUsersTest, AreRefusedWhereTheyMeanNothing) {
  ServerProcess server = serve("ids");
  const auto refusal = [&](const Json& request) {
    const Answer answer = server.client().predict(request);
    EXPECT_EQ(answer.code, 400u) << answer.body;
    return answer.body;
  };
  EXPECT_TRUE(contains(refusal({{"user", "ann"}}), "not trained on interactions"));
  EXPECT_TRUE(contains(refusal({{"user", "ann"}, {"inputs", Json::array()}}), "name users within"));
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

// The results of POST /similar are the lines that `slide similar --json` prints.
void expect_similar(const Json& answered, const std::string& printed) {
  std::istringstream lines(printed);
  for (const Json& result : answered["results"]) {
    std::string line;
    std::getline(lines, line);
    const Json wanted = Json::parse(line);
    EXPECT_EQ(result["item"], wanted["item"]);
    ASSERT_EQ(result["similar"].size(), wanted["similar"].size());
    for (std::size_t i = 0; i < wanted["similar"].size(); ++i) {
      EXPECT_EQ(result["similar"][i]["label"], wanted["similar"][i]["name"]);
      EXPECT_NEAR(result["similar"][i]["score"], wanted["similar"][i]["cosine"], 1e-5);
      EXPECT_EQ(keys_of(result["similar"][i]), keys_of(wanted["similar"][i]));
      for (const char* key : {"id", "name", "label"})
        EXPECT_EQ(result["similar"][i][key], wanted["similar"][i][key]);
      EXPECT_EQ(result["similar"][i]["cosine"], result["similar"][i]["score"]);
    }
  }
}

TEST_F(ServeUsersTest, SimilarFeaturesAreThoseOfSimilar) {
  const char* const words = R"({"items": ["choir", "bread"], "of": "features", "k": 3})";
  ServerProcess server = serve("text", {"--similar-features"});
  Client client = server.client();
  const Answer answer = client.ask("POST", "/similar", words);
  ASSERT_EQ(answer.code, 200u) << answer.body;
  EXPECT_EQ(answer.json()["results"].size(), 2u);
  expect_similar(answer.json(),
                 run({"similar", "text", "choir", "bread", "--of", "features", "--k", "3", "--json"}).out);
  for (const auto& [body, why] : {std::pair(R"({"item": "music"})", "--similar"),
                                  {R"({"item": "choir", "of": "words"})", "labels"},
                                  {R"({"item": "music", "of": "features"})", "there is no feature 'music'"}})
    EXPECT_TRUE(contains(client.ask("POST", "/similar", body).body, why)) << body;
  ServerProcess labels = serve("text", {"--similar"});
  EXPECT_TRUE(contains(labels.client().ask("POST", "/similar", words).body, "--similar-features"));
}

// Of several items those that the model lacks are named, the first three with a near name.
TEST_F(ServeUsersTest, SimilarTellsOfItemsThatAreUnknown) {
  train_items(true);
  ServerProcess server = serve("items", {"--similar"});
  Client client = server.client();
  const auto ask = [&](const std::string& body) { return client.ask("POST", "/similar", body); };
  const Answer answer = ask(R"({"items": ["teaa", "tea", "jamhot", "no where", "teb", "jam, hot"], "k": 1})");
  ASSERT_EQ(answer.code, 200u) << answer.body;
  const Json json = answer.json();
  EXPECT_EQ(json["unknown_items"], 4);
  const Json known = ask(R"({"items": ["tea", "jam, hot"], "k": 1})").json();
  EXPECT_FALSE(known.contains("unknown_items"));
  ASSERT_EQ(json["results"].size(), 6u);
  EXPECT_EQ(json["results"][1], known["results"][0]);
  EXPECT_EQ(json["results"][5], known["results"][1]);
  const Json first = {{"item", "teaa"},
                      {"similar", Json::array()},
                      {"error", "there is no label 'teaa' in the model; did you mean 'tea'?"}};
  EXPECT_EQ(json["results"][0], first);
  EXPECT_EQ(json["results"][2]["error"], "there is no label 'jamhot' in the model; did you mean 'jam, hot'?");
  EXPECT_EQ(json["results"][3]["error"], "there is no label 'no where' in the model");
  EXPECT_EQ(json["results"][4]["error"], "there is no label 'teb' in the model")
      << "three were suggested for";
  for (const char* body : {R"({"items": ["teaa", "nowhere"]})", R"({"item": "teaa"})"}) {
    const Answer refused = ask(body);
    EXPECT_EQ(refused.code, 400u);
    EXPECT_TRUE(contains(refused.body, "there is no label 'teaa' in the model; did you mean 'tea'?"))
        << refused.body;
  }
  EXPECT_EQ(ask(R"({"items": []})").json()["results"], Json::array());
  EXPECT_EQ(ask(R"({"items": ["tea", 3.5]})").code, 400u);
  const Json number = ask(R"({"items": ["tea", 3]})").json();  // a name, as users can be
  EXPECT_EQ(number["results"][1]["error"], "there is no label '3' in the model");
  EXPECT_EQ(number["results"][1]["item"], "3");
  EXPECT_TRUE(contains(ask(R"({"item": "tea", "itms": 1})").body,
                       "did you mean 'items'? known are item, items, of, k"));
}

// POST /similar answers what `slide similar` prints.
TEST_F(ServeUsersTest, SimilarItemsAreThoseOfSimilar) {
  train_items(true);
  ServerProcess server = serve("items", {"--similar"});
  Client client = server.client();
  const Answer answer = client.ask("POST", "/similar", R"({"items": ["tea", "jam, hot"], "k": 2})");
  ASSERT_EQ(answer.code, 200u) << answer.body;
  expect_similar(answer.json(), run({"similar", "items", "tea", "jam, hot", "--k", "2", "--json"}).out);
  const Json one = client.ask("POST", "/similar", R"({"item": "tea"})").json();
  EXPECT_EQ(one["similar"].size(), 3u);
  EXPECT_EQ(one["item"], "tea");
  EXPECT_EQ(client.ask("GET", "/similar").code, 405u);
  for (const char* body :
       {"[]", "{}", R"({"item": "cake"})", R"({"item": 1})", R"({"item": "tea", "k": 0})",
        R"({"item": "tea", "items": ["tea"]})", R"({"items": "tea"})", R"({"of": "tea"})", "{"})
    EXPECT_EQ(client.ask("POST", "/similar", body).code, 400u) << body;
  EXPECT_EQ(server.metric("slide_requests_total{endpoint=\"/similar\",code=\"200\"}"), 2);
  ServerProcess plain = serve("items");
  Client other = plain.client();
  EXPECT_TRUE(contains(other.ask("POST", "/similar", R"({"item": "tea"})").body, "--similar"));
}

}  // namespace
}  // namespace slide::test
