// Tests of reading, overriding, checking and writing configurations: every error message.
#include "engine/config/config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/config/fields.h"
#include "engine/config/names.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

const std::string kLayers =
    "[train]\nepochs = 5\nbatch_size = 64\nblock_size = 32\n[[layer]]\nsize = 128\n"
    "[[layer]]\nkind = \"sampled\"\n[layer.hash]\nk = 6\nrange_pow = 9\n";

Config parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "run.toml", overrides);
}

// The message of the InputError that parsing throws; empty if it throws none.
std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return input_error([&] { parse(text, overrides); });
}

std::string override_error(const std::string& override_text) {
  return error_of(kLayers, {override_text});
}

TEST(Config, ReadsEveryKind) {
  const Config config = parse(
      "[data]\ntrain = \"some/train.txt\"\nformat = \"libsvm\"\none_based = true\n"
      "[train]\nepochs = 3\nseed = 9223372036854775807\n"
      "[optimizer]\nkind = \"adam\"\nlearning_rate = 1\n"
      "[loss]\nkind = \"sigmoid\"\n"
      "[eval]\nk = [1, 2, 10]\ninference = \"lsh\"\n"
      "[[layer]]\nsize = 7\nactivation = \"tanh\"\ndropout = 0.25\n"
      "[[layer]]\nkind = \"sampled\"\nfrequency = 5\n"
      "[layer.hash]\nfamily = \"dwta\"\nk = 3\nbin_size = 16\nrange_pow = 12\n"
      "bucket_policy = \"reservoir\"\ncandidates = \"topk\"\n");
  EXPECT_EQ(config.data.train, "some/train.txt");
  EXPECT_EQ(config.data.format, DataFormat::kLibsvm);
  EXPECT_TRUE(config.data.one_based);
  EXPECT_EQ(config.train.epochs, 3u);
  EXPECT_EQ(config.train.seed, 9223372036854775807u);
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::kAdam);
  EXPECT_EQ(config.optimizer.learning_rate, 1.0);
  EXPECT_EQ(config.loss.kind, LossKind::kSigmoid);
  EXPECT_EQ(config.eval.k, (std::vector<std::uint32_t>{1, 2, 10}));
  EXPECT_EQ(config.eval.inference, Inference::kLsh);
  ASSERT_EQ(config.layers.size(), 2u);
  EXPECT_EQ(config.layers[0].size, 7u);
  EXPECT_EQ(config.layers[0].activation, Activation::kTanh);
  EXPECT_EQ(config.layers[0].dropout, 0.25);
  EXPECT_EQ(config.layers[1].kind, LayerKind::kSampled);
  EXPECT_EQ(config.layers[1].frequency, 5u);
  EXPECT_EQ(config.layers[1].hash.family, HashFamily::kDwta);
  EXPECT_EQ(config.layers[1].hash.k, 3u);
  EXPECT_EQ(config.layers[1].hash.bucket_policy, BucketPolicy::kReservoir);
  EXPECT_EQ(config.layers[1].hash.candidates, CandidatePolicy::kTopk);
}

TEST(Config, WhatIsLeftOutHasItsDefault) {
  const Config config = parse("[[layer]]\n");
  EXPECT_EQ(config.train.epochs, TrainConfig{}.epochs);
  EXPECT_EQ(config.layers[0].hash.tables, HashConfig{}.tables);
}

TEST(Config, NamesUnknownKeysAndTheNearest) {
  EXPECT_EQ(error_of("[data]\n\n\n\n\n[train]\nepoch = 3\n"),
            "run.toml:7: unknown key 'train.epoch'; did you mean 'train.epochs'?");
  EXPECT_EQ(error_of("[train]\nlearning_rate = 0.1\n"),
            "run.toml:2: unknown key 'train.learning_rate'; did you mean 'optimizer.learning_rate'?");
  EXPECT_EQ(error_of("epochs = 3\n"), "run.toml:1: unknown key 'epochs'; did you mean 'train.epochs'?");
  EXPECT_EQ(error_of("[[layer]]\n[[layer]]\nk = 6\n"),
            "run.toml:3: unknown key 'layer.1.k'; did you mean 'layer.1.hash.k'?");
  EXPECT_EQ(error_of("[[layer]]\n[layer.hash]\nbuckets_capacity = 6\n"),
            "run.toml:3: unknown key 'layer.0.hash.buckets_capacity'; did you mean "
            "'layer.0.hash.bucket_capacity'?");
}

