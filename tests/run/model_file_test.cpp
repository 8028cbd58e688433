// Tests of the model file: round trips, and refusal of every kind of damage.
#include "engine/model/model_file.h"
#include "engine/crosses/feature_transform.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "datasets/reader.h"
#include "datasets/text_learner.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "engine/knn/feature_weight_learning.h"
#include "engine/training/memory_plan.h"
#include "engine/training/trainer.h"
#include "engine/wide/linear_term.h"
#include "tests/run/file_bytes.h"
#include "tests/run/tiny_run.h"

namespace slide {
namespace {

using test::kTinyConfig;
using test::tiny_data;
using test::with_checksum;

namespace fs = std::filesystem;

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

using Scores = std::vector<std::vector<std::pair<std::uint32_t, float>>>;

Scores predict(const TrainedNetwork& trained, const Dataset& data, Inference mode) {
  InferenceOptions options;
  options.k = 3;
  options.mode = mode;
  options.threads = 1;
  Scores scores(data.size());
  Predictor(trained, options).predict(data, [&](std::size_t sample, std::span<const Prediction> best) {
    for (const Prediction& prediction : best) scores[sample].emplace_back(prediction.label, prediction.score);
  });
  return scores;
}

class ModelFileTest : public FolderTest {
 protected:
  std::string path() const { return FolderTest::path("model.slide"); }

  void train(const std::vector<std::string>& overrides = {}) {
    train_as(parse_config(kTinyConfig, "test", overrides));
  }
  void train_as(Config config) {
    config_ = std::move(config);
    trainer_ = std::make_unique<Trainer>(fresh_job(config_, data_));
    trainer_->run({});
  }
  void save() {
    save_model(path(), {config_, trainer_->shape(), trainer_->trained(),
                        &trainer_->training().optimizer_state(), trainer_->steps()});
  }

  std::string refusal() const {
    return test::file_error(path(), [&] { load_model(path()); });
  }
  std::string refusal_of(const std::string& bytes) const {
    write_bytes(path(), bytes);
    return refusal();
  }

  Dataset data_ = tiny_data();
  Config config_;
  std::unique_ptr<Trainer> trainer_;
};

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST_F(ModelFileTest, PredictionsAreTheSameToTheBit) {
  train();
  save();
  const Model model = load_model(path());
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
            predict(model.trained(), data_, Inference::kFull));
  config_.train.threads = 0;  // has no effect
  EXPECT_EQ(to_toml(config_), to_toml(model.config));
  EXPECT_EQ(model.steps, trainer_->steps());
  EXPECT_EQ(model.shape.features, 12U);
  EXPECT_EQ(model.shape.labels, 9U);
  EXPECT_EQ(model.shape.samples, 40U);
  EXPECT_EQ(model.shape.label_frequencies, data_.label_frequencies());
}

TEST_F(ModelFileTest, Bf16WeightsComeBack) {
  train({"train.weights=bf16"});
  save();
  const Model model = load_model(path());
  ASSERT_TRUE(model.network.output().weights().is_bf16());
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
            predict(model.trained(), data_, Inference::kFull));
}

TEST_F(ModelFileTest, TablesAreBuiltFromTheStoredSeedAndGeneration) {
  train();
  save();
  Model model = load_model(path());
  ASSERT_EQ(model.hashes.size(), 1U);
  EXPECT_GT(model.hashes[0].generation, 1U);  // rebuild_steps made new functions
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kLsh),
            predict(model.trained(), data_, Inference::kLsh));  // with a search index
  model.build_asked_tables(1);
  EXPECT_EQ(model.network.output().index(), nullptr);
  model.build_tables(1);
  trainer_->network().rebuild_index(model.hashes[0].generation, 1);
  const auto tables_of = [](const Network& network) {
    ByteString bytes;
    network.output().index()->save(bytes);
    return bytes.bytes();
  };
  EXPECT_EQ(tables_of(trainer_->network()), tables_of(model.network));
}

