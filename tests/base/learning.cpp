// Dense networks: products, layers and steps solved by hand, gradients beside finite differences.
#include <catch2/catch.hpp>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/learning/adam.hpp"
#include "tessera/base/learning/perceptron.hpp"
#include "tessera/base/processor.hpp"

namespace tessera::learning {
namespace {

/// Small numbers of both signs.
std::vector<double> small_numbers(std::size_t count, const char* stream) {
  const KeyedRandom random(3, random_stream(stream));
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random.real(i) - 0.5);
  return values;
}

}  // namespace

TEST_CASE("learning: products are what they are by hand, for both kinds of processors") {
  // 2 x 3 by 3 x 2, added to ones: [1 2 3; 4 5 6] [1 2; 3 4; 5 6] = [22 28; 49 64].
  const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 2, 3, 4, 5, 6};
  std::vector<Kernels<float>> all{baseline_kernels<float>()};
  if (has_avx2()) all.push_back(avx2_kernels());
  for (const Kernels<float>& kernels : all) {
    CAPTURE(kernels.name);
    std::vector<float> c(4, 1);
    kernels.product(a.data(), b.data(), c.data(), 2, 3, 2);
    CHECK(c == std::vector<float>{23, 29, 50, 65});
    // b as 2 x 3, transposed: [1 2 3; 4 5 6] [1 4; 2 5; 3 6] = [14 32; 32 77].
    c.assign(4, 0);
    kernels.product_by_transpose(a.data(), b.data(), c.data(), 2, 3, 2);
    CHECK(c == std::vector<float>{14, 32, 32, 77});
    // a as 3 x 2, transposed, by b: [1 3 5; 2 4 6] [1 2; 3 4; 5 6] = [35 44; 44 56].
    kernels.product_of_transpose(a.data(), b.data(), c.data(), 2, 3, 2);
    CHECK(c == std::vector<float>{14 + 35, 32 + 44, 32 + 44, 77 + 56});
  }
}

TEST_CASE("learning: a perceptron of two examples by hand") {
  // Two features, two rectified values, one result: h = max(0, [1 -1; 2 1] x + (0, -1)), y = 3 h0 - h1 + 0.5.
  const PerceptronLayout layout({2, 2, 1});
  std::vector<double> parameters(layout.size);
  const std::vector<double> first{1, 2, -1, 1}, bias{0, -1}, second{3, -1};  // weights: what comes in by what goes out
  std::copy(first.begin(), first.end(), parameters.begin() + static_cast<std::ptrdiff_t>(layout.layers[0].weights));
  std::copy(bias.begin(), bias.end(), parameters.begin() + static_cast<std::ptrdiff_t>(layout.layers[0].bias));
  std::copy(second.begin(), second.end(), parameters.begin() + static_cast<std::ptrdiff_t>(layout.layers[1].weights));
  parameters[layout.layers[1].bias] = 0.5;
  const Kernels<double> kernels = baseline_kernels<double>();
  const Perceptron<double> network(layout, kernels);
  PerceptronPass<double> pass;
  const std::vector<double> features{2, 1, 1, 3};
  network.forward(parameters.data(), features, pass);
  // (2, 1): h = (1, 4), y = 3 - 4 + 0.5. (1, 3): h = (max(0, -2), 4), y = -4 + 0.5.
  CHECK(pass.values[1] == std::vector<double>{1, 4, 0, 4});
  CHECK(pass.result() == std::vector<double>{-0.5, -3.5});
}

TEST_CASE("learning: the gradient of a perceptron is what finite differences say") {
  const PerceptronLayout layout({3, 5, 4, 2});
  const Kernels<double> kernels = baseline_kernels<double>();
  const Perceptron<double> network(layout, kernels);
  std::vector<double> parameters = small_numbers(layout.size, "parameters");
  const std::vector<double> features = small_numbers(4 * 3, "features");
  PerceptronPass<double> pass;
  // Half the squares of all results.
  const auto loss = [&] {
    network.forward(parameters.data(), features, pass);
    return 0.5 * std::inner_product(pass.result().begin(), pass.result().end(), pass.result().begin(), 0.0);
  };
  static_cast<void>(loss());
  std::vector<double> of_result = pass.result(), gradient(layout.size, 0);
  network.backward(parameters.data(), pass, of_result, gradient.data());
  const double step = 1e-6;
  for (std::size_t i = 0; i < layout.size; ++i) {
    const double at = parameters[i];
    parameters[i] = at + step;
    const double above = loss();
    parameters[i] = at - step;
    const double below = loss();
    parameters[i] = at;
    CAPTURE(i);
    CHECK(gradient[i] == Approx((above - below) / (2 * step)).margin(1e-8).epsilon(1e-6));
  }
}

TEST_CASE("learning: a network's numbers go into tensors and come back") {
  const PerceptronLayout layout({2, 3, 1});
  const std::vector<float> values = first_values(layout, KeyedRandom(1, random_stream("test")));
  Tensors data;
  add_tensors(layout, values, data);
  CHECK(data.all.size() == 4);
  CHECK(values_of(data, layout, "predictor") == values);
  CHECK_THROWS_WITH(values_of(data, PerceptronLayout({2, 4, 1}), "predictor"),
                    "the predictor's networks have another shape: tensor \"layer0\" is 2 x 3, expected 2 x 4");
  CHECK_THROWS_WITH(values_of(data, PerceptronLayout({2, 3, 1, 1}), "predictor"),
                    "the predictor has no tensor \"layer2\"");
}

TEST_CASE("learning: Adam's first step is as long as it is told, whatever the gradient") {
  std::vector<float> weights{1, 2};
  Adam adam(2);
  // Norm 5, cut to 1: the moments' corrections make the step 0.1 in each direction all the same.
  CHECK(adam.step(weights, {3, -4}, 0.1, 1) == Approx(5));
  CHECK(weights[0] == Approx(0.9));
  CHECK(weights[1] == Approx(2.1));
}

}  // namespace tessera::learning
