// Choices that no plan of least cost has, struck out before it is searched for.
#pragma once

#include <vector>

#include "../costs/costs.hpp"

namespace tessera::strategy::primepar {

/// By node, the choices that are left, in their order. A choice goes where another one of its node costs less whatever
/// the neighbours choose of what they have left: with its own cost, and with the most by which each redistribution
/// costs more. Of two that cost as much at that most, the later one goes. So the first of all plans of least cost, of
/// any number of layers, has none of them: with the other choice in its place it would cost less, or come later than
/// another that costs as much. (Goldstein 1994, dead-end elimination.) Whatever a cost has in it, memory's price for
/// instance, counts.
[[nodiscard]] std::vector<Choice> unbeaten(const CostTables& tables);

}  // namespace tessera::strategy::primepar