TEST_F(ModelFileTest, HiddenSampledLayersAndSingleLayers) {
  for (const std::string kind : {"sampled", "dense"}) {
    Config config = parse_config(kTinyConfig, "test", {"layer.1.kind=" + kind});
    config.layers[0].kind = config.layers[1].kind;
    train_as(config);
    save();
    EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
              predict(load_model(path()).trained(), data_, Inference::kFull));
  }
  config_ = parse_config(
      "[train]\nbatch_size = 16\nblock_size = 16\n[loss]\nkind = \"softmax\"\n[[layer]]\nkind = "
      "\"dense\"\nwide = false\n",
      "test");
  trainer_ = std::make_unique<Trainer>(fresh_job(config_, data_));
  trainer_->run({});
  save();
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
            predict(load_model(path()).trained(), data_, Inference::kFull));
}

TEST_F(ModelFileTest, LinearTermComesBack) {
  train({"layer.1.wide=true"});
  save();
  const Model model = load_model(path(), LoadOptimizer::kYes);
  ASSERT_NE(linear_term_of(model.network.output()), nullptr);
  const LinearTerm& saved = *linear_term_of(trainer_->network().output());
  EXPECT_GT(saved.weights(), 0U);
  EXPECT_TRUE(
      std::ranges::equal(linear_term_of(model.network.output())->storage().weights, saved.storage().weights));
  EXPECT_TRUE(std::ranges::equal(model.optimizer->wide, trainer_->training().optimizer_state().wide));
  const Model without_state = load_model(path());
  EXPECT_FALSE(without_state.optimizer);
  const Scores expected = predict(trainer_->trained(), data_, Inference::kFull);
  EXPECT_EQ(expected, predict(model.trained(), data_, Inference::kFull));
  EXPECT_EQ(expected, predict(without_state.trained(), data_, Inference::kFull));
}

TEST_F(ModelFileTest, FactorsOfFeaturesComeBack) {
  for (const char* wide : {"layer.1.wide=false", "layer.1.wide=true"}) {
    train({"data.idf_power=-1.5", "data.crosses=0", wide});
    save();
    Model model = load_model(path());
    const auto saved = scale_of(trainer_->network()).factors(), loaded = scale_of(model.network).factors();
    EXPECT_EQ(saved.size(), 12U);
    EXPECT_TRUE(std::equal(saved.begin(), saved.end(), loaded.begin(), loaded.end()));
    model.build_tables(1);
    EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
              predict(model.trained(), data_, Inference::kFull));
  }
  const auto with_factors = fs::file_size(path());
  train({"data.idf_power=0.0", "data.crosses=0", "layer.1.wide=true"});
  save();
  EXPECT_FALSE(scale_of(load_model(path()).network).active());
  EXPECT_NEAR(double(fs::file_size(path())), double(with_factors), 12 * sizeof(float) + 4);
  EXPECT_LT(fs::file_size(path()), with_factors - 11 * sizeof(float));
}

TEST_F(ModelFileTest, FactorsThatCannotBeAreFound) {
  train({"data.idf_power=1.0"});
  save();
  const std::string bytes = read_file(path());
  const std::size_t factors_at = bytes.size() - 12 - 12 * sizeof(float);
  for (const float value : {0.0f, -1.0f, INFINITY, NAN}) {
    std::string other = bytes;
    put(other, factors_at + 4, value);
    EXPECT_TRUE(contains(refusal_of(with_checksum(other)), "impossible factors")) << value;
  }
  std::string none = bytes;
  none.erase(factors_at, 12 * sizeof(float));
  put<std::uint64_t>(none, 16, none.size());
  EXPECT_TRUE(contains(refusal_of(with_checksum(none)), "factors of features beyond"));
  std::string without_power = bytes;
  const std::size_t power = bytes.find("idf_power = 1.0");
  ASSERT_NE(power, std::string::npos);
  without_power[power + 12] = '0';
  EXPECT_TRUE(contains(refusal_of(with_checksum(without_power)), "against its configuration"));
}