TEST(Config, NamesUnknownSectionsAndTheNearest) {
  EXPECT_EQ(error_of("[trian]\nepochs = 3\n"), "run.toml:1: unknown section 'trian'; did you mean 'train'?");
  EXPECT_EQ(error_of("[[layers]]\n"), "run.toml:1: unknown section 'layers'; did you mean 'layer'?");
  EXPECT_EQ(error_of("[[layer]]\n[layer.hsh]\n"),
            "run.toml:2: unknown section 'layer.0.hsh'; did you mean 'layer.hash'?");
}

TEST(Config, ReportsTheFirstFaultOfTheFile) {
  EXPECT_EQ(error_of("[train]\nzzz = 1\naaa = 1\n").substr(0, 11), "run.toml:2:");
}

TEST(Config, WrongShapesOfSections) {
  EXPECT_EQ(error_of("data = 3\n"), "run.toml:1: 'data' must be a table; write [data]");
  EXPECT_EQ(error_of("[layer]\nsize = 3\n"),
            "run.toml:1: a layer begins with [[layer]], in two brackets; its [layer.hash] stands below");
  EXPECT_EQ(error_of("layer = [3]\n"), "run.toml:1: 'layer.0' must be a table; write [[layer]]");
  EXPECT_EQ(error_of("[[layer]]\nhash = 3\n"),
            "run.toml:2: 'layer.0.hash' must be a table; write [layer.hash]");
}

TEST(Config, WrongTypes) {
  EXPECT_EQ(error_of("[train]\nepochs = \"five\"\n"),
            "run.toml:2: 'train.epochs' must be an integer in 1..1000000, not \"five\"");
  EXPECT_EQ(error_of("[train]\nepochs = 5.0\n"),
            "run.toml:2: 'train.epochs' must be an integer in 1..1000000, not 5.0");
  EXPECT_EQ(error_of("[train]\nshuffle = 1\n"), "run.toml:2: 'train.shuffle' must be true or false, not 1");
  EXPECT_EQ(error_of("[data]\ntrain = 5\n"),
            "run.toml:2: 'data.train' must be a file, or a list of files, not 5");
  EXPECT_EQ(error_of("[data.train]\n"),
            "run.toml:1: 'data.train' must be a file, or a list of files, not a table");
  EXPECT_EQ(error_of("[data]\nsample_weights = 5\n"),
            "run.toml:2: 'data.sample_weights' must be a string, not 5");
  EXPECT_EQ(error_of("[optimizer]\nlearning_rate = true\n"),
            "run.toml:2: 'optimizer.learning_rate' must be a number in (0, 1000], not true");
  EXPECT_EQ(error_of("[eval]\nk = 5\n"),
            "run.toml:2: 'eval.k' must be a list of ascending integers in 1..1000, not 5");
  EXPECT_EQ(error_of("[data]\ntest = 2020-01-01\n"),
            "run.toml:2: 'data.test' must be a file, or a list of files, not a date or time");
}

TEST(Config, OutOfRange) {
  EXPECT_EQ(error_of("[train]\nepochs = 0\n"),
            "run.toml:2: 'train.epochs' must be an integer in 1..1000000, not 0");
  EXPECT_EQ(error_of("[train]\nseed = -1\n"),
            "run.toml:2: 'train.seed' must be an integer in 0..9223372036854775807, not -1");
  EXPECT_EQ(error_of("[[layer]]\nsize = 4294967297\n"),
            "run.toml:2: 'layer.0.size' must be an integer in 0..2147483647, not 4294967297");
  EXPECT_EQ(error_of("[[layer]]\n[layer.hash]\nk = 33\n"),
            "run.toml:3: 'layer.0.hash.k' must be an integer in 0..32, not 33");
  for (const std::string value : {"nan", "inf", "-0.1", "1.0"}) {
    EXPECT_EQ(error_of("[[layer]]\ndropout = " + value + "\n"),
              "run.toml:2: 'layer.0.dropout' must be a number in [0, 1), not " + value);
  }
  EXPECT_EQ(error_of("[optimizer]\nlearning_rate = 0\n"),
            "run.toml:2: 'optimizer.learning_rate' must be a number in (0, 1000], not 0");
  EXPECT_EQ(error_of("[optimizer]\nlearning_rate = 1e-46\n"),  // 0 as a float
            "run.toml:2: 'optimizer.learning_rate' must be a number in (0, 1000], not 1e-46");
  for (const std::string value : {"nan", "-4.1", "5"}) {
    EXPECT_EQ(error_of("[data]\nidf_power = " + value + "\n"),
              "run.toml:2: 'data.idf_power' must be a number in [-4, 4], not " + value);
  }
  for (const std::string value : {"[]", "[5, 3]", "[1, 1]", "[0]", "[1001]", "[1.5]"}) {
    EXPECT_EQ(error_of("[eval]\nk = " + value + "\n").substr(0, 40),
              "run.toml:2: 'eval.k' must be a list of a")
        << value;
  }
}

