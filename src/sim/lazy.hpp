// State that most of its owners never come to need, or not yet.
#pragma once

#include <memory>

namespace tessera::sim {

/// A T that is made when it is first changed, and as T{} until then. Copies are deep.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Lazy(Lazy&&) noexcept = default;
  Lazy& operator=(const Lazy& other) {
    if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  Lazy& operator=(Lazy&&) noexcept = default;
  ~Lazy() = default;

  [[nodiscard]] bool is_made() const { return value_ != nullptr; }
  [[nodiscard]] const T& get() const { return value_ ? *value_ : none; }
  /// Where it has been made.
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T& make() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  void forget() { value_.reset(); }

 private:
  static inline const T none{};
  std::unique_ptr<T> value_;
};

}  // namespace tessera::sim