TEST_F(ModelFileTest, ThePlanOfMemoryCountsFactors) {
  const BlockBounds bounds{320, 16, 500};
  Config config = parse_config(kTinyConfig, "test");
  const MemoryPlan plain = plan_memory(config, 1000, 9, bounds, 1);
  config.data.idf_power = 2.0;
  const MemoryPlan scaled = plan_memory(config, 1000, 9, bounds, 1);
  EXPECT_EQ(scaled.weights() - plain.weights(), 1000 * sizeof(float));
  EXPECT_EQ(scaled.workspaces() - plain.workspaces(), 320 * sizeof(float));
}

TEST_F(ModelFileTest, ThePlanOfMemoryCountsNeighbours) {
  Config config = parse_config(kTinyConfig, "test");
  const BlockBounds bounds = bounds_of(data_, config.train.block_size);
  const auto planned = [&] {
    return plan_memory(config, data_.feature_count(), data_.label_count(), bounds, 1);
  };
  EXPECT_EQ(planned().neighbours, 0.0);
  const double without = planned().training();
  train({"neighbours.share=0.5"});  // there may be fewer co-occurring labels than the maximum
  config = config_;
  EXPECT_GE(planned().neighbours, double(trainer_->neighbours()->bytes()));
  EXPECT_LE(planned().neighbours,
            double(trainer_->neighbours()->bytes()) + LabelCooccurrence::bytes_of(data_.label_count()));
  train({"neighbours.share=0.5", "neighbours.cooccurrence=0.0"});
  config = config_;
  EXPECT_EQ(planned().neighbours, double(trainer_->neighbours()->bytes()));
  EXPECT_EQ(planned().learning,
            FeatureWeightLearning::bytes_of(double(data_.size()), double(data_.feature_count()),
                                            double(data_.label_count()), double(bounds.all_shared), 1));
  EXPECT_GE(planned().training(), planned().weights() + planned().neighbours + planned().learning);
  train({"neighbours.share=0.5", "neighbours.cooccurrence=0.0", "neighbours.learn=false"});
  config = config_;
  EXPECT_EQ(planned().neighbours, double(trainer_->neighbours()->bytes()));
  const std::size_t marks = data_.size() + data_.feature_count();  // working memory of the single thread
  EXPECT_EQ(planned().training() - without, planned().neighbours + double(marks * sizeof(float)));
}

TEST_F(ModelFileTest, NeighboursComeBack) {
  train();
  save();
  EXPECT_FALSE(load_model(path()).neighbours);
  const Scores without = predict(trainer_->trained(), data_, Inference::kFull);
  for (const char* text : {"data.idf_power=0.0", "data.idf_power=1.0"}) {
    train({"neighbours.share=0.4", "neighbours.count=3", "neighbours.power=2.0", text});
    save();
    Model model = load_model(path());
    ASSERT_TRUE(model.neighbours);
    EXPECT_EQ(model.neighbours->samples(), data_.size());
    EXPECT_EQ(model.neighbours->storage().values, trainer_->neighbours()->storage().values);
    EXPECT_EQ(model.neighbours->storage().feature_weights, trainer_->neighbours()->storage().feature_weights);
    EXPECT_EQ(model.version, 10U);
    model.build_tables(1);
    for (const Inference mode : {Inference::kFull, Inference::kLsh})
      EXPECT_EQ(predict(trainer_->trained(), data_, mode), predict(model.trained(), data_, mode));
    EXPECT_NE(predict(model.trained(), data_, Inference::kFull), without);
  }
}