TEST(Config, UnknownChoices) {
  EXPECT_EQ(
      error_of("[optimizer]\nkind = \"adm\"\n"),
      "run.toml:2: 'optimizer.kind' must be one of sgd, momentum, adagrad, adam, not \"adm\"; did you mean "
      "'adam'?");
  EXPECT_EQ(error_of("[loss]\nkind = 3\n"), "run.toml:2: 'loss.kind' must be one of softmax, sigmoid, not 3");
}

TEST(Config, SyntaxErrorsNameLineAndColumn) {
  const std::string message = error_of("[train]\nepochs = = 3\n");
  EXPECT_EQ(message.substr(0, 22), "run.toml:2:10: no TOML") << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(error_of("[train]\nepochs = 1\nepochs = 2\n").substr(0, 11), "run.toml:3:");
  EXPECT_EQ(error_of("[train]\nepochs = 99999999999999999999\n").substr(0, 11), "run.toml:2:");
  EXPECT_NE(error_of("[data]\ntrain = \"\xff\"\n"), "");
  EXPECT_EQ(error_of("[train]\n[{a]]\n").substr(0, 22), "run.toml:2:2: no TOML:");
  EXPECT_EQ(error_of("[train]\nepochs = 1 é\n").substr(0, 23), "run.toml:2:12: no TOML:");
}

TEST(Config, MissingFile) {
  EXPECT_EQ(
      input_error([&] { load_config("/nonexistent/run.toml"); }),
      "/nonexistent/run.toml: cannot be read (No such file or directory); check the path, or start from "
      "configs/default.toml");
  EXPECT_THROW(load_config("/tmp"), InputError);
}

TEST(Config, DataAreAFileOrSeveral) {
  const Config several =
      parse("[data]\ntrain = [\"a b.txt\", \"c\\\"d.txt\", \"e*.txt\"]\ntest = [\"one.txt\"]\n",
            {"data.validation=[\"v\", \"w\"]", "data.known=k.txt"});
  EXPECT_EQ(named_parts(several.data.train), (std::vector<std::string>{"a b.txt", "c\"d.txt", "e*.txt"}));
  EXPECT_EQ(several.data.test, "one.txt");
  EXPECT_EQ(named_parts(several.data.validation.file), (std::vector<std::string>{"v", "w"}));
  const std::string text = to_toml(several);
  EXPECT_TRUE(contains(text, "\ntrain = [\"a b.txt\", \"c\\\"d.txt\", \"e*.txt\"]  #"));
  EXPECT_TRUE(contains(text, "\ntest = \"one.txt\" "));
  EXPECT_TRUE(contains(text, "\nknown = \"k.txt\" "));
  EXPECT_EQ(to_toml(parse(text)), text);
  std::vector<std::string> notes;
  EXPECT_EQ(to_toml(parse_stored_config(text, "run.toml", notes)), text);
  EXPECT_TRUE(notes.empty());
  for (const char* wrong : {"[]", "[1]", "[\"\"]", "[[\"a\"]]", "[\"a\\nb\"]"})
    EXPECT_NE(error_of(kLayers, {std::string("data.train=") + wrong}), "") << wrong;
}

