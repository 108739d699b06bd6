#include "kernels.hpp"

#include "eigen_products.hpp"

namespace tessera::strategy::mcm {

template <class Scalar>
Kernels<Scalar> baseline_kernels() {
  return EigenProducts<Scalar>::all("baseline");
}
template Kernels<float> baseline_kernels<float>();
template Kernels<double> baseline_kernels<double>();

}  // namespace tessera::strategy::mcm
