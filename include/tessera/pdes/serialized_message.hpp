// Messages that are not trivially copyable: include this where their protocol is defined, and give each of them a
// Boost.Serialization member `template <class Archive> void serialize(Archive& archive, unsigned version)`.
// They are copied within a rank, and cross ranks as a binary archive.
#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <streambuf>

#include "tessera/pdes/protocol.hpp"

namespace tessera::pdes {

namespace detail {

/// Appends to a vector of bytes.
class AppendingBuffer final : public std::streambuf {
 public:
  explicit AppendingBuffer(std::vector<std::byte>& bytes) : bytes_(bytes) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(text);
    bytes_.insert(bytes_.end(), bytes, bytes + count);
    return count;
  }
  int_type overflow(int_type character) override {
    bytes_.push_back(static_cast<std::byte>(character));
    return character;
  }

 private:
  std::vector<std::byte>& bytes_;
};

/// Reads from bytes that are elsewhere.
class ReadingBuffer final : public std::streambuf {
 public:
  explicit ReadingBuffer(std::span<const std::byte> bytes) {
    // The get area is of type char*, but nothing is ever put back into it.
    char* begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    setg(begin, begin, begin + bytes.size());
  }
};

inline constexpr unsigned archive_flags = boost::archive::no_header | boost::archive::no_tracking;

}  // namespace detail

template <class Message>
requires(!std::is_trivially_copyable_v<Message>) struct MessageBytes<Message> {
  static_assert(std::is_default_constructible_v<Message> && std::is_copy_constructible_v<Message>);
  static void write(const Message& message, std::vector<std::byte>& out) {
    detail::AppendingBuffer buffer(out);
    boost::archive::binary_oarchive(buffer, detail::archive_flags) << message;
  }
  static void read(void* place, std::span<const std::byte> bytes) {
    detail::ReadingBuffer buffer(bytes);
    auto* message = new (place) Message();
    boost::archive::binary_iarchive(buffer, detail::archive_flags) >> *message;
  }
};

}  // namespace tessera::pdes
