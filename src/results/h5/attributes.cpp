#include "attributes.hpp"

#include <hdf5.h>

#include "types.hpp"

namespace tessera::results::h5 {

std::vector<std::int64_t> integers(Id object, const char* name, std::size_t most) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const auto count = static_cast<std::size_t>(checked(H5Sget_simple_extent_npoints(space.get())));
  if (H5Tget_class(type.get()) != H5T_INTEGER || count > most) return {};
  std::vector<std::int64_t> values(count);
  checked(H5Aread(attribute.get(), H5T_NATIVE_INT64, values.data()));
  return values;
}

std::string text_of(Id object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  if (H5Tis_variable_str(type.get()) <= 0) {
    std::string text(H5Tget_size(type.get()), '\0');
    checked(H5Aread(attribute.get(), type.get(), text.data()));
    return text.c_str();
  }
  char* value = nullptr;
  checked(H5Aread(attribute.get(), variable_text().get(), &value));
  std::string text = value == nullptr ? "" : value;
  H5free_memory(value);
  return text;
}

std::vector<std::string> texts_of(Id object, const char* name, std::size_t count) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const bool are_texts = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) > 0;
  const auto found = static_cast<std::size_t>(checked(H5Sget_simple_extent_npoints(space.get())));
  if (!are_texts || found != count || count == 0) return {};
  std::vector<char*> values(count);
  checked(H5Aread(attribute.get(), variable_text().get(), values.data()));
  std::vector<std::string> texts;
  for (const char* value : values) texts.emplace_back(value == nullptr ? "" : value);
  checked(H5Dvlen_reclaim(variable_text().get(), space.get(), H5P_DEFAULT, values.data()));
  return texts;
}

}  // namespace tessera::results::h5
