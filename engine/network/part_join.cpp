#include "engine/network/part_join.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

PartJoin::PartJoin(const NetworkParts& parts, const Shape& shape, Cluster* cluster)
    : blocks_(shape.blocks),
      lanes_(shape.lanes),
      stride_(kernels::spread_stride(shape.hidden)),
      parts_(parts.count()),
      own_(parts.own),
      cluster_(cluster != nullptr && cluster->size() > 1 ? cluster : nullptr),
      channel_(2 * PartSums::kChannels),
      norms_(shape.softmax ? blocks_ * lanes_ * parts_ : 0),
      totals_(shape.softmax ? blocks_ * lanes_ : 0) {
  const std::size_t ranks = cluster_ == nullptr ? 1 : static_cast<std::size_t>(cluster_->size());
  rank_ = cluster_ == nullptr ? 0 : static_cast<std::size_t>(cluster_->rank());
  for (std::size_t r = 0; r < ranks; ++r) held_.push_back(parts_of_rank(parts_, r, ranks));
  sums_.resize(parts_);
  out_.resize(ranks);
  in_.resize(ranks);
  if (shape.hidden == 0) return;
  hidden.emplace(parts, blocks_, lanes_, shape.hidden, cluster_, 0);
  gradient.emplace(parts, blocks_, lanes_, shape.hidden, cluster_, PartSums::kChannels);
  hidden->prepare(shape.threads);
  gradient->prepare(shape.threads);
  deltas_ = AlignedArray<float>(blocks_ * own_.count * lanes_ * stride_);
}

double PartJoin::bytes_of(const NetworkParts& parts, const Shape& shape) {
  const std::size_t samples = shape.blocks * shape.lanes;
  double bytes = shape.softmax ? double(samples * (parts.count() + 1)) * sizeof(float) : 0.0;
  if (shape.hidden == 0) return bytes;
  bytes += double(samples * parts.own.count * kernels::spread_stride(shape.hidden)) * sizeof(float);
  return bytes + 2 * PartSums::bytes_of(parts, shape.blocks, shape.lanes, shape.hidden);
}

// Sends this process's numbers, `each` a part, to all and gets theirs.
template <class T>
void PartJoin::exchange(std::size_t each, std::span<T> all) {
  if (cluster_ == nullptr) return;
  const std::span<T> mine = all.subspan(own_.first * each, own_.count * each);
  for (std::size_t r = 0; r < held_.size(); ++r) {
    out_[r] = {};
    in_[r] = {};
    if (r == rank_) continue;
    out_[r] = std::as_bytes(mine);
    in_[r] = std::as_writable_bytes(all.subspan(held_[r].first * each, held_[r].count * each));
  }
  cluster_->start(channel_, out_, in_);
  cluster_->wait(channel_);
}

void PartJoin::join_norms() {
  exchange(blocks_ * lanes_, norms_.span());
}

void PartJoin::fill_total(std::size_t block, Slice samples) {
  float* total = totals_.data() + block * lanes_;
  for (std::size_t s = samples.first; s < samples.end(); ++s) {
    const auto for_each = [&](auto&& visit) {
      for (std::size_t r = 0; r < held_.size(); ++r) {
        for (std::size_t p = 0; p < held_[r].count; ++p) visit(norms_[norm_at(r, block, p) + s]);
      }
    };
    float most = -std::numeric_limits<float>::infinity();
    for_each([&](float norm) { most = std::max(most, norm); });
    double sum = 0.0;
    for_each([&](float norm) { sum += std::exp(double(norm) - double(most)); });
    total[s] = static_cast<float>(double(most) + std::log(sum));
  }
}

void PartJoin::put(std::size_t part, double loss, double active) {
  sums_[own_.first + part] = {loss, active, wants_stop_ ? 1.0 : 0.0};
}

StepSums PartJoin::sum() {
  exchange(1, std::span(sums_));
  StepSums all;
  for (const Sums& part : sums_) {
    all.loss += part.loss;
    all.active += part.active;
    all.stop = all.stop || part.stop != 0.0;
  }
  return all;
}

}  // namespace slide
