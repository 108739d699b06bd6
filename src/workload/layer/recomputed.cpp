// Sets of sections that run again: their names, and which of them a layer can have.
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

constexpr std::size_t projection = place_of(&LayerOperators::projection);
constexpr std::size_t first_residual = place_of(&LayerOperators::attention_residual);
constexpr std::size_t router = place_of(&LayerOperators::router);
constexpr std::size_t fc2 = place_of(&LayerOperators::fc2);
constexpr std::size_t combine = place_of(&LayerOperators::combine);
constexpr std::size_t second_residual = place_of(&LayerOperators::mlp_residual);

/// Whether a section is there in dense layers too.
bool is_in_dense(std::size_t place) {
  return place != router && place != place_of(&LayerOperators::dispatch) && place != combine;
}

bool has_any(const LayerSections& sections, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i)
    if (sections[i]) return true;
  return false;
}

/// Of those that the layer has.
bool has_all(const LayerSections& sections, std::size_t first, std::size_t last, bool moe) {
  for (std::size_t i = first; i <= last; ++i)
    if ((moe || is_in_dense(i)) && !sections[i]) return false;
  return true;
}

/// Sums are of what is not kept, and one norm is read by the MLP too, whose backward part comes first.
std::string problem_of_parallel(const LayerSections& again, ParallelBlock block) {
  if (again.all()) return {};
  LayerSections allowed;
  for (const LayerSection section :
       {&LayerOperators::qkv, &LayerOperators::attention_core, &LayerOperators::fc1, &LayerOperators::activation})
    allowed.set(place_of(section));
  if (block == ParallelBlock::two_norms)
    for (const LayerSection section : {&LayerOperators::attention_norm, &LayerOperators::mlp_norm})
      allowed.set(place_of(section));
  if ((again & ~allowed).none()) return {};
  return block == ParallelBlock::one_norm
             ? "of a parallel block with one norm qkv, attention_core, fc1 and activation run again, or all sections"
             : "of a parallel block attention_norm, qkv, attention_core, mlp_norm, fc1 and activation run again, or "
               "all "
               "sections";
}

}  // namespace

std::string name_of(const Recomputed& recomputed) {
  if (recomputed.again.none()) return "none";
  if (recomputed == recomputed_by(Recomputation::selective)) return "selective";
  if (recomputed.again.all()) return "full";
  std::string text;
  for (std::size_t i = 0; i < section_names.size(); ++i)
    if (recomputed.again[i]) text += (text.empty() ? "" : ", ") + std::string(section_names.at(i));
  return text;
}

std::string problem_of(const Recomputed& recomputed, const LayerFields& kind) {
  const LayerSections& again = recomputed.again;
  const bool moe = is_moe(kind);
  if (is_parallel(kind)) return problem_of_parallel(again, kind.parallel_block);
  if (moe && has_any(again, router, combine) && !has_all(again, router, combine, moe))
    return "the experts of a MoE layer run together: router, dispatch, fc1, activation, fc2 and combine, or none of "
           "them";
  if (again[first_residual] && !again[projection])
    return "attention_residual runs again along with projection, whose output it adds";
  if (!again[second_residual]) return {};
  if (!again[moe ? combine : fc2])
    return moe ? "mlp_residual runs again along with the experts, whose output it adds"
               : "mlp_residual runs again along with fc2, whose output it adds";
  if (again[first_residual] && !has_all(again, first_residual, second_residual, moe))
    return "mlp_residual adds what attention_residual makes: both run again with all sections between them, or one of "
           "them alone";
  return {};
}

}  // namespace tessera::workload
