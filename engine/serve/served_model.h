// A loaded model with its predictors and a pool of working memory for requests.
//
// Immutable except for the pool, which is guarded by a mutex, and counts, which are atomic: safe from any
// thread. The server replaces the whole object at a reload; pending requests keep their object alive.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/row_parser.h"
#include "datasets/text/tokenizer.h"
#include "engine/inference/attribution.h"
#include "engine/inference/inference.h"
#include "engine/model/model_file.h"
#include "engine/run/known_users.h"
#include "engine/run/label_names.h"
#include "engine/run/similar.h"

namespace slide::serve {

// Working memory of one request.
struct Workspace {
  explicit Workspace(const TextOptions& text) : tokenizer(text) {}

  Tokenizer tokenizer;
  LabelledLine parts;
  Row row;
  Predictor::Scratch full, lsh;
  Attribution attribution;
};

class ServedModel {
 public:
  struct Options {
    std::string path;
    std::string labels;                  // file with label names, or empty
    std::string known;                   // of interactions: log to look users up in; empty: the model's own
    std::optional<Inference> inference;  // none: eval.inference of the model
    std::optional<double> rare = {};     // none: eval.rare of the model
    std::optional<double> threshold{};   // replaces the thresholds of the model
    bool without_thresholds = false;     // the model's own are not used
    bool similar = false;                // whether POST /similar is answered of labels
    bool similar_features = false;       // and of features
    int threads = 0;                     // for loading
  };
  // Loads the model; builds the hash tables where requests may use them; for interactions reads the items of
  // the users: 8 bytes per item of a user, and names. Throws InputError as load_model(), LabelNames and
  // KnownUsers do, and where the model is no regular file.
  explicit ServedModel(const Options& options);

  const Model& model() const { return model_; }
  const LabelNames& names() const { return names_; }
  // Items of users; nullptr without a log.
  const KnownUsers* users() const { return users_ ? &*users_ : nullptr; }
  // Index that answers POST /similar; nullptr without one.
  struct Similar {
    SimilarRows rows;
    SimilarNames names;
  };
  const Similar* similar(SimilarOf of) const {
    const std::optional<Similar>& among = of == SimilarOf::kLabels ? similar_ : similar_features_;
    return among ? &*among : nullptr;
  }
  const std::string& path() const { return path_; }
  // Checksum of the file, eight hexadecimal digits.
  const std::string& fingerprint() const { return fingerprint_; }
  // Default inference of requests: as the options of the server say, else as the configuration of the model
  // says.
  Inference inference() const { return inference_; }
  // How a request is answered, kFull or kLsh.
  Inference resolved(Inference mode, const Predictor::Wanted& wanted) const;
  // The mode for a request for few labels with default scores.
  Inference usual_inference() const;
  // For kFull or kLsh; nullptr where there are no tables.
  const Predictor* predictor(Inference mode) const;
  // The inputs that it takes, for messages: "text", "items", "dense columns" or "features".
  const char* kind() const;
  double load_seconds() const { return load_seconds_; }
  std::chrono::system_clock::time_point loaded_at() const { return loaded_at_; }

  // Notes that a label was answered; the number of distinct ones since the model was loaded.
  void use(std::uint32_t label) const {
    if (!used_[label].load(std::memory_order_relaxed) && !used_[label].exchange(true)) ++labels_used_;
  }
  std::uint64_t labels_used() const { return labels_used_; }

  // Borrows a Workspace for its lifetime.
  class Lease {
   public:
    explicit Lease(const ServedModel& owner) : owner_(owner), space_(owner.borrow()) {}
    ~Lease() { owner_.give_back(std::move(space_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Workspace& operator*() { return *space_; }

   private:
    const ServedModel& owner_;
    std::unique_ptr<Workspace> space_;
  };

 private:
  void read_users(const std::string& known, int threads);
  std::unique_ptr<Workspace> borrow() const;
  void give_back(std::unique_ptr<Workspace> space) const;

  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::string path_;
  Model model_;
  LabelNames names_;
  std::optional<KnownUsers> users_;
  std::string fingerprint_;
  Inference inference_;
  std::optional<Predictor> full_, lsh_;
  std::optional<Similar> similar_, similar_features_;
  double load_seconds_ = 0.0;
  std::chrono::system_clock::time_point loaded_at_;
  mutable std::vector<std::atomic<bool>> used_;  // by label
  mutable std::atomic<std::uint64_t> labels_used_{0};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace slide::serve
