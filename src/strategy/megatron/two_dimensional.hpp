// Linear layers cut in both dimensions over ranks that stand in rows and columns (2D tensor parallelism; Xu et al.
// 2021, GSPMD, section 5.1; Wang et al., WATOS, section VI-B). Between layers the rank in column x and row y holds a
// share of the tokens by x, and of each token a share by y:
//
//   column-parallel   all-gather the tokens over the row | product | reduce-scatter its columns over the column
//   row-parallel      all-gather the input over the column | product | reduce-scatter the tokens over the row
//
// The backward pass mirrors that, and gathers the kept input once more for the weight gradient. With one row this is
// Megatron-LM's cut with sequence parallelism.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron::over_rows_and_columns {

/// Over whom a linear layer's input is gathered, and over whom its output is summed.
struct Sides {
  GroupSlot gathered = row_group, summed = column_group;
};
inline constexpr Sides column{row_group, column_group};
inline constexpr Sides row{column_group, row_group};

void forward(Writer& writer, const workload::OperatorSet& set, const Sides& sides, Activity activity);
void backward(Writer& writer, const workload::OperatorSet& set, const Sides& sides);
/// Its two parts.
void input_gradient(Writer& writer, const workload::OperatorSet& set, const Sides& sides);
void weight_gradient(Writer& writer, const workload::OperatorSet& set, const Sides& sides);

}  // namespace tessera::strategy::megatron::over_rows_and_columns
