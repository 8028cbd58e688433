#include "lsh/row_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

namespace {
constexpr std::size_t kSample = 2048;  // rows
constexpr std::size_t kSumRows = 256;  // of these
constexpr double kShorter = 0.99;  // share of rows that are no longer: longer ones, if alike, share a bucket

std::size_t step_of(std::size_t count) {
  return (count + kSample - 1) / kSample;
}
}  // namespace

void RowFrame::fit(const WeightRows& rows, std::size_t count, int threads) {
  const std::size_t step = step_of(count), size = (count + step - 1) / step, dim = mean_.size();
  lengths2_.resize(size);
  tasks_.resize((size + kSumRows - 1) / kSumRows);
  has_bias_ = rows.bias != nullptr;
  const auto bias_of = [&](std::size_t i) { return has_bias_ ? rows.bias[i * step] : 0.0F; };
  const auto each = [&](std::size_t t, auto&& use) {
    Task& task = tasks_[t];
    task.row.resize(dim);
    const std::size_t end = std::min(size, (t + 1) * kSumRows);
    for (std::size_t i = t * kSumRows; i < end; ++i)
      use(task, i, fetch_row(rows, dim, i * step, task.row.data()));
  };
  parallel_for(tasks_.size(), threads, [&](std::size_t t, int) {
    tasks_[t].sum.assign(dim, 0.0F);
    tasks_[t].bias = 0;
    tasks_[t].blank = true;
    each(t, [&](Task& task, std::size_t i, const float* row) {
      kernels::active().axpy(1.0F, row, dim, task.sum.data());
      task.bias += bias_of(i);
      task.blank = task.blank && kernels::active().dot(row, row, dim) == 0.0F;
    });
  });
  std::fill(mean_.begin(), mean_.end(), 0.0F);
  double bias = 0;
  blank_ = true;
  for (const Task& task : tasks_) {
    kernels::active().axpy(1.0F / static_cast<float>(size), task.sum.data(), dim, mean_.data());
    bias += task.bias;
    blank_ = blank_ && task.blank;
  }
  mean_bias_ = static_cast<float>(bias / double(size));
  parallel_for(tasks_.size(), threads, [&](std::size_t t, int) {
    each(t, [&](Task& task, std::size_t i, const float* row) {
      std::copy_n(row, dim, task.sum.data());
      kernels::active().axpy(-1.0F, mean_.data(), dim, task.sum.data());
      const float b = bias_of(i) - mean_bias_;
      const float length2 = kernels::active().dot(task.sum.data(), task.sum.data(), dim) + b * b;
      lengths2_[i] = std::isfinite(length2) ? length2 : 0.0F;
    });
  });
  const auto at = lengths2_.begin() + static_cast<std::ptrdiff_t>(kShorter * double(size - 1));
  std::nth_element(lengths2_.begin(), at, lengths2_.end());
  length2_ = *at;
}

void RowFrame::save(ByteWriter& out) const {
  out.put_array(mean_.data(), mean_.size());
  out.put(mean_bias_);
  out.put(length2_);
  out.put(std::uint8_t{has_bias_});
  out.put(std::uint8_t{blank_});
}

void RowFrame::load(ByteReader& in) {
  in.get_array(mean_.data(), mean_.size(), "the mean of rows of another width");
  mean_bias_ = in.get<float>();
  length2_ = in.get<float>();
  has_bias_ = in.get<std::uint8_t>() != 0;
  blank_ = in.get<std::uint8_t>() != 0;
}

std::size_t RowFrame::bytes() const {
  std::size_t sum = (mean_.size() + lengths2_.size()) * sizeof(float);
  for (const Task& task : tasks_) sum += (task.sum.size() + task.row.size()) * sizeof(float);
  return sum;
}

double RowFrame::bytes_of(std::size_t dim, std::size_t rows) {
  const std::size_t step = step_of(rows), size = (rows + step - 1) / step;
  return double(dim + size + (size + kSumRows - 1) / kSumRows * 2 * dim) * sizeof(float);
}

}  // namespace slide::lsh
