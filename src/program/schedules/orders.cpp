#include "orders.hpp"

namespace tessera::program {

void ActionList::forward(std::uint32_t chunk) {
  PipelineAction action;
  action.kind = PipelineAction::Kind::forward;
  action.chunk = chunk;
  actions_.push_back(action);
}

void ActionList::backward(std::uint32_t chunk) {
  PipelineAction action;
  action.kind = PipelineAction::Kind::backward;
  action.chunk = chunk;
  action.last = ++done_.at(chunk) == micro_batches_;
  actions_.push_back(action);
}

void ActionList::exchange(bool send_next, bool receive_previous, bool send_previous, bool receive_next) {
  if (!send_next && !receive_previous && !send_previous && !receive_next) return;
  PipelineAction action;
  action.kind = PipelineAction::Kind::exchange;
  action.send_next = send_next;
  action.receive_previous = receive_previous;
  action.send_previous = send_previous;
  action.receive_next = receive_next;
  actions_.push_back(action);
}

const std::vector<PipelineOrder>& pipeline_orders() {
  static const std::vector<PipelineOrder> orders = {gpipe_order(), one_forward_one_backward_order(),
                                                    interleaved_order()};
  return orders;
}

const PipelineOrder* find_pipeline_order(const std::string& name) {
  for (const PipelineOrder& order : pipeline_orders()) {
    if (order.name == name) return &order;
  }
  return nullptr;
}

}  // namespace tessera::program