TEST(Config, ValidatesOnAShareOrAFile) {
  const Config share = parse(kLayers, {"data.validation=0.25"});
  EXPECT_EQ(share.data.validation.share, 0.25);
  EXPECT_EQ(share.data.validation.file, "");
  const Config file = parse(kLayers, {"data.validation=0.25", "data.validation=a/b.txt", "train.patience=2"});
  EXPECT_EQ(file.data.validation.share, 0);
  EXPECT_EQ(file.data.validation.file, "a/b.txt");
  EXPECT_EQ(parse(to_toml(file)).data.validation.file, "a/b.txt");
  EXPECT_FALSE(parse(kLayers).data.validation.wanted());
  EXPECT_EQ(error_of(kLayers, {"data.validation=1"}),
            "--set data.validation=1: 'data.validation' must be a number in [0, 1), a file, or a list of "
            "files, not 1");
  EXPECT_NE(error_of(kLayers, {"data.validation=\"\""}), "");
  EXPECT_NE(error_of(kLayers, {"data.validation=[0.1]"}), "");
}

TEST(Config, WeighsLabelsByAPowerOrAFile) {
  const Config power = parse(kLayers, {"data.label_weights=w.txt", "data.label_weights=-0.5"});
  EXPECT_EQ(power.data.label_weights.power, -0.5);
  EXPECT_EQ(power.data.label_weights.file, "");
  EXPECT_EQ(parse(to_toml(power)).data.label_weights.power, -0.5);
  const Config file = parse(kLayers, {"data.label_weights=1", "data.label_weights=a/b.txt"});
  EXPECT_EQ(file.data.label_weights.power, 0);
  EXPECT_EQ(parse(to_toml(file)).data.label_weights.file, "a/b.txt");
  EXPECT_FALSE(parse(kLayers).data.label_weights.wanted());
  EXPECT_EQ(error_of(kLayers, {"data.label_weights=2"}),
            "--set data.label_weights=2: 'data.label_weights' must be a number in [-1, 1], or a file, not 2");
  for (const char* wrong : {"\"\"", "nan", "true", "[\"a\"]"})
    EXPECT_NE(error_of(kLayers, {std::string("data.label_weights=") + wrong}), "") << wrong;
}

TEST(Config, LetsTextsOfLabelsHaveAnEffect) {
  const std::vector<std::string> bare = {"data.label_text=names", "layer.-1.wide=false",
                                         "neighbours.share=0"};
  const auto with = [&](const std::string& key) {
    std::vector<std::string> keys = bare;
    keys.push_back(key);
    return error_of(kLayers, keys);
  };
  EXPECT_TRUE(contains(error_of(kLayers, bare),
                       "'data.label_text' has no effect without a linear term, neighbours and a weight"));
  for (const char* key : {"data.label_text_weight=0.1", "neighbours.share=0.1", "data.label_text=\"\""})
    EXPECT_EQ(with(key), "") << key;
  EXPECT_EQ(parse(kLayers, {"data.label_text=names"}).data.label_text, "names");
}

TEST(Config, NamesColumnsOfTextAndLabelsTogether) {
  const Config table = parse(kLayers, {"data.text=title,body", "data.labels=tags", "data.label_separator=;"});
  EXPECT_EQ(table.data.text, "title,body");
  EXPECT_EQ(table.data.label_separator, ";");
  EXPECT_TRUE(contains(error_of(kLayers, {"data.text=title"}), "'data.labels' is not set"));
  EXPECT_TRUE(contains(error_of(kLayers, {"data.labels=tags"}), "'data.text' is not set"));
  EXPECT_EQ(error_of(kLayers, {"data.weight=w"}), "");  // of a log, as the data tell
  EXPECT_TRUE(
      contains(error_of(kLayers, {"data.text=a", "data.labels=b", "data.weight=w", "data.sample_weights=f"}),
               "'data.sample_weights' = f leaves no place for data.weight = w"));
  EXPECT_TRUE(contains(error_of(kLayers, {"data.label_separator=\"\""}), "must not be empty"));
}