TEST_F(ModelFileTest, NeighboursThatCannotBeAreFound) {
  train({"neighbours.share=0.4"});
  save();
  const std::string bytes = read_file(path());
  const Neighbours::Storage& kept = trainer_->neighbours()->storage();
  const std::size_t entries = kept.features.size(), labels = kept.labels.size(), offsets = kept.samples() + 1;
  const std::size_t weights_at = bytes.size() - 12 - 2 * data_.feature_count(),
                    values_at = weights_at - 2 * entries, labels_at = values_at - 4 * labels,
                    features_at = labels_at - 4 * entries, label_offsets_at = features_at - 8 * offsets,
                    feature_offsets_at = label_offsets_at - 8 * offsets, sizes_at = feature_offsets_at - 24;
  const auto refused = [&](std::size_t at, auto value, const char* what) {
    std::string other = bytes;
    put(other, at, value);
    EXPECT_TRUE(contains(refusal_of(with_checksum(other)), what)) << "offset " << at;
  };
  for (const std::size_t size : {0, 8, 16}) {
    refused(sizes_at + size, ~std::uint64_t{0}, "neighbours beyond its length");
    refused(sizes_at + size, std::uint64_t{1} << 40, "neighbours beyond its length");
  }
  for (const std::size_t at : {feature_offsets_at, label_offsets_at}) {
    refused(at, std::uint64_t{1}, "impossible neighbours");
    refused(at + 8, ~std::uint64_t{0}, "impossible neighbours");
    refused(at + 8 * (offsets - 1), std::uint64_t{3}, "impossible neighbours");
  }
  for (const std::size_t at : {features_at, labels_at})
    refused(at, std::uint32_t{12}, "impossible neighbours");
  refused(values_at, std::uint16_t{0x7f80}, "impossible neighbours");  // infinity
  for (const int weight : {0x0000, 0x7f80, 0x7fc0, 0xbf80})            // 0, infinity, NaN, -1
    refused(weights_at, static_cast<std::uint16_t>(weight), "impossible weights of features for neighbours");
  refused(values_at + 2, std::uint16_t{0xffc0}, "impossible neighbours");  // NaN
  std::string without_share = bytes;
  const std::size_t share = bytes.find("share = 0.4");
  ASSERT_NE(share, std::string::npos);
  without_share[share + 10] = '0';
  EXPECT_TRUE(contains(refusal_of(with_checksum(without_share)), "neighbours against"));
}

bool same(const AlignedArray<float>& a, const AlignedArray<float>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

class TextModelFileTest : public ModelFileTest {
 protected:
  // Trains and saves a model on text.
  void train_on_text() {
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += fmt::format("__label__l{} word{} other{}\n", i % 9, i % 9, i % 4);
    config_ = parse_config(kTinyConfig, "test", {"text.min_count=1", "text.hash_buckets=2"});
    text_ = learn_text(TextSource{lines, "t"}, config_.text, 1);
    ReadOptions options;
    options.text = text_;
    data_ = parse_dataset(lines, "t", options);
    trainer_ = std::make_unique<Trainer>(fresh_job(config_, data_));
    trainer_->run({});
    save_model(path(), {config_, trainer_->shape(), trainer_->trained(),
                        &trainer_->training().optimizer_state(), trainer_->steps(), text_.get()});
  }

  std::shared_ptr<const TextModel> text_;
};

TEST_F(TextModelFileTest, VocabularyAndLabelNamesComeBack) {
  train_on_text();
  const Model model = load_model(path(), LoadOptimizer::kYes);
  ASSERT_NE(model.text, nullptr);
  EXPECT_EQ(model.text->to_bytes(), text_->to_bytes());
  EXPECT_EQ(model.text->digest(), text_->digest());
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
            predict(model.trained(), data_, Inference::kFull));
  save();
  EXPECT_EQ(load_model(path()).text, nullptr);
}

