#include "engine/crosses/feature_transform.h"

namespace slide {

namespace {

const FeatureTransform& transform_of(const Network& network) {
  static const FeatureTransform kNone;
  const auto* transform = dynamic_cast<const FeatureTransform*>(network.transform());
  return transform != nullptr ? *transform : kNone;
}

}  // namespace

void FeatureTransform::save(ByteWriter& out) const {
  if (scale_.active()) out.put_array(scale_.factors().data(), scale_.factors().size());
}

std::shared_ptr<const InputTransform> FeatureTransform::loaded(ByteReader& in) const {
  if (!scale_.active()) return std::make_shared<const FeatureTransform>(*this);
  std::vector<float> factors(scale_.factors().size());
  in.get_array(factors.data(), factors.size(), "another number of features");
  if (!FeatureScale::are_valid(factors)) in.refuse("impossible factors of features");
  return std::make_shared<const FeatureTransform>(crosses_, scale_.with_factors(std::move(factors)));
}

const FeatureCrosses& crosses_of(const Network& network) {
  return transform_of(network).crosses();
}

const FeatureScale& scale_of(const Network& network) {
  return transform_of(network).scale();
}

void set_crosses(Network& network, FeatureCrosses crosses) {
  network.set_transform(std::make_shared<const FeatureTransform>(std::move(crosses), scale_of(network)));
}

void set_scale(Network& network, FeatureScale scale) {
  network.set_transform(std::make_shared<const FeatureTransform>(crosses_of(network), std::move(scale)));
}

}  // namespace slide
