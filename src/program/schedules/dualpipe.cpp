// DualPipe (DeepSeek-AI 2024, "DeepSeek-V3 Technical Report", arXiv 2412.19437, section 3.2.1; order of passes: the
// public repository deepseek-ai/DualPipe). Micro-batches come from both ends of the pipeline: stage i holds the pieces
// i and p-1-i of the model, and in the middle of an iteration the forward pass of one runs beside the backward pass of
// the other. DualPipeV folds that in the middle: stage i holds the pieces i and 2p-1-i, micro-batches come from one
// end, and nothing is there twice.
#include <array>
#include <deque>

#include "orders.hpp"

namespace tessera::program {
namespace {

/// A stage of one half of a pipeline in which everything comes twice, once from each end: `outer` stages from its end,
/// of `half`. Way 0 is that of the micro-batches that come from its own end.
struct Seat {
  std::uint32_t half = 1, outer = 0;
  std::uint32_t micro_batches = 0;  ///< each way
  std::uint32_t first_chunk = 0;    ///< the one that way 0 passes; way 1: the other one
  bool meets = false;               ///< DualPipeV: behind the innermost stage way 0 goes on as way 1 of the same stage
};

/// Writes passes in order, with the exchanges that they need: what a pass has made is posted at once, what it needs is
/// awaited before it.
class PassList {
 public:
  PassList(const PipelineShape& each_way, const Seat& seat) : list_(each_way), seat_(seat) {}

  void forward(std::uint32_t way) {
    await({way, true});
    list_.forward(chunk(way));
    post({way, true});
  }
  /// `apart`: without weight gradients.
  void backward(std::uint32_t way, bool apart = false) {
    await({way, false});
    if (apart) {
      list_.input_gradient(chunk(way));
      apart_.push_back(chunk(way));
    } else {
      list_.backward(chunk(way));
    }
    post({way, false});
  }
  /// The oldest of those that are missing.
  void weights() {
    list_.weight_gradient(apart_.front());
    apart_.pop_front();
  }
  /// A forward pass beside a backward pass of the other way.
  void both(std::uint32_t way) {
    await({way, true});
    await({1 - way, false});
    list_.both(chunk(way), 1 - chunk(way));
    post({way, true});
    post({1 - way, false});
  }
  [[nodiscard]] std::vector<PipelineAction> take() { return list_.take(); }

 private:
  struct Pass {
    std::uint32_t way = 0;
    bool is_forward = true;
  };

  [[nodiscard]] std::uint32_t chunk(std::uint32_t way) const { return seat_.first_chunk ^ way; }
  /// Towards the end that this stage is nearer to: nothing is there behind the outermost stage. Towards the middle:
  /// DualPipeV has nothing there behind the innermost one.
  [[nodiscard]] bool is_open(bool outwards) const {
    return outwards ? seat_.outer > 0 : !(seat_.meets && seat_.outer + 1 == seat_.half);
  }
  // Way 0 goes inwards and comes from outside, its gradients the other way round; way 1 is its mirror image.
  void await(Pass pass) {
    const bool from_outside = (pass.way == 0) == pass.is_forward;
    if (is_open(from_outside))
      list_.post_mirrored(chunk(pass.way) == 1, false, pass.is_forward, false, !pass.is_forward);
  }
  void post(Pass pass) {
    const bool outwards = (pass.way == 0) != pass.is_forward;
    if (is_open(outwards)) list_.post_mirrored(chunk(pass.way) == 1, pass.is_forward, false, !pass.is_forward, false);
  }