TEST_F(TextModelFileTest, DamageIsFound) {
  train_on_text();
  const std::string bytes = read_file(path());
  const std::size_t text_bytes = text_->to_bytes().size(), text_at = bytes.size() - 12 - text_bytes;
  for (std::size_t at = text_at; at < bytes.size(); at += 3) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 8);
    ASSERT_NE(refusal_of(flipped), "") << at;
  }
  std::string lengthened = bytes;
  put<std::uint64_t>(lengthened, text_at - 8, text_bytes + 1);
  EXPECT_TRUE(contains(refusal_of(with_checksum(lengthened)), "damaged"));
  const auto refused = [&](const std::string& other, const char* part) {
    const std::string refusal = refusal_of(with_checksum(other));
    EXPECT_TRUE(contains(refusal, part));
  };
  for (const char bad : {'\n', '\t'}) {
    for (const char* name : {"word3", "l3"}) {
      std::string other = bytes;
      other[other.rfind(name) + 1] = bad;
      refused(other, "a name with a line break or TAB");
    }
  }
  for (const char bad : {'\x1b', '\a', '\r', '\x7f'}) {
    std::string other = bytes;
    other[other.rfind("l3") + 1] = bad;
    refused(other, "a name of a label with a control character");
  }
  std::string nameless = bytes;  // the last two names, of 2 bytes each, become one of 0 and one of 4
  const std::size_t last_two_at = nameless.size() - 12 - 12;
  put<std::uint32_t>(nameless, last_two_at, 0);
  put<std::uint32_t>(nameless, last_two_at + 4, 4);
  nameless.replace(last_two_at + 8, 4, "last");
  refused(nameless, "a label without a name");
  std::string equal = bytes;
  equal[equal.rfind("l3") + 1] = '4';
  refused(equal, "equal names");
  std::string hashes = bytes;
  put(hashes, text_at + 40, text_->parts().hashes[1]);
  refused(hashes, "equal hashes");
  for (const std::uint64_t samples : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    std::string other = bytes;
    put(other, text_at + 8, samples);
    refused(other, "impossible number of samples");
  }
  std::string fewer = bytes;
  put<std::uint64_t>(fewer, text_at + 32, text_->label_count() - 1);
  EXPECT_TRUE(contains(refusal_of(with_checksum(fewer)), "damaged"));
}

// Removes [begin, end) from the configuration in the file; corrects the file's lengths and checksum.
void erase_from_config(std::string& bytes, std::size_t begin, std::size_t end) {
  ASSERT_LT(begin, end);
  ASSERT_LT(end, bytes.size());
  std::uint64_t config_bytes = 0;
  std::memcpy(&config_bytes, bytes.data() + 32, sizeof config_bytes);
  bytes.erase(begin, end - begin);
  put<std::uint64_t>(bytes, 32, config_bytes - (end - begin));
  put<std::uint64_t>(bytes, 16, bytes.size());
}

// Files of programs before neighbours (3), before feature factors (2), and before text (1): the same without
// the later keys and sections.
TEST_F(ModelFileTest, FilesOfOlderVersionsAreRead) {
  train();
  save();
  std::string bytes = read_file(path());
  for (const std::uint32_t version : {3, 2, 1}) {
    put<std::uint32_t>(bytes, 8, version);
    if (version == 3) erase_from_config(bytes, bytes.find("\n[neighbours]\n"), bytes.find("\n[[layer]]\n"));
    const std::size_t key = bytes.find("idf_power");
    if (version == 2) erase_from_config(bytes, key, bytes.find('\n', key) + 1);
    if (version == 1) erase_from_config(bytes, bytes.find("\n[text]\n"), bytes.find("\n[train]\n"));
    write_bytes(path(), with_checksum(bytes));
    const Model model = load_model(path());
    EXPECT_EQ(model.text, nullptr);
    EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
              predict(model.trained(), data_, Inference::kFull));
  }
}

TEST_F(ModelFileTest, AKeyThatIsNotKnownIsToldAndTheModelOpens) {
  train();
  save();
  EXPECT_TRUE(load_model(path()).notes.empty());
  std::string bytes = read_file(path());
  bytes.replace(bytes.find("checkpoint_every"), 16, "tea_break_every ");
  write_bytes(path(), with_checksum(bytes));
  const Model model = load_model(path());
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_TRUE(contains(model.notes[0], "'train.tea_break_every' is no key that this version knows"));
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
            predict(model.trained(), data_, Inference::kFull));
}

