// What other tools write, a file a format; adding one is a file here and its line in built_in.cpp.
#pragma once

#include <string>
#include <vector>

#include "draft.hpp"
#include "tessera/experiment/import.hpp"

namespace tessera::experiment::importing {

struct SourceFile {
  std::string path, text;
};
using Sources = std::vector<SourceFile>;

struct ImportFormat {
  std::string name, help;
  /// Whether these files are of this format; of each file what kind_of_foreign_file() calls it is known as well.
  bool (*recognises)(const Sources& files);
  /// Fills in the draft. Problems go to the diagnostics.
  void (*read)(const ImportRequest& request, const Sources& files, Draft& draft, config::Diagnostics& diagnostics);
};

ImportFormat calculon();
ImportFormat chakra();
ImportFormat hugging_face();
ImportFormat megatron_lm();
ImportFormat nemo();

/// The first that recognises the files counts.
[[nodiscard]] const std::vector<ImportFormat>& formats();

}  // namespace tessera::experiment::importing
