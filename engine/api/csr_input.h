// Takes the caller's arrays in as a data set: checks them, borrows what fits and copies the rest. Internal to
// the library; safe from any thread.
#pragma once

#include <slide/data.h>
#include <memory>

#include "datasets/dataset.h"

namespace slide::api {

struct CsrInput {
  DatasetView view;
  std::uint32_t feature_count = 0, label_count = 0;
  std::shared_ptr<const void> storage;  // keeps the view
  std::size_t copied_bytes = 0;
};

// See Data::from_csr(). Throws InputError, which calls the first matrix by its name.
CsrInput take_csr(const CsrMatrix& features, const CsrMatrix& labels, std::shared_ptr<const void> keep_alive,
                  const char* features_name = "features");

}  // namespace slide::api
