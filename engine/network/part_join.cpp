#include "engine/network/part_join.h"

#include <cmath>
#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr int kNorms = 0, kLosses = 1, kFirstOfSums = 2;  // channels
constexpr double kBytes = 2;                              // of a bfloat16 value
constexpr double kMinHalved = 8192;  // bytes; halving a smaller message saves hardly any time

}  // namespace

// Two groups of blocks where a message of the whole batch has kMinHalved bytes or more, else one.
PartJoin::PartJoin(const NetworkParts& parts, const Shape& shape, Cluster* cluster)
    : blocks_(shape.blocks),
      lanes_(shape.lanes),
      stride_(kernels::spread_stride(shape.hidden)),
      parts_(parts.count()),
      own_(parts.own),
      cluster_(cluster != nullptr && cluster->size() > 1 ? cluster : nullptr),
      norms_(shape.normalised_loss ? blocks_ * lanes_ * parts_ : 0),
      totals_(shape.normalised_loss ? blocks_ * lanes_ : 0) {
  const std::size_t ranks = cluster_ == nullptr ? 1 : static_cast<std::size_t>(cluster_->size());
  rank_ = cluster_ == nullptr ? 0 : static_cast<std::size_t>(cluster_->rank());
  for (std::size_t r = 0; r < ranks; ++r) held_.push_back(parts_of_rank(parts_, r, ranks));
  sums_.resize(parts_);
  out_.resize(ranks);
  in_.resize(ranks);
  if (shape.hidden == 0) return;
  const double message = double(blocks_ * lanes_ * shape.hidden) * kBytes / double(ranks);
  const std::size_t count = ranks > 1 && message >= kMinHalved ? std::min<std::size_t>(blocks_, 2) : 1;
  for (std::size_t g = 0; g < count; ++g) {
    const std::size_t first = blocks_ * g / count, size = blocks_ * (g + 1) / count - first;
    const auto sums = [&](int i) {
      const int channel = kFirstOfSums + (2 * static_cast<int>(g) + i) * PartSums::kChannels;
      return PartSums(parts, size, lanes_, shape.hidden, cluster_, channel);
    };
    Group& group = groups_.emplace_back(Group{{first, size}, sums(0), sums(1)});
    group.hidden.prepare(shape.threads);
    group.gradient.prepare(shape.threads);
  }
  deltas_ = AlignedArray<float>(blocks_ * own_.count * lanes_ * stride_);
}

double PartJoin::bytes_of(const NetworkParts& parts, const Shape& shape) {
  const std::size_t samples = shape.blocks * shape.lanes;
  double bytes = shape.normalised_loss ? double(samples * (parts.count() + 1)) * sizeof(float) : 0.0;
  if (shape.hidden == 0) return bytes;
  bytes += double(samples * parts.own.count * kernels::spread_stride(shape.hidden)) * sizeof(float);
  return bytes + 2 * PartSums::bytes_of(parts, shape.blocks, shape.lanes, shape.hidden);
}

std::span<PartJoin::Group> PartJoin::groups(std::size_t blocks) {
  const auto used = [&](const Group& group) { return group.blocks.first < blocks; };
  return std::span(groups_).first(static_cast<std::size_t>(std::ranges::count_if(groups_, used)));
}

// Sends the own rows to every other rank, and receives the rows of each.
template <class RowsOf>
void PartJoin::start_exchange(int channel, const RowsOf& rows_of) {
  for (std::size_t r = 0; r < held_.size(); ++r) {
    out_[r] = {};
    in_[r] = {};
    if (r == rank_) continue;
    out_[r] = rows_of(rank_);
    in_[r] = rows_of(r);
  }
  cluster_->start(channel, out_, in_);
}

void PartJoin::join_norms(Slice blocks) {
  if (cluster_ == nullptr) return;
  start_exchange(kNorms, [&](std::size_t rank) {
    const std::size_t first = norm_at(rank, blocks.first, 0),
                      count = blocks.count * held_[rank].count * lanes_;
    return std::as_writable_bytes(norms_.span().subspan(first, count));
  });
  cluster_->wait(kNorms);
}

// log sum exp over the norms of all parts, in the order of parts.
void PartJoin::fill_total(std::size_t block, Slice samples) {
  float* total = totals_.data() + block * lanes_;
  for (std::size_t s = samples.first; s < samples.end(); ++s) {
    const auto for_each = [&](auto&& visit) {
      for (std::size_t r = 0; r < held_.size(); ++r) {
        for (std::size_t p = 0; p < held_[r].count; ++p) visit(norms_[norm_at(r, block, p) + s]);
      }
    };
    float largest = -std::numeric_limits<float>::infinity();
    for_each([&](float norm) { largest = std::max(largest, norm); });
    double sum = 0.0;
    for_each([&](float norm) { sum += std::exp(double(norm) - double(largest)); });
    total[s] = static_cast<float>(double(largest) + std::log(sum));
  }
}

void PartJoin::put(std::size_t part, const StepSums& own) {
  sums_[own_.first + part] = {own.loss, own.active, wants_stop_ ? 1.0 : 0.0, own.sources};
}

void PartJoin::start_sum() {
  if (cluster_ == nullptr) return;
  start_exchange(kLosses, [&](std::size_t rank) {
    return std::as_writable_bytes(std::span(sums_).subspan(held_[rank].first, held_[rank].count));
  });
}

StepSums PartJoin::sum() {
  if (cluster_ != nullptr) cluster_->wait(kLosses);
  StepSums all;
  for (const Sums& part : sums_) {
    all.loss += part.loss;
    all.active += part.active;
    all.sources.add(part.sources);
    all.stop = all.stop || part.stop != 0.0;
  }
  return all;
}

}  // namespace slide