TEST_F(ModelFileTest, OptimizerStateComesBack) {
  for (const std::string kind : {"sgd", "momentum", "adagrad", "adam"}) {
    train({"optimizer.kind=" + kind});
    save();
    const Model model = load_model(path(), LoadOptimizer::kYes);
    EXPECT_TRUE(model.has_optimizer_state);
    const Parameters& saved = trainer_->network().output().weights();
    const Parameters& loaded = model.network.output().weights();
    EXPECT_TRUE(same(saved.weights, loaded.weights)) << kind;
    const auto& states = trainer_->training().optimizer_state().matrices;
    ASSERT_EQ(model.optimizer->matrices.size(), states.size());
    for (std::size_t m = 0; m < states.size(); ++m) {
      const MatrixState& state = model.optimizer->matrices[m];
      EXPECT_TRUE(same(states[m].first, state.first)) << kind;
      EXPECT_TRUE(same(states[m].second, state.second)) << kind;
      EXPECT_TRUE(std::ranges::equal(states[m].steps, state.steps)) << kind;
    }
    EXPECT_FALSE(load_model(path()).optimizer);
  }
}

TEST_F(ModelFileTest, OptimizerStateCanStayOut) {
  train({"optimizer.kind=adam"});
  save();
  const auto with_state = fs::file_size(path());
  config_.train.save_optimizer = false;
  save();
  EXPECT_LT(fs::file_size(path()), with_state);
  const Model model = load_model(path(), LoadOptimizer::kYes);
  EXPECT_FALSE(model.has_optimizer_state);
  EXPECT_EQ(predict(trainer_->trained(), data_, Inference::kFull),
            predict(model.trained(), data_, Inference::kFull));
}

TEST_F(ModelFileTest, SavingTwiceGivesTheSameBytes) {
  train();
  save();
  const std::string first = read_file(path());
  save();
  EXPECT_EQ(first, read_file(path()));
  EXPECT_EQ(folder_.files(), 1U);  // no temporary file
}

TEST_F(ModelFileTest, EveryFlippedByteIsFound) {
  train();
  save();
  const std::string bytes = read_file(path());
  for (std::size_t at = 0; at < bytes.size(); at += at < 64 || at + 64 > bytes.size() ? 1 : 11) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ASSERT_NE(refusal_of(damaged), "") << "byte " << at << " of " << bytes.size();
  }
}

TEST_F(ModelFileTest, EveryTruncationIsFound) {
  train();
  save();
  const std::string bytes = read_file(path());
  for (std::size_t length = 0; length < bytes.size();
       length += length < 40 || length + 20 > bytes.size() ? 1 : 37) {
    ASSERT_NE(refusal_of(bytes.substr(0, length)), "") << length << " of " << bytes.size();
  }
  EXPECT_TRUE(contains(refusal_of(bytes.substr(0, bytes.size() / 2)), "cut off"));
}

// As `cp` over a model that a server reloads: truncated, then rewritten.
TEST_F(ModelFileTest, AModelThatIsWrittenOverMeanwhileIsReadOrRefused) {
  train({"layer.0.size=2000"});
  save();
  const std::string bytes = read_file(path());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    while (!done) write_bytes(path(), bytes);
  });
  std::size_t refused = 0;
  for (int i = 0; i < 10'000 && refused < 20; ++i) {
    try {
      load_model(path());
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path() + ": ")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      ++refused;
    }
  }
  done = true;
  writer.join();
  EXPECT_EQ(refused, 20U);
  EXPECT_EQ(load_model(path()).steps, trainer_->steps());
}

TEST_F(ModelFileTest, MessagesSayWhatIsWrong) {
  train();
  save();
  const std::string bytes = read_file(path());
  EXPECT_TRUE(contains(refusal_of(bytes + "x"), "1 bytes follow"));
  EXPECT_TRUE(contains(refusal_of("3 4 5\n1 2:3\n"), "no slide model"));
  EXPECT_TRUE(contains(refusal_of(""), "no slide model"));
  std::string other = bytes;
  for (const std::uint32_t version : {0U, 8U, kModelVersion + 1}) {
    put(other, 8, version);
    EXPECT_TRUE(contains(refusal_of(with_checksum(other)), fmt::format("format version {}", version)));
  }
  other = bytes;
  other[bytes.size() / 2] ^= 1;
  EXPECT_TRUE(contains(refusal_of(other), "checksum"));
  fs::remove(path());
  EXPECT_TRUE(contains(refusal(), "no such model"));
  EXPECT_THROW(load_model(folder_.root()), InputError);
}

