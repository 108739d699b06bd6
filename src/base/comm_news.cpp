#include <mpi.h>

#include <chrono>
#include <thread>

#include "tessera/base/news.hpp"

namespace tessera {

namespace {

enum Tag : int { on_the_way = 0, last_of_stretch = 1 };
constexpr auto pause_between_polls = std::chrono::milliseconds(1);

}  // namespace

struct News::Post {
  explicit Post(void* native) : comm(*static_cast<MPI_Comm*>(native)) {}
  MPI_Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  Numbers sent{};    // while the request is open
  int finished = 0;  // ranks whose stretch has ended, on rank 0

  /// Takes in what has come.
  void hear(std::vector<Numbers>& heard) {
    for (int any = 1; any != 0;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any, &status);
      if (any == 0) return;
      Numbers& numbers = heard[static_cast<std::size_t>(status.MPI_SOURCE)];
      MPI_Recv(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, status.MPI_SOURCE, status.MPI_TAG, comm,
               MPI_STATUS_IGNORE);
      finished += status.MPI_TAG == last_of_stretch ? 1 : 0;
    }
  }
};

News::News(Communicator& comm) : own_(comm.split(0)), heard_(1) {
  if (own_->native() == nullptr || own_->size() == 1) return;
  post_ = std::make_unique<Post>(own_->native());
  if (own_->rank() == 0) heard_.resize(static_cast<std::size_t>(own_->size()));
}

News::~News() {
  if (post_ && post_->request != MPI_REQUEST_NULL) MPI_Wait(&post_->request, MPI_STATUS_IGNORE);
}

void News::begin() { heard_.assign(heard_.size(), Numbers{}); }

void News::tell(const Numbers& numbers) {
  heard_.front() = numbers;
  if (!post_ || own_->rank() == 0) return;
  int is_free = 0;
  MPI_Test(&post_->request, &is_free, MPI_STATUS_IGNORE);
  if (is_free == 0) return;
  post_->sent = numbers;
  MPI_Isend(post_->sent.data(), static_cast<int>(numbers.size()), MPI_INT64_T, 0, on_the_way, post_->comm,
            &post_->request);
}

const std::vector<News::Numbers>& News::heard() {
  if (post_ && own_->rank() == 0) post_->hear(heard_);
  return heard_;
}

void News::finish(const Numbers& last, const std::function<void()>& meanwhile) {
  heard_.front() = last;
  if (!post_) return;
  if (own_->rank() != 0) {
    MPI_Wait(&post_->request, MPI_STATUS_IGNORE);
    MPI_Send(last.data(), static_cast<int>(last.size()), MPI_INT64_T, 0, last_of_stretch, post_->comm);
    return;
  }
  for (post_->hear(heard_); post_->finished < own_->size() - 1; post_->hear(heard_)) {
    meanwhile();
    std::this_thread::sleep_for(pause_between_polls);
  }
  post_->finished = 0;
}

}  // namespace tessera
