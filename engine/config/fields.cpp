#include "engine/config/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

#include "engine/config/spellings.h"

namespace slide::config {
namespace {

template <class E>
Choice choice(E& member) {
  return {&member, spellings_of(E{}),
          [](const void* from) { return static_cast<std::size_t>(*static_cast<const E*>(from)); },
          [](void* to, std::size_t value) { *static_cast<E*>(to) = static_cast<E>(value); }};
}
Flag flag(bool& member) {
  return {&member};
}
Text text(std::string& member, bool columns = false) {
  return {&member, columns};
}
Files files(std::string& member) {
  return {&member};
}
Count count(std::uint32_t& member, std::int64_t low, std::int64_t high) {
  return {&member, {low, high}};
}
BigCount count(std::uint64_t& member, std::int64_t low, std::int64_t high) {
  return {&member, {low, high}};
}
Real real(double& member, RealRange range) {
  return {&member, range};
}
RealOrAuto real_or_auto(std::optional<double>& member, RealRange range) {
  return {&member, range};
}
ShareOrFile share_or_file(ValidationSource& member, RealRange range) {
  return {&member, range};
}
PowerOrFile power_or_file(LabelWeights& member, RealRange range) {
  return {&member, range};
}
CountList list(std::vector<std::uint32_t>& member, std::int64_t low, std::int64_t high) {
  return {&member, {low, high}};
}

constexpr std::int64_t kMaxTables = 1024;
constexpr std::int64_t kMax31 = std::numeric_limits<std::int32_t>::max();

std::vector<Field> data_fields(DataConfig& c) {
  return {
      {"train", files(c.train),
       "Training file, or several that are one data set: a list, or a pattern as parts/*.txt; for IDX the "
       "images file, with the labels file beside it."},
      {"test", files(c.test), "Test file, or several; empty = no evaluation."},
      {"format", choice(c.format), "Format of both files; auto looks at the content."},
      {"kind", choice(c.kind),
       "Whether a row is a sample or the items of a user, of which each epoch hides some and shows the "
       "others; auto looks at the content.",
       "\"samples\""},
      {"mask", real(c.mask, between(0, 1)), "interactions: share of each user's items that an epoch hides.",
       "0.5"},
      {"known", files(c.known), "interactions: file with what users have already; empty = the training file.",
       "\"\""},
      {"test_newest", NewestItems{&c.test_newest},
       "interactions: newest items of each user to test on: one, so many, or a share below 1.", "false"},
      {"test_after", Time{&c.test_after}, "Samples, or items of users, from this time on, to test on.",
       "\"\""},
      {"log", choice(c.log), "interactions: a line is a user and its items, or one item of it.", "\"auto\""},
      {"user", text(c.user, true), "interactions: users' column, by name or number; empty = found.", "\"\""},
      {"item", text(c.item, true), "interactions: items' column, by name or number; empty = found.", "\"\""},
      {"text", text(c.text),
       "JSON lines, CSV, TSV: the columns whose texts are joined, with commas between them.", "\"\""},
      {"labels", text(c.labels),
       "JSON lines, CSV, TSV: the column of labels, a list of strings, or a string of several.", "\"\""},
      {"label_separator", text(c.label_separator),
       "What stands between the labels of such a string, and before the TAB of labelled text.", "\",\""},
      {"dense", text(c.dense, true),
       "JSON lines: the column of dense features, a list of numbers; empty = found, none = there is none.",
       "\"\""},
      {"weight", text(c.weight, true),
       "JSON lines, CSV, TSV: the column with the weights of samples in training; empty = all weigh the "
       "same; interactions: the column of weights, by name or number, none = there is none.",
       "\"\""},
      {"sample_weights", text(c.sample_weights),
       "File with the weights of the samples of the training file, a number a line; empty = all weigh the "
       "same.",
       "\"\""},
      {"label_weights", power_or_file(c.label_weights, closed(-1, 1)),
       "Power of how often a label occurs that it counts in training by, in the mean over the labels of all "
       "samples 1: below 0 favours rare ones; or a file with a weight for each label, a number a line, or "
       "lines of name, TAB and weight; 0 = all count the same.",
       "0.0"},
      {"label_text", text(c.label_text),
       "What labels are said to be, by which those with few samples or none are found: a file with lines of "
       "name, TAB and text, or with the features of a label in each row; names = the labels' own names; "
       "empty = nothing.",
       "\"\""},
      {"label_text_weight", real(c.label_text_weight, closed(0, 1000)),
       "What such a text weighs in training as a sample of its label, where samples weigh 1 in the mean; 0 = "
       "it sets the initial linear term and is a sample of the kNN, no more.",
       "0.0"},
      {"one_based", flag(c.one_based), "libsvm: feature ids start at 1 instead of 0."},
      {"normalize", flag(c.normalize), "Scale each sample to unit Euclidean length."},
      {"crosses", count(c.crosses, 0, 1024),
       "Pairs of sparse features that each label chooses as further features of the first layer, those that "
       "say most of it beyond the two alone; 0 = none.",
       "0"},
      {"idf_power", real(c.idf_power, closed(-4, 4)),
       "Power of a feature's rarity, 1 + ln((samples + 1) / (samples with it + 1)) in the training data, "
       "that its values are multiplied by; 0 = values as they are.",
       "0.0"},
      {"cache", flag(c.cache),
       "Training: keep the parsed rows of each file in FILE.slidecache beside it, and map them next time.",
       "false"},
      {"validation", share_or_file(c.validation, below(0, 1)),
       "Share of the labelled training samples held out to evaluate on, drawn by train.seed, or a file for "
       "that, or several; 0 = none.",
       "0.0"},
      {"group", text(c.group),
       "What keeps samples together where a share is held out, by train.seed, or by slide tune: JSON lines, "
       "CSV, TSV: a column; else a file with a value for each sample of the training file, one a line; those "
       "of one value are held out all or not at all; empty = samples stand alone.",
       "\"\""},
      {"time", text(c.time, true),
       "When samples are from, where the latest of them are to be held out: JSON lines, CSV, TSV: a column; "
       "else a file with a value a line; numbers, or texts that sort by time, as 2024-05-31; order = the "
       "order in the file; none = samples are drawn; empty = the same, unless slide tune finds "
       "that the order in the file matters; interactions: the column of times, or none, or order.",
       "\"\""},
      {"train_first", count(c.train_first, 0, kMax31), "Train on the first n samples only, 0 = all."},
      {"test_last", count(c.test_last, 0, kMax31), "Test on the last n samples only, 0 = all."},
  };
}

std::vector<Field> text_fields(TextOptions& c) {
  return {
      {"tokens", choice(c.tokens),
       "Tokens: words of letters, digits and marks, or whatever stands between blanks.", "\"words\""},
      {"lowercase", flag(c.lowercase), "Fold upper and lower case, in all scripts.", "true"},
      {"word_ngrams", count(c.word_ngrams, 0, 16), "Longest run of words that is a feature, 0 = no words.",
       "2"},
      {"char_ngrams_min", count(c.char_ngrams_min, 1, 64), "Shortest character n-gram of a word.", "3"},
      {"char_ngrams_max", count(c.char_ngrams_max, 0, 64), "Longest character n-gram of a word, 0 = none.",
       "0"},
      {"min_count", count(c.min_count, 1, kMax31), "Training samples that a feature must occur in.", "2"},
      {"min_label_count", count(c.min_label_count, 1, kMax31), "Training samples that a label must occur in.",
       "1"},
      {"weighting", choice(c.weighting),
       "Value of a feature: its counts, damped and weighted by rarity, or bare.", "\"tf-idf\""},
      {"max_features", count(c.max_features, 0, kMax31), "Keep the most frequent features only, 0 = all.",
       "0"},
      {"hash_buckets", count(c.hash_buckets, 0, kMax31),
       "Features that stand for all words and n-grams that are too rare, by hash; 0 = leave these out.", "0"},
  };
}

std::vector<Field> train_fields(TrainConfig& c) {
  return {
      {"epochs", count(c.epochs, 1, 1000000), "Passes over the training file."},
      {"batch_size", count(c.batch_size, 1, 1 << 20), "Samples in one step; a multiple of block_size."},
      {"block_size", count(c.block_size, 1, 1 << 16),
       "Samples that share an active set: a multiple of 16, or 1 for a set of its own for each sample."},
      {"seed", count(c.seed, 0, kMaxSeed), "Seed of everything random in the run."},
      {"threads", count(c.threads, 0, kMaxThreads), "Threads to use, 0 = all cores."},
      {"deterministic", flag(c.deterministic),
       "No effect: the result is the same to the bit whatever the thread count."},
      {"shuffle", flag(c.shuffle), "Visit the samples in a new order each epoch."},
      {"eval_every", count(c.eval_every, 0, 1000000), "Epochs between evaluations, 0 = only after the last."},
      {"patience", count(c.patience, 0, 1000000),
       "Evaluations on the validation samples without improvement that end the run, 0 = never.", "0"},
      {"weights", choice(c.weights),
       "Precision of the weight matrices; bf16 halves their memory; updates round stochastically, "
       "activations to the nearest before products.",
       "\"fp32\""},
      {"checkpoint_every", count(c.checkpoint_every, 0, kMax31),
       "Steps between checkpoints to resume from, 0 = only when a signal stops the run.", "0"},
      {"save_optimizer", flag(c.save_optimizer), "Keep the optimizer state in the model file."},
      {"tensorboard", flag(c.tensorboard), "Write an event file for TensorBoard, too.", "false"},
      {"shards", count(c.shards, 1, 65536),
       "Parts that features, output neurons and the arithmetic of a step are cut into: up to so many "
       "processes can train the model together, and however many do, it is the same to the bit.",
       "1"},
      {"init", text(c.init),
       "Model, or folder of a run, to continue with new samples; empty = train from the beginning.", "\"\""},
      {"vectors", text(c.vectors),
       "File of vectors of words or features, which the first layer starts from; empty = random weights.",
       "\"\""},
      {"expire_labels", count(c.expire_labels, 0, kMax31),
       "init: labels that so many trainings in a row brought no sample of are dropped, 0 = none.", "0"},
  };
}

std::vector<Field> optimizer_fields(OptimizerConfig& c) {
  return {
      {"kind", choice(c.kind), "Update rule; adagrad keeps one accumulator a row."},
      {"learning_rate", real(c.learning_rate, above(0, 1000)),
       "Highest step size, reached after the warm-up."},
      {"schedule", choice(c.schedule), "How the learning rate goes on to the end of the run."},
      {"warmup_steps", count(c.warmup_steps, 0, kMax31), "Steps over which the learning rate rises from 0."},
      {"momentum", real(c.momentum, below(0, 1)), "momentum: share of the velocity kept each step."},
      {"beta1", real(c.beta1, below(0, 1)), "adam: decay of the gradient's mean."},
      {"beta2", real(c.beta2, below(0, 1)), "adam: decay of the squared gradient's mean."},
      {"epsilon", real(c.epsilon, above(0, 1)),
       "adagrad, adam: added to the divisor, against division by 0 and first steps of full size."},
      {"weight_decay", real(c.weight_decay, below(0, 1)), "Decoupled weight decay, on touched rows."},
  };
}

std::vector<Field> loss_fields(LossConfig& c) {
  return {
      {"kind", choice(c.kind), "Loss of the output layer; sigmoid is one-vs-all."},
      {"positive_weight", real(c.positive_weight, above(0, 1e6)),
       "sigmoid: weight of a label against a negative."},
      {"gradient_threshold", real(c.gradient_threshold, below(0, 1)),
       "Smaller deltas of the output layer are rounded at random to 0 or to this, so that their mean stays; "
       "backward pass "
       "and update cost what is left. 0 keeps them all.",
       "0.0"},
      {"prior", real(c.prior, closed(0, 1)),
       "sigmoid: biases start at this share of the log-odds of the labels' frequencies in the training "
       "data.",
       "0.0"},
  };
}

std::vector<Field> eval_fields(EvalConfig& c) {
  return {
      {"k", list(c.k, 1, 1000), "The k of P@k, nDCG@k, recall@k and PSP@k, ascending."},
      {"inference", choice(c.inference),
       "full: ranks all neurons; lsh: only candidates of hash tables; auto: candidates from 100,000 labels "
       "on, where they are as good."},
      {"candidates", count(c.candidates, 1, 10000000),
       "LSH inference: neurons from the tables scored for a sample at most."},
      {"propensity_a", real(c.propensity_a, closed(0, 10)), "PSP@k: A of the propensity model."},
      {"propensity_b", real(c.propensity_b, above(0, 1000)), "PSP@k: B of the propensity model."},
      {"rare", real(c.rare, closed(0, 1)),
       "Rank by probability / propensity of the label to this power: 0 for P@k, 1 for PSP@k; scores stay.",
       "0.0"},
  };
}

std::vector<Field> neighbour_fields(NeighbourConfig& c) {
  return {
      {"share", real(c.share, below(0, 1)),
       "Share of the kNN prediction in a label's probability, at inference: the most similar training "
       "samples vote for their labels; above 0 the model file keeps these samples; 0 = off.",
       "0.0"},
      {"count", count(c.count, 1, 1000), "The k of the kNN: the most similar training samples, which vote.",
       "20"},
      {"power", real(c.power, above(0, 100)),
       "The weight of a vote: the cosine of both samples' features to this power.", "4.0"},
      {"learn", flag(c.learn),
       "Learns feature weights of that cosine, under which similar samples share labels; false = all 1.",
       "false"},
      {"mean", real(c.mean, closed(0.1, 1)),
       "Exponent of the power mean of a label's probability and its kNN prediction: 1 is the weighted sum; "
       "less favours labels that have both.",
       "1.0"},
      {"cooccurrence", real(c.cooccurrence, closed(0, 1)),
       "Share of its probability, times that of another label where it is there, which each of the "
       "seven best labels adds to the other's, as its training samples say; 0 = none.",
       "0.0"},
  };
}

std::vector<Field> layer_fields(LayerConfig& c) {
  return {
      {"size", count(c.size, 0, kMax31), "Neurons; 0 in the last layer = the number of labels in the data."},
      {"kind", choice(c.kind), "Compute all neurons, or in the last layer only a sampled active set."},
      {"activation", choice(c.activation), "Activation of a hidden layer; the last layer's is the loss's."},
      {"dropout", real(c.dropout, below(0, 1)), "Share of a hidden layer's neurons dropped in training."},
      {"init_scale", real(c.init_scale, closed(0, 100)),
       "Factor of the first weights, drawn at random; 0, in the last layer: they are all 0.", "1.0"},
      {"lsh", count(c.lsh, 0, kMax31), "sampled: neurons from the hash tables for each block of samples."},
      {"uniform", count(c.uniform, 0, kMax31), "sampled: neurons drawn uniformly for each block."},
      {"frequency", count(c.frequency, 0, kMax31),
       "sampled, last layer only: neurons drawn by label frequency for each block."},
      {"logq_correction", flag(c.logq_correction),
       "sampled: drawn negatives stand for all neurons that were not drawn."},
      {"logq_power", real(c.logq_power, closed(0, 1)),
       "logq_correction: exponent of the number of neurons that a sampled negative represents.", "1.0"},
      {"wide", flag(c.wide),
       "Last layer: sparse weights from the features of a label's samples and its hard negatives.", "false"},
      {"wide_features", count(c.wide_features, 1, kMax31),
       "wide: features of one neuron at most, the strongest.", "1024"},
      {"wide_negatives", count(c.wide_negatives, 0, kMax31),
       "wide: features of one neuron at most that none of its label's samples has, but samples like them: "
       "they may speak against it; 0 = none.",
       "0"},
      {"wide_rate", real(c.wide_rate, closed(0, 1000)),
       "wide: learning rate, scheduled as the optimizer's; 0 = 1.5, of fewer than 7 epochs more.", "1.5"},
      {"wide_scale", real(c.wide_scale, closed(0, 1000)), "wide: length of a neuron's first weights.", "3.0"},
      {"wide_fit", real(c.wide_fit, closed(0, 1)),
       "wide: with loss.kind = sigmoid, weights and biases start at this share of a logistic model fitted to "
       "a few training samples, in place of wide_scale and loss.prior; 0 = off.",
       "0.0"},
      {"wide_margin", real_or_auto(c.wide_margin, closed(0, 1)),
       "wide: with loss.kind = sigmoid, training lowers the logits of a sample's labels by this share of "
       "what the sample itself adds to their first weights; auto: by 1 where labels' sums of samples predict "
       "about as well as the kNN does, else by 0.",
       "0.0"},
      {"wide_ridge", real(c.wide_ridge, closed(0, 1e9)),
       "wide: of interactions, the penalty of the regression of each item on the others that first weights "
       "come from; 0 = off.",
       "0.0"},
  };
}

std::vector<Field> hash_fields(HashConfig& c) {
  return {
      {"family", choice(c.family), "Hash functions."},
      {"k", count(c.k, 0, kMaxCodes),
       "Hash functions in one fingerprint; k times the bits of a code <= range_pow; 0 = by the number of "
       "neurons, some tens in a bucket."},
      {"tables", count(c.tables, 1, kMaxTables), "Hash tables."},
      {"bin_size", count(c.bin_size, kMinBinSize, kMaxBinSize),
       "wta, dwta, minhash: values compared in one hash function, a power of 2."},
      {"range_pow", count(c.range_pow, 0, kMaxRangePow),
       "A table has 2^range_pow buckets; 0 = as many as fingerprints."},
      {"bucket_capacity", count(c.bucket_capacity, 0, kMaxBucketCapacity),
       "Neurons of a bucket; 0 = by the number of neurons."},
      {"bucket_policy", choice(c.bucket_policy), "What a full bucket keeps: the newest, or a sample of all."},
      {"candidates", choice(c.candidates),
       "Choose candidates from tables in random order, by number of tables, from at least threshold tables, "
       "or by search: the best by score of those in most buckets."},
      {"threshold", count(c.threshold, 1, kMaxTables), "threshold: tables that must return a candidate."},
      {"queries", count(c.queries, 1, kMaxQueries), "search: samples of a block that ask.", "8"},
      {"topk_ratio", count(c.topk_ratio, 1, 65536), "minhash: the 1/ratio largest values are hashed."},
      {"asymmetric", flag(c.asymmetric), "simhash: transform for maximum inner product."},
      {"rehash_steps", count(c.rehash_steps, 0, kMax31),
       "Steps between insertions of changed neurons, 0 = never."},
      {"rehash_share", real(c.rehash_share, above(0, 1)),
       "Neurons inserted again at most, as a share of row updates since then; others wait.", "1.0"},
      {"rebuild_steps", count(c.rebuild_steps, 0, kMax31), "Steps between new hash functions, 0 = never."},
      {"interval_growth", real(c.interval_growth, closed(1, 100)), "Each interval, of the one before."},
  };
}

// An initializer list would copy all fields.
template <std::size_t n>
std::vector<Section> moved(Section (&&sections)[n]) {
  return {std::move_iterator(std::begin(sections)), std::move_iterator(std::end(sections))};
}

}  // namespace

std::vector<Section> plain_sections(Config& config) {
  return moved({{"data", "[data]", data_fields(config.data)},
                {"text", "[text]", text_fields(config.text)},
                {"train", "[train]", train_fields(config.train)},
                {"optimizer", "[optimizer]", optimizer_fields(config.optimizer)},
                {"loss", "[loss]", loss_fields(config.loss)},
                {"eval", "[eval]", eval_fields(config.eval)},
                {"neighbours", "[neighbours]", neighbour_fields(config.neighbours)}});
}

std::vector<Section> layer_sections(LayerConfig& layer, const std::string& name) {
  return moved(
      {{name, "[[layer]]", layer_fields(layer)}, {name + ".hash", "[layer.hash]", hash_fields(layer.hash)}});
}

std::string layer_name(std::size_t index) {
  return fmt::format("layer.{}", index);
}

std::vector<Section> all_sections(Config& config) {
  std::vector<Section> sections = plain_sections(config);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    std::ranges::move(layer_sections(config.layers[i], layer_name(i)), std::back_inserter(sections));
  }
  return sections;
}

const Field* find_field(const Section& section, std::string_view key) {
  const auto found = std::ranges::find(section.fields, key, &Field::key);
  return found == section.fields.end() ? nullptr : &*found;
}

const Field* find_field(std::span<const Section> sections, std::string_view name) {
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  const std::string_view key = name.substr(std::min(dot + 1, name.size()));
  const auto section = std::ranges::find(sections, name.substr(0, dot), &Section::name);
  return section == sections.end() ? nullptr : find_field(*section, key);
}

std::optional<Field> find_field(Config& config, std::string_view name) {
  const std::vector<Section> sections = all_sections(config);
  const Field* field = find_field(sections, name);
  return field == nullptr ? std::nullopt : std::optional(*field);
}

}  // namespace slide::config