// Contradictory sizes with a valid checksum: refused without absurd allocations.
TEST_F(ModelFileTest, ContradictingSizesAreFound) {
  train();
  save();
  const std::string bytes = read_file(path());
  std::uint64_t config_bytes = 0;
  std::memcpy(&config_bytes, bytes.data() + 32, sizeof config_bytes);
  const std::size_t shape = 40 + config_bytes, layers = shape + 24 + 9 * 4, matrix = layers + 8 + 16;
  for (const std::size_t at : {std::size_t{32}, shape, shape + 8, layers, matrix, matrix + 8}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << 20, ~std::uint64_t{0}}) {
      std::string other = bytes;
      put(other, at, value);
      ASSERT_NE(refusal_of(with_checksum(other)), "") << "offset " << at << " value " << value;
    }
  }
}

// Position of the bytes of `values` in the file.
template <class Values>
std::size_t place_of(const std::string& bytes, const Values& values) {
  return bytes.find(bytes_of(values));
}

TEST_F(ModelFileTest, NumbersThatAreNoneAreFound) {
  for (const char* precision : {"train.weights=fp32", "train.weights=bf16"}) {
    train({"layer.1.wide=true", "optimizer.kind=adam", precision});
    save();
    const std::string bytes = read_file(path());
    const bool pairs = trainer_->network().output().weights().is_bf16();
    const auto refusal_with = [&](std::size_t at, float value) {
      std::string other = bytes;
      EXPECT_LT(at, bytes.size());
      if (at < bytes.size()) put(other, at, value);
      return refusal_of(with_checksum(other));
    };
    const Parameters& output = trainer_->network().output().weights();
    const std::size_t row = 5 * sizeof(float),
                      row_2 = pairs ? 2 * output.pair_stride * sizeof(float) : 2 * row;
    const std::size_t at =
        pairs ? place_of(bytes, output.pairs) : place_of(bytes, std::span(output.row(0), 5));
    const auto& wide = linear_term_of(trainer_->network().output())->storage();
    for (const float value : {NAN, -NAN, INFINITY, -INFINITY}) {
      const float first_of_pair = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) >> 16);
      EXPECT_TRUE(contains(refusal_with(at + row_2 + 12, pairs ? first_of_pair : value),
                           "(weights of layer.1, row 2, column 3: no finite number)"));
      EXPECT_TRUE(
          contains(refusal_with(place_of(bytes, wide.weights) + 4, value),
                   fmt::format("(wide weights, neuron 0, feature {}: no finite number)", wide.features[1])));
    }
  }
}

TEST_F(ModelFileTest, OptimizerStateThatIsNoNumberIsFound) {
  train({"optimizer.kind=adam"});
  save();
  std::string bytes = read_file(path());
  const MatrixState& state = trainer_->training().optimizer_state().matrices[2];
  const std::size_t at = place_of(bytes, std::span(state.second.data(), 5));
  ASSERT_LT(at, bytes.size());
  put(bytes, at + 5 * sizeof(float), NAN);
  write_bytes(path(), with_checksum(bytes));
  EXPECT_NO_THROW(load_model(path()));
  EXPECT_TRUE(contains(input_error([&] { load_model(path(), LoadOptimizer::kYes); }),
                       "(optimizer state of the weights of layer.1, row 1, column 0: no finite number)"));
}

