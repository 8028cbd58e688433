// Conversion of the caller's CSR arrays to a data set: checks them, borrows suitable arrays and copies the
// others. Internal to the library; safe from any thread.
#pragma once

#include <slide/data.h>
#include <memory>

#include "datasets/rows/dataset.h"

namespace slide::api {

struct CsrInput {
  DatasetView view;
  std::uint32_t feature_count = 0, label_count = 0;
  std::shared_ptr<const void> storage;  // keeps the view valid
  std::size_t copied_bytes = 0;
};

// See Data::from_csr(). Throws InputError; messages call the feature matrix `features_name`.
CsrInput take_csr(const CsrMatrix& features, const CsrMatrix& labels, std::shared_ptr<const void> keep_alive,
                  const char* features_name = "features");

}  // namespace slide::api
