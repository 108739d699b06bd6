// Where the memory of this process comes from.
#pragma once

namespace tessera {

/// What is allocated from now on comes in huge pages, up to some hundred MiB, and what is freed is kept for what comes
/// next. A refusal costs speed only.
void use_huge_pages();

}  // namespace tessera
