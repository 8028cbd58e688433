// What features weigh when samples are compared, learnt so that the samples most like a sample have its
// labels.
//
// A cosine takes all features for equally telling: two samples are alike because both begin with the same
// phrase, as much as because both name the same thing. Here each feature gets a factor of its values. It
// begins with the root of how alike the labels of samples are that have the feature (the mean cosine of two
// samples' labels, which count by their rarity), against the mean over features, and then climbs the
// likelihood of votes that leave out the sample that is asked about: for sample i with labels Y,
//
//   mean over y in Y of log(v_y + kMinVote),  v_y = sum of c_ij^P over neighbours j with y / (S^P + sum of
//   c_ij^P)
//
// with the cosines c_ij and the stranger S of Neighbours; P is the same whatever power votes have. That is
// neighbourhood components analysis (Goldberger et al. 2004) of a diagonal matrix, with those votes in place
// of a softmax of distances, and candidates in place of all samples. The gradients of a feature are added up
// over a batch, and the logarithm of its factor follows them as by Adagrad (Duchi et al. 2011).
//
// Serves one learning; its calls have threads of their own, one at a time. Results do not depend on how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/features/neighbours.h"

namespace slide {

class FeatureWeightLearning {
 public:
  static constexpr std::size_t kMaxAsked = 1 << 16;  // samples that are asked about: where there are twice
                                                     // as many or more, every second, third, ...
  static constexpr std::size_t kNearest = 40;        // candidates of a sample,
  static constexpr std::size_t kMaxShared = 1600;    // which share so many features with it in all, at most
  static constexpr std::size_t kRounds = 3;          // through the samples that are asked about
  static constexpr std::size_t kBatches = 4;         // in a round
  static constexpr double kRate = 0.3;               // falls to 0 over the rounds
  static constexpr double kMinVote = 1e-3;
  static constexpr double kPower = 4.0;  // P above

  // `samples` are at least two, have values in bfloat16 and no dense columns, and must outlive this.
  FeatureWeightLearning(const Neighbours& samples, int threads);

  // The steps, in this order. Factors are those of Neighbours::Storage::feature_weights.
  // Factors to begin with, from the labels of each feature's samples.
  std::vector<std::uint16_t> first_weights();
  // Who may vote for each sample that is asked about; `samples` has the first factors.
  void find_candidates(const Neighbours& samples);
  std::vector<std::uint16_t> learn();

  // Behind find_candidates(), with factors exp(logs), by feature: the likelihood above, added up over the
  // samples that are asked about, and its gradient by `logs`.
  struct Slope {
    double likelihood = 0.0;
    std::vector<double> gradient;
  };
  Slope slope_at(std::span<const float> logs);

  // What one takes, of so many samples, features and labels, with so many entries of features.
  static double bytes_of(double samples, double features, double labels, double entries, int threads);

 private:
  // A feature that a candidate shares with the sample that is asked about: its place among this one's, and
  // the candidate's value in bfloat16.
  struct Shared {
    std::uint16_t place, value;
  };
  struct Candidate {
    std::uint32_t sample;
    std::uint16_t features, labels;  // how many it shares
  };
  struct Asked {
    std::uint32_t sample;
    std::uint32_t count;                    // of its candidates,
    std::size_t candidate, shared, labels;  // which begin here in their slice
  };
  struct Slice {
    std::vector<Asked> asked;
    std::vector<Candidate> candidates;
    std::vector<Shared> shared;
    std::vector<std::uint16_t> labels;  // shared ones, as places among those of the sample

    // Calls body(candidate, features, labels) for each candidate, with the first of what it shares.
    template <class Body>
    void each(const Asked& of, Body&& body) const {
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
    std::vector<float> features;  // by feature, but for the square of its factor
    std::vector<float> turns;     // by sample: what is still to be taken away, by its squares
    double likelihood = 0.0;
  };
  struct Scratch {
    std::vector<float> asked, shared;             // by place in the sample that is asked about
    std::vector<double> similarity, votes, gain;  // by candidate, by label of the sample, by label
  };
  using Samples = Neighbours::Storage;

  struct LabelSum {
    std::vector<float> by_label;         // zero between calls
    std::vector<std::uint32_t> touched;  // labels, some of them more than once
  };
  double coherence_of(std::uint32_t feature, LabelSum& sum) const;
  std::vector<std::uint16_t> rounded() const;
  void prepare();
  void measure();
  double add_up(std::size_t batch);
  void list_candidates(std::uint32_t sample, std::span<const std::pair<float, std::uint32_t>> similarity,
                       std::span<const std::uint16_t> places, Slice& to) const;
  void vote(const Slice& slice, const Asked& asked, Scratch& scratch) const;
  double add_gradient(const Slice& slice, const Asked& asked, Scratch& scratch, Gradient& gradient) const;
  void turn(std::size_t sample, std::span<float> gradient) const;
  double gradient_of(std::size_t feature) const;  // of the batch last added up
  void climb(double rate);
  std::span<const std::uint32_t> labels_of(std::uint32_t sample) const;
  std::span<const std::uint32_t> features_of(std::uint32_t sample) const;

  const Neighbours& neighbours_;
  const Samples& samples_;
  int threads_;
  std::size_t step_, asked_, slice_count_;
  std::vector<float> label_weights_;    // rarity
  std::vector<float> label_norms_;      // by sample: 1 / the length of its labels
  std::vector<float> logs_;             // of the factors, by feature
  std::vector<float> factors_, norms_;  // the factors, and by sample 1 / its length with them
  std::vector<double> squares_;         // of gradients so far, by feature
  std::vector<Slice> slices_;           // [batch][slice] of those that are asked about
  std::vector<Gradient> gradients_;     // by slice of a batch
  std::vector<Scratch> scratch_;        // by thread
};

// Learns it for neighbours that are to (Neighbours::learns()), from their own samples.
void learn_feature_weights(Neighbours& neighbours, int threads);

}  // namespace slide
