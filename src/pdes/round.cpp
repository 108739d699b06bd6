#include "round.hpp"

#include <algorithm>
#include <span>

namespace tessera::pdes {

namespace {

enum Part : int { first = 0, second = 1, out_of_line_bytes = 2, parts = 3 };

/// Both sides compute the same: how many records go into the first part depends on the number of ranks only.
int first_part_records(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  constexpr int memory = 4 << 20;
  return std::clamp(memory / static_cast<int>(sizeof(Event)) / ranks, 32, 1024);
}

}  // namespace

NeighbourRound::NeighbourRound(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel)
    : comm_(comm),
      wiring_(wiring),
      kernel_(kernel),
      first_part_(first_part_records(comm)),
      headers_(wiring.out.size()),
      inboxes_(wiring.in.size()),
      sends_(parts * wiring.out.size(), MPI_REQUEST_NULL),
      receives_(parts * wiring.in.size(), MPI_REQUEST_NULL),
      completed_(parts * wiring.in.size()) {
  MPI_Type_contiguous(static_cast<int>(sizeof(Event)), MPI_BYTE, &record_);
  MPI_Type_commit(&record_);
  for (Inbox& inbox : inboxes_) inbox.records.resize(static_cast<std::size_t>(first_part_));
}

NeighbourRound::~NeighbourRound() { MPI_Type_free(&record_); }

void NeighbourRound::begin() {
  for (std::size_t k = 0; k < inboxes_.size(); ++k) {
    MPI_Irecv(inboxes_[k].records.data(), first_part_, record_, wiring_.in[k], first, comm_,
              &receives_[parts * k + first]);
    inboxes_[k].parts_left = 1;
  }
  open_parts_ = inboxes_.size();
  for (std::size_t k = 0; k < wiring_.out.size(); ++k) send(k);
  sent_ = wiring_.out.empty();
}

void NeighbourRound::send(std::size_t k) {
  detail::Outbox& box = kernel_.outboxes[k];
  headers_[k].events = static_cast<std::uint32_t>(box.count());
  headers_[k].bytes = static_cast<std::uint32_t>(box.bytes.size());
  std::memcpy(static_cast<void*>(box.records.data()), &headers_[k], sizeof(RoundHeader));
  messages_ += box.count();
  const int rank = wiring_.out[k].rank;
  const int total = static_cast<int>(box.records.size());
  const int here = std::min(total, first_part_);
  MPI_Isend(box.records.data(), here, record_, rank, first, comm_, &sends_[parts * k + first]);
  if (total > here) {
    MPI_Isend(box.records.data() + here, total - here, record_, rank, second, comm_, &sends_[parts * k + second]);
  }
  if (!box.bytes.empty()) {
    MPI_Isend(box.bytes.data(), static_cast<int>(box.bytes.size()), MPI_BYTE, rank, out_of_line_bytes, comm_,
              &sends_[parts * k + out_of_line_bytes]);
  }
}

void NeighbourRound::on_first_part(std::size_t k) {
  Inbox& inbox = inboxes_[k];
  std::memcpy(static_cast<void*>(&inbox.header), inbox.records.data(), sizeof(RoundHeader));
  const int total = static_cast<int>(inbox.header.events) + 1;
  if (total > first_part_) {
    if (inbox.records.size() < static_cast<std::size_t>(total)) inbox.records.resize(static_cast<std::size_t>(total));
    MPI_Irecv(inbox.records.data() + first_part_, total - first_part_, record_, wiring_.in[k], second, comm_,
              &receives_[parts * k + second]);
    ++inbox.parts_left;
  }
  if (inbox.header.bytes > 0) {
    inbox.bytes.resize(inbox.header.bytes);
    MPI_Irecv(inbox.bytes.data(), static_cast<int>(inbox.bytes.size()), MPI_BYTE, wiring_.in[k], out_of_line_bytes,
              comm_, &receives_[parts * k + out_of_line_bytes]);
    ++inbox.parts_left;
  }
  open_parts_ += static_cast<std::size_t>(inbox.parts_left - 1);
}

bool NeighbourRound::poll() {
  if (open_parts_ > 0) {
    int count = 0;
    MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]) / parts;
      if (completed_[static_cast<std::size_t>(i)] % parts == first) on_first_part(k);
      --open_parts_;
      if (Inbox& inbox = inboxes_[k]; --inbox.parts_left == 0)
        kernel_.take_in(std::span(inbox.records).subspan(1, inbox.header.events), inbox.bytes.data());
    }
  }
  if (!sent_) {
    int done = 0;
    MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) {
      sent_ = true;
      for (detail::Outbox& box : kernel_.outboxes) box.clear();
    }
  }
  return open_parts_ == 0 && sent_;
}

}  // namespace tessera::pdes
