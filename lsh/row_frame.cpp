#include "lsh/row_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "lsh/fetch_row.h"

namespace slide::lsh {

namespace {
constexpr std::size_t kSample = 2048;  // max sampled rows
constexpr std::size_t kSumRows = 256;  // sampled rows of a task
constexpr double kQuantile = 0.99;     // of the norms: longer rows get no padding

std::size_t step_of(std::size_t count) {
  return (count + kSample - 1) / kSample;
}
}  // namespace

// Calls use(task, index in the sample, row, bias) for the sampled rows of task t.
template <class Use>
void RowFrame::each_row(const Rows& all, std::size_t t, Use&& use) {
  Task& task = tasks_[t];
  task.row.resize(mean_.size());
  const std::size_t end = std::min(all.size, (t + 1) * kSumRows);
  for (std::size_t i = t * kSumRows; i < end; ++i) {
    const float* row = fetch_row(all.rows, mean_.size(), i * all.step, task.row.data());
    use(task, i, row, has_bias_ ? all.rows.bias[i * all.step] : 0.0F);
  }
}

void RowFrame::fit(const WeightRows& rows, std::size_t count, int threads) {
  const std::size_t step = step_of(count);
  const Rows all{rows, step, (count + step - 1) / step};
  lengths2_.resize(all.size);
  tasks_.resize((all.size + kSumRows - 1) / kSumRows);
  has_bias_ = rows.bias != nullptr;
  fit_mean(all, threads);
  fit_length(all, threads);
}

// Sums by task, then over tasks in order: deterministic for any number of threads.
void RowFrame::fit_mean(const Rows& all, int threads) {
  const std::size_t dim = mean_.size();
  parallel_for(tasks_.size(), threads, [&](std::size_t t, int) {
    tasks_[t].sum.assign(dim, 0.0F);
    tasks_[t].bias = 0;
    tasks_[t].all_zero = true;
    each_row(all, t, [&](Task& task, std::size_t, const float* row, float bias) {
      kernels::active().axpy(1.0F, row, dim, task.sum.data());
      task.bias += bias;
      task.all_zero = task.all_zero && kernels::active().dot(row, row, dim) == 0.0F;
    });
  });
  std::fill(mean_.begin(), mean_.end(), 0.0F);
  double bias = 0;
  all_zero_ = true;
  for (const Task& task : tasks_) {
    kernels::active().axpy(1.0F / static_cast<float>(all.size), task.sum.data(), dim, mean_.data());
    bias += task.bias;
    all_zero_ = all_zero_ && task.all_zero;
  }
  mean_bias_ = static_cast<float>(bias / double(all.size));
}

// length2_ = the kQuantile of the squared norms of the sampled rows, centred.
void RowFrame::fit_length(const Rows& all, int threads) {
  const std::size_t dim = mean_.size();
  parallel_for(tasks_.size(), threads, [&](std::size_t t, int) {
    each_row(all, t, [&](Task& task, std::size_t i, const float* row, float bias) {
      std::copy_n(row, dim, task.sum.data());
      kernels::active().axpy(-1.0F, mean_.data(), dim, task.sum.data());
      const float b = bias - mean_bias_;
      const float length2 = kernels::active().dot(task.sum.data(), task.sum.data(), dim) + b * b;
      lengths2_[i] = std::isfinite(length2) ? length2 : 0.0F;
    });
  });
  const auto at = lengths2_.begin() + static_cast<std::ptrdiff_t>(kQuantile * double(all.size - 1));
  std::nth_element(lengths2_.begin(), at, lengths2_.end());
  length2_ = *at;
}

void RowFrame::save(ByteWriter& out) const {
  out.put_array(mean_.data(), mean_.size());
  out.put(mean_bias_);
  out.put(length2_);
  out.put(std::uint8_t{has_bias_});
  out.put(std::uint8_t{all_zero_});
}

void RowFrame::load(ByteReader& in) {
  in.get_array(mean_.data(), mean_.size(), "the mean of rows of another width");
  mean_bias_ = in.get<float>();
  length2_ = in.get<float>();
  has_bias_ = in.get<std::uint8_t>() != 0;
  all_zero_ = in.get<std::uint8_t>() != 0;
}

std::size_t RowFrame::bytes() const {
  std::size_t sum = (mean_.size() + lengths2_.size()) * sizeof(float);
  for (const Task& task : tasks_) sum += (task.sum.size() + task.row.size()) * sizeof(float);
  return sum;
}

double RowFrame::bytes_of(std::size_t dim, std::size_t rows) {
  const std::size_t step = step_of(rows), size = (rows + step - 1) / step;
  const std::size_t tasks = (size + kSumRows - 1) / kSumRows;
  return double(dim + size + tasks * 2 * dim) * sizeof(float);
}

}  // namespace slide::lsh
