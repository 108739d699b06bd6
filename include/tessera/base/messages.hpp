// Values that travel between ranks. What lies in memory as it travels (trivially copyable values, and vectors and
// strings of them) goes as it is; everything else by Boost.Serialization. Ranks run one program on one kind of
// computer. Include it in source files: the archives are large.
#pragma once

#include <algorithm>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#include <cstring>
#include <iterator>
#include <ranges>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "tessera/base/comm.hpp"

namespace tessera {
namespace messages {

/// A vector or string whose elements are copied as they lie.
template <class T>
concept Flat = std::ranges::contiguous_range<T> && requires(T value) {
  value.resize(1);
} && std::is_trivially_copyable_v<std::ranges::range_value_t<T>>;

template <class T>
[[nodiscard]] ByteVector to_bytes(const T& value) {
  if constexpr (Flat<T>) {
    ByteVector bytes(std::size(value) * sizeof *std::data(value));
    if (!bytes.empty()) std::memcpy(bytes.data(), std::data(value), bytes.size());
    return bytes;
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    static_assert(!std::is_pointer_v<T>, "an address means nothing on another rank");
    ByteVector bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  } else {
    std::ostringstream text;
    boost::archive::binary_oarchive(text, boost::archive::no_header) << value;
    return to_bytes(std::move(text).str());
  }
}

template <class T>
[[nodiscard]] T from_bytes(const ByteVector& bytes) {
  T value;
  if constexpr (Flat<T>) {
    value.resize(bytes.size() / sizeof *std::data(value));
    if (!bytes.empty()) std::memcpy(std::data(value), bytes.data(), bytes.size());
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    std::memcpy(&value, bytes.data(), sizeof value);
  } else {
    std::istringstream text(from_bytes<std::string>(bytes));
    boost::archive::binary_iarchive(text, boost::archive::no_header) >> value;
  }
  return value;
}

template <class T>
[[nodiscard]] std::vector<T> from_all(const std::vector<ByteVector>& parts) {
  std::vector<T> values;
  values.reserve(parts.size());
  for (const ByteVector& part : parts) values.push_back(from_bytes<T>(part));
  return values;
}

/// Moved, which what stands between braces is not.
template <class T>
[[nodiscard]] std::vector<T> alone(T value) {
  std::vector<T> values;
  values.push_back(std::move(value));
  return values;
}

}  // namespace messages

/// Rank 0's value, on every rank. T needs a default constructor, here and below.
template <class T>
[[nodiscard]] T broadcast(Communicator& comm, T value) {
  if (comm.size() == 1) return value;
  return messages::from_bytes<T>(comm.broadcast(comm.rank() == 0 ? messages::to_bytes(value) : ByteVector()));
}

/// Every rank's value, in rank order, on rank 0; empty elsewhere.
template <class T>
[[nodiscard]] std::vector<T> gather(Communicator& comm, T value) {
  if (comm.size() == 1) return messages::alone(std::move(value));
  if constexpr (std::is_same_v<T, ByteVector>)
    return comm.gather(value);
  else
    return messages::from_all<T>(comm.gather(messages::to_bytes(value)));
}

/// The same on every rank.
template <class T>
[[nodiscard]] std::vector<T> all_gather(Communicator& comm, T value) {
  if (comm.size() == 1) return messages::alone(std::move(value));
  if constexpr (std::is_same_v<T, ByteVector>)
    return comm.all_gather(value);
  else
    return messages::from_all<T>(comm.all_gather(messages::to_bytes(value)));
}

/// Of every rank, in rank order, the value that it has for this one. `values`: for every rank, in rank order.
template <class T>
[[nodiscard]] std::vector<T> all_to_all(Communicator& comm, std::vector<T> values) {
  if (comm.size() == 1) return values;
  std::vector<ByteVector> bytes;
  for (const T& value : values) bytes.push_back(messages::to_bytes(value));
  return messages::from_all<T>(comm.all_to_all(bytes));
}

/// Vectors behind each other: of gather() and all_gather().
template <class T>
[[nodiscard]] std::vector<T> joined(std::vector<std::vector<T>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<T> all;
  for (std::vector<T>& part : parts)
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  return all;
}

}  // namespace tessera