TEST(Config, GroupsAndTimesAreForASharePart) {
  for (const std::string key : {"data.group", "data.time"}) {
    EXPECT_EQ(error_of(kLayers, {key + "=f", "data.validation=0.1"}), "");
    EXPECT_EQ(error_of(kLayers, {key + "=f"}), "") << "slide tune holds samples out by itself";
    EXPECT_TRUE(contains(error_of(kLayers, {key + "=f", "data.validation=v.txt"}),
                         "'" + key +
                             "' = f is for a share of the training samples, but 'data.validation' is a "
                             "file; leave one out"));
  }
  EXPECT_TRUE(contains(error_of(kLayers, {"data.group=f", "data.kind=interactions"}),
                       "'data.group' = f must be empty where data.kind = interactions"));
}

TEST(Config, LogsHaveColumnsOrLists) {
  EXPECT_EQ(error_of(kLayers, {"data.kind=interactions", "data.user=u", "data.item=2", "data.weight=none",
                               "data.time=when"}),
            "");
  EXPECT_EQ(error_of(kLayers, {"data.user=u", "data.weight=w"}), "");
  EXPECT_EQ(error_of(kLayers, {"data.kind=interactions", "data.log=lists", "data.time=order"}), "");
  EXPECT_TRUE(contains(error_of(kLayers, {"data.kind=interactions", "data.log=lists", "data.item=i"}),
                       "'data.log' = lists has no columns"));
  for (const char* key : {"data.user=u", "data.item=i", "data.log=pairs"})
    EXPECT_TRUE(contains(error_of(kLayers, {"data.kind=samples", key}), "needs data.kind = interactions"));
}

TEST(Config, LoadsFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.write("c.toml", kLayers);
  EXPECT_EQ(load_config(path, {"train.epochs=9"}).train.epochs, 9u);
  folder.write("c.toml", std::string("\xef\xbb\xbf") + kLayers);  // as some editors begin a file
  EXPECT_EQ(load_config(path, {"train.epochs=9"}).train.epochs, 9u);
}

TEST(OldNames, AreReadInFilesAndOverridesAndTold) {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "old_names.toml", "[data]\npairs = 5\n[[layer]]\n[[layer]]\nkind = \"sampled\"\ncorrection = true\n");
  const std::vector<std::string> overrides{"neighbours.companions=0.25", "layer.-1.wide_against=3",
                                           "loss.gradient_threshold=0.25"};
  const Config config = load_config(path, overrides);
  EXPECT_EQ(config.data.crosses, 5u);
  EXPECT_TRUE(config.layers[1].logq_correction);
  EXPECT_EQ(config.neighbours.cooccurrence, 0.25);
  EXPECT_EQ(config.layers[1].wide_negatives, 3u);
  EXPECT_EQ(config.loss.gradient_threshold, 0.25);
  const std::vector<std::string> told = notes_on_keys(read_config_text(path), overrides, config);
  ASSERT_EQ(told.size(), 4u);  // each old key once, no current key
  EXPECT_EQ(told[0], path + ":2: 'data.pairs' is now called 'data.crosses'; the old name is still read");
  EXPECT_EQ(told[1], path +
                         ":6: 'layer.1.correction' is now called 'layer.1.logq_correction'; the old "
                         "name is still read");
}

TEST(OldNames, ATwiceNamedKeyIsRefused) {
  const auto refusal = [] {
    return input_error([&] { parse_config("[data]\npairs = 5\ncrosses = 6\n", "file"); });
  };
  EXPECT_EQ(refusal(), "file:3: 'data.crosses' is set at file:2 too, under another name; leave one out");
}

