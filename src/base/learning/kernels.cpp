#include "tessera/base/learning/kernels.hpp"

#include "eigen_products.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/processor.hpp"

namespace tessera::learning {

template <class Scalar>
Kernels<Scalar> baseline_kernels() {
  return EigenProducts<Scalar>::all("baseline");
}
template Kernels<float> baseline_kernels<float>();
template Kernels<double> baseline_kernels<double>();

Kernels<float> common_kernels(Communicator& comm) {
  return comm.min(has_avx2() ? 1 : 0) != 0 ? avx2_kernels() : baseline_kernels<float>();
}

}  // namespace tessera::learning