// Counts that no training gives, in files whose checksum is right.
TEST_F(ModelFileTest, CountsThatCannotBeAreFound) {
  train({"optimizer.kind=adagrad"});
  save();
  const std::string bytes = read_file(path());
  std::uint64_t config_bytes = 0;
  std::memcpy(&config_bytes, bytes.data() + 32, sizeof config_bytes);
  const std::size_t shape = 40 + config_bytes, frequencies = shape + 24;
  const auto refused = [&](std::size_t at, auto value, const char* part) {
    std::string other = bytes;
    put(other, at, value);
    const std::string refusal = refusal_of(with_checksum(other));
    EXPECT_TRUE(contains(refusal, part));
  };
  std::uint64_t samples = 0;
  std::memcpy(&samples, bytes.data() + shape + 16, sizeof samples);
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1} << 60, ~std::uint64_t{0}})
    refused(shape + 16, count, "impossible number of samples");
  refused(shape, std::uint64_t{1} << 31, "features beyond its length");
  for (const std::uint32_t count : {static_cast<std::uint32_t>(samples + 1), 1U << 29, 0xffffffffU})
    refused(frequencies + 4, count, "a label with more samples than there are");
  refused(24, ~std::uint64_t{0}, "impossible number of steps");
  const std::uint64_t seed = trainer_->network().hash_seed(0);
  refused(place_of(bytes, std::span(&seed, 1)) + 8, ~std::uint64_t{0}, "impossible generation");
  const MatrixState& state = trainer_->training().optimizer_state().matrices[2];
  std::string negative = bytes;
  put(negative, place_of(bytes, std::span(state.first.data(), 5)), -1.0F);
  write_bytes(path(), with_checksum(negative));
  EXPECT_NO_THROW(load_model(path()));
  EXPECT_THROW(load_model(path(), LoadOptimizer::kYes), InputError);
}

TEST_F(ModelFileTest, MissingFolderIsAFailedRun) {
  train();
  const std::string error = run_error([&] {
    save_model((folder_ / "none" / "m.slide").string(),
               {config_, trainer_->shape(), trainer_->trained(), &trainer_->training().optimizer_state(), 0});
  });
  EXPECT_TRUE(contains(error, "cannot be created"));
}

TEST_F(ModelFileTest, UnwritableFolderKeepsTheOldModel) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  train();
  save();
  const std::string bytes = read_file(path());
  fs::permissions(folder_.root(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(save(), Error);
  EXPECT_EQ(read_file(path()), bytes);
}

// A file size limit simulates a full disk.
TEST_F(ModelFileTest, FullDiskKeepsTheOldModelAndLeavesNothing) {
  train();
  save();
  const std::string bytes = read_file(path());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = bytes.size() / 2;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = run_error([&] { save(); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(contains(message, "cannot be written"));
  EXPECT_EQ(read_file(path()), bytes);
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(ModelFileTest, ThresholdsComeBack) {
  train();
  const Thresholds thresholds(0.3, {{1, 0.7}, {8, 0.125}});
  const auto save_with = [&](const Thresholds& some) {
    save_model(path(), {config_,
                        trainer_->shape(),
                        trainer_->trained(),
                        nullptr,
                        trainer_->steps(),
                        nullptr,
                        {},
                        ModelForm::kPlain,
                        nullptr,
                        &some});
  };
  save();
  const Model plain = load_model(path());
  EXPECT_FALSE(plain.thresholds);
  save_with(thresholds);
  const Model model = load_model(path());
  EXPECT_EQ(model.version, 11U);
  EXPECT_EQ(model.thresholds, thresholds);
  EXPECT_EQ(model.thresholds->of(8), 0.125);
  EXPECT_EQ(model.thresholds->of(2), 0.3);
  EXPECT_EQ(model.thresholds->min(), 0.125);
  for (const Thresholds& wrong :
       {Thresholds(-1), Thresholds(std::numeric_limits<double>::quiet_NaN()), Thresholds(0.3, {{1, -0.5}})}) {
    save_with(wrong);
    EXPECT_TRUE(contains(refusal(), "thresholds that are no probabilities"));
  }
  for (const Thresholds& wrong : {Thresholds(0.3, {{9, 0.5}}), Thresholds(0.3, {{2, 0.5}, {1, 0.5}})}) {
    save_with(wrong);
    EXPECT_TRUE(contains(refusal(), "thresholds of labels out of order"));
  }
}

}  // namespace
}  // namespace slide