  ActionList list_;
  Seat seat_;
  std::deque<std::uint32_t> apart_;  ///< chunks whose weight gradients are missing
};

void fill(const Seat& seat, PassList& list) {
  const std::uint32_t inner = seat.half - seat.outer - 1;
  for (std::uint32_t i = 0; i < 2 * inner; ++i) list.forward(0);
  for (std::uint32_t i = 0; i <= seat.outer; ++i) {
    list.forward(0);
    list.forward(1);
  }
  for (std::uint32_t i = 0; i < inner; ++i) {
    list.backward(1, true);
    list.weights();
    list.forward(1);
  }
}

void overlap(const Seat& seat, PassList& list) {
  const std::uint32_t inner = seat.half - seat.outer - 1;
  for (std::uint32_t i = 0; i + 2 * seat.half < seat.micro_batches + seat.outer + 1; ++i) {
    if (i == 0 && inner == 0) {  // the stage behind waits for this forward pass: it goes first
      list.forward(0);
      list.backward(1);
    } else {
      list.both(0);
    }
    list.both(1);
  }
  for (std::uint32_t i = 0; i < inner; ++i) {
    list.backward(1);
    list.both(1);
  }
}

/// From the middle of it on weight gradients are apart, and fill what would be a bubble.
void drain(const Seat& seat, PassList& list) {
  const std::uint32_t inner = seat.half - seat.outer - 1, pairs = seat.outer + 1;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const bool is_middle = i == pairs / 2, is_odd = seat.outer % 2 == 1;
    list.backward(1, i > pairs / 2 || (is_middle && is_odd));
    list.backward(0, i >= pairs / 2);
  }
  for (std::uint32_t i = 0; i < inner; ++i) {
    list.weights();
    list.backward(0, true);
  }
  for (std::uint32_t i = 0; i < pairs; ++i) list.weights();
}

std::vector<PipelineAction> actions_at(const Seat& seat) {
  const PipelineShape each_way{2 * seat.half, 2, seat.micro_batches, true};
  PassList list(each_way, seat);
  fill(seat, list);
  overlap(seat, list);
  drain(seat, list);
  return list.take();
}

std::vector<PipelineAction> dualpipe_actions(const PipelineShape& shape, std::uint32_t stage) {
  const std::uint32_t half = shape.stages / 2;
  const bool is_second = stage >= half;
  return actions_at({half, is_second ? shape.stages - 1 - stage : stage, shape.micro_batches / 2, is_second ? 1U : 0U});
}

std::vector<PipelineAction> dualpipe_v_actions(const PipelineShape& shape, std::uint32_t stage) {
  return actions_at({shape.stages, stage, shape.micro_batches, 0, true});
}

std::string check_micro_batches(const PipelineShape& shape) {
  if (!shape.backward) return "has backward passes beside forward passes: workload.phase = \"training\"";
  if (shape.micro_batches >= 2 * shape.stages) return {};
  return "needs at least 2 x " + std::to_string(shape.stages) + " stages micro-batches, not " +
         std::to_string(shape.micro_batches);
}

std::string check_dualpipe(const PipelineShape& shape) {
  if (shape.chunks != 1) return "cuts the model into one piece for each stage, and each stage has two: interleave = 1";
  if (shape.stages % 2 != 0) return "needs an even number of stages, not " + std::to_string(shape.stages);
  if (shape.micro_batches % 2 != 0)
    return "needs an even number of micro-batches, half of them each way, not " + std::to_string(shape.micro_batches);
  return check_micro_batches(shape);
}

std::string check_dualpipe_v(const PipelineShape& shape) {
  if (shape.chunks != 2) return "has two model chunks a stage: interleave = 2";
  return check_micro_batches(shape);
}

}  // namespace

PipelineOrder dualpipe_order() {
  return {"dualpipe",     "micro-batches from both ends, forward beside backward passes; weights are there twice",
          check_dualpipe, dualpipe_actions,
          true,           ChunkOrder::both_ways};
}

PipelineOrder dualpipe_v_order() {
  return {"dualpipe-v",
          "the same with two chunks a stage, there and back along the stages; weights are there once",
          check_dualpipe_v,
          dualpipe_v_actions,
          true,
          ChunkOrder::there_and_back};
}

}  // namespace tessera::program
