#include "image.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace tessera::results::h5 {
namespace {

/// An open file as HDF5's drivers keep it: its common part first.
struct OpenImage {
  H5FD_t common{};
  Image* image = nullptr;
  haddr_t allocated = 0;
};

OpenImage& of(H5FD_t* file) { return *reinterpret_cast<OpenImage*>(file); }
const OpenImage& of(const H5FD_t* file) { return *reinterpret_cast<const OpenImage*>(file); }

H5FD_t* open_image(const char*, unsigned, hid_t access, haddr_t) {
  auto file = std::unique_ptr<OpenImage>(new (std::nothrow) OpenImage);
  const void* info = H5Pget_driver_info(access);
  if (!file || info == nullptr) return nullptr;
  file->image = *static_cast<Image* const*>(info);
  return &file.release()->common;
}

herr_t close_image(H5FD_t* file) {
  delete &of(file);
  return 0;
}

/// What HDF5 may do to make fewer and larger accesses, as its own drivers of plain files say.
herr_t features(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated; }

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  of(file).allocated = end;
  return 0;
}

haddr_t file_end(const H5FD_t* file, H5FD_mem_t) { return of(file).image->size(); }

herr_t read_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t count, void* bytes) {
  of(file).image->read(offset, static_cast<std::byte*>(bytes), count);
  return 0;
}

herr_t write_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t count, const void* bytes) {
  try {
    of(file).image->write(offset, static_cast<const std::byte*>(bytes), count);
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

herr_t truncate_image(H5FD_t* file, hid_t, hbool_t) {
  of(file).image->resize(of(file).allocated);
  return 0;
}

H5FD_class_t driver() {
  H5FD_class_t c{};
#ifdef H5FD_CLASS_VERSION
  c.version = H5FD_CLASS_VERSION;
  c.value = static_cast<H5FD_class_value_t>(700);  // beyond those that HDF5 gives away
#endif
  c.name = "tessera-image";
  c.maxaddr = HADDR_MAX;
  c.fc_degree = H5F_CLOSE_STRONG;
  c.fapl_size = sizeof(Image*);
  c.open = open_image;
  c.close = close_image;
  c.query = features;
  c.get_eoa = allocated_end;
  c.set_eoa = set_allocated_end;
  c.get_eof = file_end;
  c.read = read_image;
  c.write = write_image;
  c.truncate = truncate_image;
  constexpr H5FD_mem_t pools[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(pools), std::end(pools), c.fl_map);
  return c;
}

}  // namespace

void Image::write(std::uint64_t offset, const std::byte* bytes, std::size_t count) {
  size_ = std::max(size_, offset + count);
  while (count > 0) {
    std::vector<std::byte>& page = pages_[offset / page_bytes];
    page.resize(page_bytes);
    const std::size_t part = std::min<std::size_t>(count, page_bytes - offset % page_bytes);
    std::memcpy(page.data() + offset % page_bytes, bytes, part);
    bytes += part;
    count -= part;
    offset += part;
  }
}

void Image::read(std::uint64_t offset, std::byte* bytes, std::size_t count) const {
  while (count > 0) {
    const std::size_t part = std::min<std::size_t>(count, page_bytes - offset % page_bytes);
    const auto page = pages_.find(offset / page_bytes);
    if (page == pages_.end()) {
      std::memset(bytes, 0, part);
    } else {
      std::memcpy(bytes, page->second.data() + offset % page_bytes, part);
    }
    bytes += part;
    count -= part;
    offset += part;
  }
}

void place_in(Id access, Image& image) {
  const H5FD_class_t c = driver();
  Image* info = &image;
  // HDF5 keeps the driver for as long as a property list or a file names it.
  const Handle registered(H5FDregister(&c), H5FDunregister);
  checked(H5Pset_driver(access, registered.get(), &info));
}

}  // namespace tessera::results::h5
