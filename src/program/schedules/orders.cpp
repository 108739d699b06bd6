#include "orders.hpp"

namespace tessera::program {

using Kind = PipelineAction::Kind;

void ActionList::add(Kind kind, std::uint32_t chunk, bool last) {
  PipelineAction action;
  action.kind = kind;
  action.chunk = chunk;
  action.last = last;
  actions_.push_back(action);
}

void ActionList::forward(std::uint32_t chunk) { add(Kind::forward, chunk); }
void ActionList::input_gradient(std::uint32_t chunk) { add(Kind::input_gradient, chunk); }
void ActionList::backward(std::uint32_t chunk) { add(Kind::backward, chunk, ++done_.at(chunk) == micro_batches_); }
void ActionList::weight_gradient(std::uint32_t chunk) {
  add(Kind::weight_gradient, chunk, ++done_.at(chunk) == micro_batches_);
}

void ActionList::both(std::uint32_t forward_chunk, std::uint32_t backward_chunk) {
  add(Kind::both, forward_chunk, ++done_.at(backward_chunk) == micro_batches_);
  actions_.back().backward_chunk = backward_chunk;
}

void ActionList::exchange(bool send_next, bool receive_previous, bool send_previous, bool receive_next) {
  if (!send_next && !receive_previous && !send_previous && !receive_next) return;
  PipelineAction action;
  action.kind = Kind::exchange;
  action.send_next = send_next;
  action.receive_previous = receive_previous;
  action.send_previous = send_previous;
  action.receive_next = receive_next;
  actions_.push_back(action);
}

void ActionList::post(bool send_next, bool receive_previous, bool send_previous, bool receive_next) {
  const std::size_t before = actions_.size();
  exchange(send_next, receive_previous, send_previous, receive_next);
  if (actions_.size() > before) actions_.back().posted = true;
}

void ActionList::post_mirrored(bool mirrored, bool send_next, bool receive_previous, bool send_previous,
                               bool receive_next) {
  post(send_next, receive_previous, send_previous, receive_next);
  actions_.back().mirrored = mirrored;
}

const std::vector<PipelineOrder>& pipeline_orders() {
  static const std::vector<PipelineOrder> orders = {gpipe_order(),       one_forward_one_backward_order(),
                                                    interleaved_order(), combined_order(),
                                                    zb_h1_order(),       zb_h2_order(),
                                                    dualpipe_order(),    dualpipe_v_order()};
  return orders;
}

const PipelineOrder* find_pipeline_order(const std::string& name) {
  for (const PipelineOrder& order : pipeline_orders()) {
    if (order.name == name) return &order;
  }
  return nullptr;
}

}  // namespace tessera::program
