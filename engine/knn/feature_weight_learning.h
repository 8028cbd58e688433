// Learns feature weights for the kNN prediction: a diagonal metric under which the nearest neighbours of a
// sample share its labels.
//
// The plain cosine weights all features equally. Here each feature has a factor. Its initial value is the
// square root of the feature's label coherence (the mean cosine between the idf-weighted label vectors of two
// samples that have the feature) relative to the mean coherence. Gradient ascent then maximises the
// leave-one-out log-likelihood of the kNN prediction: for sample i with labels Y,
//
//   mean over y in Y of log(v_y + kMinVote),
//   v_y = sum of c_ij^P over neighbours j with y / (S^P + sum of c_ij^P)
//
// with the cosines c_ij and the prior pseudo-neighbour S of Neighbours; P is kPower, independent of the
// configured power. This is neighbourhood components analysis (Goldberger et al. 2004) with a diagonal
// matrix, kNN votes in place of the softmax over distances, and candidates in place of all samples. Gradients
// are summed over a batch; Adagrad (Duchi et al. 2011) updates the logarithm of each factor.
//
// One object per learning run; not thread-safe: call one method at a time, each uses `threads` threads
// internally. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/knn/neighbours.h"

namespace slide {

class FeatureWeightLearning {
 public:
  // Max query samples, approximately: with twice as many samples or more, every 2nd, 3rd, ... sample is a
  // query.
  static constexpr std::size_t kMaxQueries = 1 << 16;
  static constexpr std::size_t kNearest = 40;      // candidates per query
  static constexpr std::size_t kMaxShared = 1600;  // max shared features over all candidates of a query
  static constexpr std::size_t kRounds = 3;        // passes over the queries
  static constexpr std::size_t kBatches = 4;       // per pass
  static constexpr double kRate = 0.3;             // learning rate, decays to 0 over the passes
  static constexpr double kMinVote = 1e-3;
  static constexpr double kPower = 4.0;  // P above

  // `samples` has at least two samples, bfloat16 values and no dense columns, and must outlive this object.
  FeatureWeightLearning(const Neighbours& samples, int threads);

  // The steps, in the order of their calls. Weights have the format of Neighbours::Storage::feature_weights.

  // Returns the initial weights, from the label coherence of each feature.
  std::vector<std::uint16_t> initial_weights();
  // Finds the candidate neighbours of each query; `samples` already has the initial weights.
  void find_candidates(const Neighbours& samples);
  // Runs all passes; returns the learnt weights.
  std::vector<std::uint16_t> learn();

  // Call after find_candidates(): the log-likelihood above, summed over the queries, with factors exp(logs),
  // and its gradient with respect to `logs`, by feature.
  struct Slope {
    double likelihood = 0.0;
    std::vector<double> gradient;
  };
  Slope slope_at(std::span<const float> logs);

  // Memory for the given numbers of samples, features, labels and feature entries.
  static double bytes_of(double samples, double features, double labels, double entries, int threads);

 private:
  // A feature shared by a candidate and the query: its index within the query's features, and the candidate's
  // value in bfloat16.
  struct Shared {
    std::uint16_t place, value;
  };
  struct Candidate {
    std::uint32_t sample;
    std::uint16_t features, labels;  // numbers of shared features and shared labels
  };
  struct Query {
    std::uint32_t sample;
    std::uint32_t count;                    // number of its candidates
    std::size_t candidate, shared, labels;  // where its data begin in the slice
  };
  struct Slice {
    std::vector<Query> queries;
    std::vector<Candidate> candidates;
    std::vector<Shared> shared;
    std::vector<std::uint16_t> labels;  // shared labels, as indices within the query's labels

    // For so many queries with as many candidates and shared features as there can be: lists that grow would
    // be moved, and memory that is never touched costs nothing.
    void reserve(std::size_t count) {
      queries.reserve(count);
      candidates.reserve(count * kNearest);
      shared.reserve(count * kMaxShared);
      request_large_pages(candidates.data(), candidates.capacity() * sizeof(Candidate));
      request_large_pages(shared.data(), shared.capacity() * sizeof(Shared));
    }

    // Calls body(candidate, features, labels) for each candidate, with pointers to its shared features and
    // labels.
    template <class Body>
    void each(const Query& of, Body&& body) const {
      const Shared* features = shared.data() + of.shared;
      const std::uint16_t* places = labels.data() + of.labels;
      for (const Candidate& one : std::span(candidates).subspan(of.candidate, of.count)) {
        body(one, features, places);
        features += one.features;
        places += one.labels;
      }
    }
  };
  struct Gradient {
    std::vector<float> features;  // by feature, without the square of the feature's factor
    // By sample: the factor of its squared values in the norm term, which is subtracted later.
    std::vector<float> norm_terms;
    double likelihood = 0.0;
  };
  struct Scratch {
    std::vector<float> query, shared;             // by index within the query
    std::vector<double> similarity, votes, gain;  // by candidate; by label of the query; by label
  };
  using Samples = Neighbours::Storage;

  struct LabelSum {
    std::vector<float> by_label;         // zero between calls
    std::vector<std::uint32_t> touched;  // labels, possibly repeated
  };
  double coherence_of(std::uint32_t feature, LabelSum& sum) const;
  void set_label_weights();
  std::vector<std::uint16_t> feature_weights() const;
  void prepare();
  void update_factors();
  double compute_gradients(std::size_t batch);
  void list_candidates(std::uint32_t sample, std::span<const std::pair<float, std::uint32_t>> similarity,
                       std::span<const std::uint16_t> places, Slice& to) const;
  void compute_votes(const Slice& slice, const Query& query, Scratch& scratch) const;
  double add_gradient(const Slice& slice, const Query& query, Scratch& scratch, Gradient& gradient) const;
  void subtract_norm_term(std::size_t sample, std::span<float> gradient) const;
  double gradient_of(std::size_t feature) const;  // of the last batch
  void ascend(double rate);

  const Neighbours& neighbours_;
  const Samples& samples_;
  int threads_;
  std::size_t step_, query_count_, slice_count_;
  std::vector<float> label_weights_;    // idf of the labels
  std::vector<float> label_norms_;      // by sample: 1 / length of its weighted label vector
  std::vector<float> log_factors_;      // of the factors, by feature
  std::vector<float> factors_, norms_;  // the factors; by sample: 1 / length with them
  std::vector<double> squares_;         // Adagrad sums of squared gradients, by feature
  std::vector<Slice> slices_;           // [batch][slice] of queries
  std::vector<Gradient> gradients_;     // by slice of a batch
  std::vector<Scratch> scratch_;        // by thread
};

// Learns feature weights from the neighbours' own samples and sets them, where Neighbours::learns().
void learn_feature_weights(Neighbours& neighbours, int threads);

}  // namespace slide