TEST(Overrides, SetValuesOfEveryKind) {
  const Config config = parse(
      kLayers, {"data.train=some/path with blanks.txt", "data.test = \"quoted\"", "train.epochs=3",
                "train.epochs=4", "optimizer.learning_rate=1e-3", "optimizer.kind=sgd", "train.shuffle=false",
                "eval.k=[2,4]", "layer.0.size=256", "layer.1.hash.k=5", "layer.-1.lsh=77"});
  EXPECT_EQ(config.data.train, "some/path with blanks.txt");
  EXPECT_EQ(config.data.test, "quoted");
  EXPECT_EQ(config.train.epochs, 4u);
  EXPECT_EQ(config.optimizer.learning_rate, 1e-3);
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::kSgd);
  EXPECT_FALSE(config.train.shuffle);
  EXPECT_EQ(config.eval.k, (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(config.layers[0].size, 256u);
  EXPECT_EQ(config.layers[1].hash.k, 5u);
  EXPECT_EQ(config.layers[1].lsh, 77u);
  EXPECT_EQ(parse(kLayers, {"data.test="}).data.test, "");
  EXPECT_EQ(parse(kLayers, {"data.test=a=b"}).data.test, "a=b");
  EXPECT_EQ(parse(kLayers, {"data.test=a\"b\\c"}).data.test, "a\"b\\c");
  EXPECT_EQ(parse(kLayers, {"data.test=1\nw = 2"}).data.test, "1\nw = 2");
}

TEST(Overrides, ErrorsNameTheOverride) {
  EXPECT_EQ(override_error("train.epochs"),
            "--set train.epochs: expected section.key=value, as in --set train.epochs=3");
  EXPECT_EQ(override_error("train.epoch=3"),
            "--set train.epoch=3: unknown key 'train.epoch'; did you mean 'train.epochs'?");
  EXPECT_EQ(override_error("trian.epochs=3"),
            "--set trian.epochs=3: unknown key 'trian.epochs'; did you mean 'train.epochs'?");
  EXPECT_EQ(override_error("train.epochs=abc"),
            "--set train.epochs=abc: 'train.epochs' must be an integer in 1..1000000, not \"abc\"");
  EXPECT_EQ(override_error("train.epochs={a=1}"),
            "--set train.epochs={a=1}: 'train.epochs' must be an integer in 1..1000000, not a table");
  EXPECT_EQ(override_error("layer.0.hash={k=1}"),
            "--set layer.0.hash={k=1}: 'layer.0.hash' is a section; name one of its keys, as in "
            "layer.0.hash.family");
  EXPECT_EQ(override_error("=3").substr(0, 18), "--set =3: expected");
  EXPECT_EQ(override_error("data.train=\xff").substr(6), "data.train=\xff: the value is not valid UTF-8");
}

TEST(Overrides, LayersThatDoNotExist) {
  for (const std::string index : {"2", "-3", "99999999999999999999"}) {
    EXPECT_EQ(override_error("layer." + index + ".size=1"),
              "--set layer." + index + ".size=1: 'layer." + index +
                  "' does not exist; the number of layers is 2, counted from 0");
  }
  EXPECT_EQ(override_error("layer.size=1"),
            "--set layer.size=1: 'layer' needs a layer's number, as in layer.0.size, or layer.-1.size for "
            "the last");
  EXPECT_EQ(override_error("layer.1x.size=1").substr(0, 32), "--set layer.1x.size=1: 'layer' n");
}

TEST(Rules, LayersAndBlocks) {
  EXPECT_EQ(error_of("layer = []\n"), "run.toml: there is no layer; add at least one [[layer]] table");
  EXPECT_EQ(error_of("[[layer]]\nsize = 0\n[[layer]]\n"),
            "run.toml:2: 'layer.0.size' must be above 0: only the last layer takes its size from the data");
  EXPECT_EQ(
      error_of("[[layer]]\n[[layer]]\nlsh = 8\n[layer.hash]\nrehash_steps = 0\n"),
      "run.toml:5: 'layer.1.hash.rehash_steps' = 0 needs 'layer.1.init_scale' above 0: tables find nothing "
      "among weights that are all 0");
  EXPECT_EQ(
      override_error("layer.0.init_scale=0"),
      "--set layer.0.init_scale=0: 'layer.0.init_scale' must be above 0: equal neurons of a hidden layer "
      "stay equal");
  EXPECT_EQ(override_error("train.block_size=24"),
            "--set train.block_size=24: 'train.block_size' must be 1 or a multiple of 16, not 24");
  EXPECT_EQ(override_error("train.block_size=128"),
            "--set train.block_size=128: 'train.block_size' = 128 must not be above 'train.batch_size' = 64");
  EXPECT_EQ(
      override_error("train.batch_size=100"),
      "--set train.batch_size=100: 'train.batch_size' = 100 must be a multiple of 'train.block_size' = 32");
  EXPECT_EQ(
      override_error("layer.1.dropout=0.5"),
      "--set layer.1.dropout=0.5: 'layer.1.dropout' = 0.5 must be 0 in the last layer: only hidden layers "
      "have dropout");
  EXPECT_EQ(
      override_error("layer.0.frequency=8"),
      "--set layer.0.frequency=8: 'layer.0.frequency' = 8 must be 0: only the last layer draws by label "
      "frequency");
  EXPECT_EQ(
      error_of(kLayers, {"layer.1.uniform=0", "layer.1.lsh=0"}),
      "--set layer.1.lsh=0: 'layer.1.lsh' must be above 0, or uniform or frequency: the sampled layer has no "
      "source of active neurons");
}

TEST(Rules, MarginsOfLabels) {
  EXPECT_EQ(error_of(kLayers, {"layer.1.wide=true", "layer.1.wide_margin=0.5"}), "");
  EXPECT_EQ(error_of(kLayers, {"layer.1.wide=false", "layer.1.wide_margin=0.5"}),
            "--set layer.1.wide_margin=0.5: 'layer.1.wide_margin' = 0.5 needs wide = true");
  EXPECT_EQ(error_of(kLayers, {"layer.1.wide=true", "layer.1.wide_margin=1", "loss.kind=softmax"}),
            "--set layer.1.wide_margin=1: 'layer.1.wide_margin' = 1 needs loss.kind = sigmoid");
  EXPECT_EQ(error_of(kLayers, {"layer.1.wide=true", "layer.1.wide_margin=1", "data.kind=interactions"}),
            "--set layer.1.wide_margin=1: 'layer.1.wide_margin' = 1 needs data.kind = samples");
  EXPECT_EQ(error_of(kLayers, {"layer.1.wide_margin=1.5"}),
            "--set layer.1.wide_margin=1.5: 'layer.1.wide_margin' must be a number in [0, 1], or \"auto\", "
            "not 1.5");
  EXPECT_NE(error_of(kLayers, {"layer.1.wide_margin=\"often\""}), "");
  // What the data decide asks nothing of the other keys.
  EXPECT_EQ(error_of(kLayers, {"layer.1.wide=false", "layer.1.wide_margin=\"auto\""}), "");
}

TEST(Rules, Fingerprints) {
  EXPECT_EQ(error_of("[[layer]]\nkind = \"sampled\"\n[layer.hash]\nk = 12\nrange_pow = 9\n"),
            "run.toml:4: 'layer.0.hash.k' = 12 with 1-bit codes needs 2^12 buckets, 'layer.0.hash.range_pow' "
            "gives 2^9: raise range_pow to 12 or lower k to 9");
  EXPECT_EQ(error_of(kLayers, {"layer.1.hash.family=dwta", "layer.1.hash.k=11"}),
            "--set layer.1.hash.k=11: 'layer.1.hash.k' = 11 with 3-bit codes needs 2^33 buckets, "
            "'layer.1.hash.range_pow' gives 2^9: lower k, at most to 8 with range_pow 24");
  EXPECT_EQ(error_of("[[layer]]\nkind = \"dense\"\n[layer.hash]\nk = 12\n"), "")
      << "a dense layer has no tables";
}

TEST(Rules, HashFamilies) {
  const std::vector<std::string> wta = {"layer.1.hash.family=wta", "layer.1.hash.k=1"};
  EXPECT_EQ(error_of(kLayers, {wta[0], wta[1], "layer.1.hash.bin_size=12"}),
            "--set layer.1.hash.bin_size=12: 'layer.1.hash.bin_size' must be a power of 2 in 2..256 for wta, "
            "dwta and "
            "minhash, not 12");
  EXPECT_EQ(error_of(kLayers, {"layer.1.hash.bin_size=12"}), "");
  EXPECT_EQ(error_of(kLayers, {"layer.1.hash.candidates=threshold", "layer.1.hash.threshold=25"}),
            "--set layer.1.hash.threshold=25: 'layer.1.hash.threshold' = 25 must not be above "
            "'layer.1.hash.tables' = 16");
}

TEST(Rules, NetworksInParts) {
  const std::string sampled = "[[layer]]\nkind = \"sampled\"\n", dense = "[[layer]]\nsize = 8\n";
  const std::string small = "[train]\nbatch_size = 64\nblock_size = 32\n",
                    wrong =
                        "--set train.shards=2: 'train.shards' = 2 needs a network of one dense hidden layer "
                        "at most, and its "
                        "output";
  EXPECT_EQ(error_of(small + dense + dense + sampled, {"train.shards=2"}), wrong);
  EXPECT_EQ(error_of(small + dense + dense + sampled, {"train.shards=1"}), "");
  for (const std::string& layers : {sampled, dense + sampled, dense + "[[layer]]\nkind = \"dense\"\n"})
    EXPECT_EQ(error_of(small + layers, {"train.shards=65536"}), "");
  EXPECT_EQ(error_of(small + dense + sampled, {"train.shards=2", "eval.inference=lsh"}), "");
  EXPECT_EQ(error_of(small + sampled, {"eval.inference=lsh", "layer.0.lsh=4"}), "");
  EXPECT_EQ(error_of(dense + sampled, {"eval.inference=lsh", "layer.1.lsh=0"}), "");
  EXPECT_EQ(error_of(sampled, {"eval.inference=lsh", "layer.0.lsh=0"}),
            "--set eval.inference=lsh: 'eval.inference' = lsh needs a hidden layer, or hash tables: a "
            "sampled layer "
            "with lsh above 0");
  EXPECT_EQ(error_of(small + sampled, {"eval.inference=lsh", "layer.0.lsh=4", "train.shards=2"}),
            "--set train.shards=2: 'train.shards' = 2 needs a hidden layer where 'eval.inference' = lsh");
  for (const std::string count : {"0", "65537"})
    EXPECT_TRUE(contains(override_error("train.shards=" + count), "1..65536"));
}

TEST(Rules, HiddenLayersAreDense) {
  const std::string sampled = "[[layer]]\nkind = \"sampled\"\n", dense = "[[layer]]\nsize = 8\n";
  const std::string why =
      "' = sampled is for the last layer: hidden layers are dense, which train faster and to a higher "
      "accuracy";
  EXPECT_EQ(error_of(dense + sampled), "");
  EXPECT_TRUE(
      error_of("[[layer]]\nsize = 8\nkind = \"sampled\"\n" + sampled).ends_with(":3: 'layer.0.kind" + why));
  EXPECT_EQ(error_of(dense + dense + sampled, {"layer.1.kind=sampled"}),
            "--set layer.1.kind=sampled: 'layer.1.kind" + why);
  EXPECT_EQ(error_of(sampled + sampled, {"layer.0.kind=dense", "layer.0.size=8"}), "");
}

TEST(Rules, ValidateChecksConfigurationsMadeInCode) {
  Config config;
  config.layers.clear();
  EXPECT_THROW(validate(config), InputError);
  config.layers.resize(1);
  EXPECT_NO_THROW(validate(config));
  config.layers[0].hash.tables = 0;
  EXPECT_EQ(input_error([&] { validate(config); }),
            "'layer.0.hash.tables' must be an integer in 1..1024, not 0");
  config.layers[0].hash.tables = 1;
  config.train.seed = ~std::uint64_t{0};
  EXPECT_THROW(validate(config), InputError);
}

TEST(Names, EditDistance) {
  EXPECT_EQ(config::edit_distance("", ""), 0u);
  EXPECT_EQ(config::edit_distance("", "abc"), 3u);
  EXPECT_EQ(config::edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(config::edit_distance("epoch", "epochs"), 1u);
  EXPECT_EQ(config::nearest_name("x", {}), "");
  EXPECT_GE(config::edit_distance("kitten", "sitting", 2), 2u);
  EXPECT_EQ(config::edit_distance("kitten", "sitting", 4), 3u);
  const std::vector<std::string> names = {"jam, hot", "tea", "teas", "a.tea", ""};
  for (const auto& [name, near] : {std::pair("te", "tea"),
                                   {"teaz", "tea"},
                                   {"coffee", ""},
                                   {"jamhot", "jam, hot"},
                                   {"x", ""},
                                   {"", ""},
                                   {"b.tea", "a.tea"}})
    EXPECT_EQ(config::near_name(name, names), near) << name;
  EXPECT_EQ(config::near_name("x", {}), "");
  EXPECT_EQ(config::near_name("aet", names), "") << "the same letters in another order";
  EXPECT_EQ(config::suggestion("tea"), "; did you mean 'tea'?");
  EXPECT_EQ(config::suggestion(""), "");
}

}  // namespace
}  // namespace slide
