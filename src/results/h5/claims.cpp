#include "claims.hpp"

#include <hdf5.h>

#include <limits>
#include <string>
#include <vector>

namespace tessera::results::h5 {
namespace {

/// Deflate makes nothing smaller than by 1,032 times; what claims more is refused, whatever its filter.
constexpr std::int64_t most_compression = 1100;

std::int64_t file_bytes(Id dataset) {
  const Handle file(H5Iget_file_id(dataset), H5Fclose);
  hsize_t size = 0;
  checked(H5Fget_filesize(file.get(), &size));
  return static_cast<std::int64_t>(size);
}

/// Whether there is a chunk for each part of the space.
bool has_all_chunks(Id dataset, Id space, Id creation) {
  const auto dimensions = static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space)));
  std::vector<hsize_t> extents(dimensions), chunk(dimensions);
  checked(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
  checked(H5Pget_chunk(creation, static_cast<int>(dimensions), chunk.data()));
  hsize_t needed = 1;  // no more than elements, which are counted
  for (std::size_t i = 0; i < dimensions; ++i)
    needed *= chunk[i] == 0 ? 0 : extents[i] / chunk[i] + (extents[i] % chunk[i] == 0 ? 0 : 1);
#if H5_VERSION_GE(1, 10, 5)
  hsize_t there = 0;
  checked(H5Dget_num_chunks(dataset, space, &there));
  return there >= needed;
#else
  return needed <= static_cast<hsize_t>(H5Dget_storage_size(dataset));
#endif
}

/// Of a dataset of that many bytes.
bool is_in_file(Id dataset, Id space, std::int64_t bytes) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const auto stored = static_cast<std::int64_t>(H5Dget_storage_size(dataset));
  const bool fits = stored >= 0 && stored <= file_bytes(dataset);
  switch (H5Pget_layout(creation.get())) {
    case H5D_CONTIGUOUS:  // other files may hold anything
      return fits && bytes == stored && H5Pget_external_count(creation.get()) == 0;
    case H5D_COMPACT:
      return fits && bytes == stored;
    case H5D_CHUNKED:
      return fits && bytes / most_compression <= stored && has_all_chunks(dataset, space, creation.get());
    default:
      return false;
  }
}

}  // namespace

std::int64_t count_elements(Id dataset) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const auto count = static_cast<std::int64_t>(checked(H5Sget_simple_extent_npoints(space.get())));
  const auto element = static_cast<std::int64_t>(H5Tget_size(Handle(H5Dget_type(dataset), H5Tclose).get()));
  const bool is_countable = element > 0 && count <= std::numeric_limits<std::int64_t>::max() / element;
  if (is_countable && is_in_file(dataset, space.get(), count * element)) return count;
  constexpr std::size_t longest_name = 200;
  std::string name(longest_name, '\0');
  H5Iget_name(dataset, name.data(), name.size());
  throw Failure(std::string(name.c_str()) + " claims " + std::to_string(count) + (count == 1 ? " row" : " rows") +
                ", which the file does not hold");
}

}  // namespace tessera::results::h5
