// From a [strategy] table to the plan.
#include <fmt/format.h>

#include "../place_of.hpp"
#include "kernels.hpp"
#include "sublayers.hpp"
#include "tessera/base/error.hpp"
#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {
namespace {

using config::Table;

class Planner {
 public:
  Planner(const Table& table, const Job& job, config::Diagnostics& diagnostics)
      : table_(table), job_(job), diagnostics_(diagnostics), options_(options_schema().read(table, diagnostics)) {
    for (program::DeviceId device = 0; device < job.machine.accelerators(); ++device) {
      if (job.machine.alive(device)) members_.push_back(device);
    }
  }

  void check() {
    if (diagnostics_.ok()) check_keys();
  }

  Plan make() {
    Plan plan;
    plan.program = empty_program(job_);
    program::Program& program = plan.program;
    program.groups.push_back({members_});
    const Configuration& chosen = configuration(options_.configuration);
    program::BlockBuilder main(program, "main");
    program::BlockBuilder side(program, "collectives beside");
    Streams streams{main, side};
    const Work work = one_sublayer();
    add_memory(work, main);
    by_operators() ? add_operators(work, main) : chosen.add(work, streams);
    std::vector<program::BlockId> entries{main.done()};
    if (chosen.uses_side) entries.push_back(side.done());
    for (const program::DeviceId device : members_) {
      program::DeviceProgram& bound = program.devices[device];
      bound.streams = entries;
      bound.groups = {0};
      bound.events = chosen.uses_side ? 2 : 0;
    }
    describe(work, plan);
    return plan;
  }

 private:
  void error(const char* key, const std::string& text) { diagnostics_.error(place_of(table_, key), text); }

  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(members_.size()); }

  [[nodiscard]] bool by_operators() const { return options_.fidelity == "operator"; }

  /// Operands and result; what a collective that is not fused receives stands apart from what is here.
  void add_memory(const Work& work, program::BlockBuilder& main) const {
    using program::MemoryCategory;
    const program::GemmShape& shape = work.gemm.shape;
    const bool receives = !configuration(options_.configuration).near_memory && options_.configuration != "gemm" &&
                          work.communicates() && !work.gathers_shards();
    const std::int64_t added = work.following == Following::nothing  ? 0
                               : work.following == Following::by_cus ? work.result_bytes()
                                                                     : work.result_bytes() / ranks();
    main.allocate(MemoryCategory::weights, Bytes{shape.k * shape.n * shape.element})
        .allocate(MemoryCategory::activations, Bytes{shape.m * shape.k * shape.element + work.result_bytes() + added})
        .allocate(MemoryCategory::buffers, Bytes{receives ? shape.output_bytes() : 0});
  }

  /// The same sub-layer as the other strategies have it.
  void add_operators(const Work& work, program::BlockBuilder& main) const {
    using program::CollectiveKind;
    const program::GemmShape& shape = work.gemm.shape;
    const auto add = [&](CollectiveKind kind, std::int64_t bytes, const std::string& what) {
      program::Collective collective;
      collective.kind = kind;
      collective.bytes = Bytes{bytes};
      collective.element = Bytes{shape.element};
      job_.collectives.choose_for(collective);
      main.activity(program::Activity::tensor_communication)
          .label(work.label + what + program::name_of(kind))
          .collective(collective);
    };
    if (work.gathers_input()) add(CollectiveKind::all_gather, work.input_bytes(), " input ");
    main.activity(work.activity)
        .label(work.label + " gemm")
        .compute(workload::gemm(work.label, 1, shape.m, shape.n, shape.k, job_.workload.datatype));
    if (work.sums()) add(CollectiveKind::reduce_scatter, work.result_bytes(), " ");
    if (work.sums() || work.gathers_shards()) return add(CollectiveKind::all_gather, work.result_bytes(), " ");
    if (work.communicates()) add(CollectiveKind::all_to_all, work.result_bytes(), " ");
  }

  void check_workload() {
    const Workload& workload = job_.workload;
    if (workload.generates()) {
      throw KeyError(
          "workload.phase",
          "strategy \"t3\" runs sub-layers over all tokens of a sequence at once, and generation makes one at "
          "a time, allowed: training, prompt; sub-layer \"gemm\" takes any m, n and k");
    }
    if (options_.sublayer == "gemm") {
      refuse_unread(workload, {"sequence", "global_batch"}, "sub-layer \"gemm\" is m x n x k as given");
    } else if (sublayer(options_.sublayer).activity == program::Activity::backward &&
               workload.phase != workload::Phase::training) {
      throw KeyError("workload.phase", "sub-layer \"" + options_.sublayer +
                                           "\" is one of the backward pass, which there is in training alone, allowed: "
                                           "training");
    }
  }

  void check_keys() {
    check_workload();
    if (by_operators() && options_.configuration != "sequential")
      return error("configuration", "fidelity \"operator\" has configuration \"sequential\" alone");
    if (by_operators() && options_.collective == "send")
      return error("collective", "fidelity \"operator\" has no \"send\"");
    if (by_operators() && options_.following != Following::nothing)
      return error("following", "fidelity \"operator\" has following \"none\" alone");
    if (!by_operators() && !job_.machine.device.transaction) {
      return error("fidelity", "fidelity \"transaction\" needs a table [machine.device.transaction]; the machine \"" +
                                   job_.machine.name + "\" has none");
    }
    if (options_.sublayer == "gemm") {
      if (options_.m == 0 || options_.n == 0 || options_.k == 0)
        error("sublayer", "sub-layer \"gemm\" needs m, n and k");
    } else if (job_.model == nullptr) {
      return error("sublayer", "sub-layer \"" + options_.sublayer + "\" needs a model; \"gemm\" does not");
    } else if (const std::string beyond = beyond_plain(*job_.model); !beyond.empty()) {
      return error("sublayer", "sub-layers are of layers that are alike and plain, and the model has " + beyond);
    } else if (sublayer(options_.sublayer).depth(*job_.model) % ranks() != 0) {
      error("sublayer", fmt::format("a depth of {} is not a multiple of {} devices",
                                    sublayer(options_.sublayer).depth(*job_.model), ranks()));
    }
    if (job_.machine.device.peak.count(job_.workload.datatype) == 0)
      error("name", "the device has no peak for the workload's datatype \"" + job_.workload.datatype + "\"");
    if (ranks() < 2) error("name", "strategy \"t3\" needs at least 2 live devices");
    if (!diagnostics_.ok()) return;
    if (const auto problem = communication_problem(one_sublayer(), options_)) error(problem->key, problem->text);
    if (by_operators()) return;
    check_cus();
    check_tile();
    if (!diagnostics_.ok()) return;
    check_split();
    check_maps();
  }

  void check_cus() {
    const std::int64_t cus = job_.machine.device.transaction->cus;
    for (const auto& [key, value] :
         {std::pair("gemm_cus", options_.gemm_cus), {"collective_cus", options_.collective_cus}}) {
      if (value > cus) error(key, fmt::format("{} of {} CUs", value, cus));
    }
  }

  void check_tile() {
    const program::GemmShape shape = one_sublayer().gemm.shape;
    const auto problem = program::sublayer::tile_problem(shape, job_.machine.device.transaction->granularity);
    if (problem) error(problem->key, problem->text);
  }

  /// Every part of k has something to add.
  void check_split() {
    const std::int64_t k = one_sublayer().gemm.shape.k;
    const std::int64_t chunks = (k + options_.tile_k - 1) / options_.tile_k;
    const std::int64_t each = (chunks + options_.split_k - 1) / options_.split_k;
    if ((options_.split_k - 1) * each >= chunks)
      error("split_k", fmt::format("{} work-groups cannot share a depth of {} in chunks of {}: some would have none",
                                   options_.split_k, k, options_.tile_k));
  }

  /// One of the user's calls and where it stands.
  struct OwnCall {
    const char* key = nullptr;
    const MapTable* map = nullptr;
    const config::Location* where = nullptr;
  };

  [[nodiscard]] std::vector<OwnCall> own_calls() const {
    std::vector<OwnCall> calls;
    for (const auto& [key, maps] : {std::pair("remote_map", &options_.remote_maps), {"dma_map", &options_.dma_maps}}) {
      const config::Value* value = table_.find(key);
      for (std::size_t i = 0; i < maps->size(); ++i) calls.push_back({key, &(*maps)[i], &(*value->array())[i].where()});
    }
    return calls;
  }

  void check_maps() {
    const std::vector<OwnCall> calls = own_calls();
    for (auto call = calls.begin(); call != calls.end(); ++call) {
      const MapTable& map = *call->map;
      if (map.chunk >= ranks())
        diagnostics_.error(*call->where,
                           fmt::format("chunk {} of {}: there are as many as devices", map.chunk, ranks()));
      if (map.shift % ranks() == 0)
        diagnostics_.error(*call->where, "a shift to the device itself: a chunk that stays needs no map");
      const auto other =
          std::find_if(calls.begin(), call, [&](const OwnCall& before) { return before.map->chunk == map.chunk; });
      if (other == call) continue;
      diagnostics_.error(*call->where,
                         std::string_view(other->key) == call->key
                             ? fmt::format("a second {} of chunk {}", call->key, map.chunk)
                             : fmt::format("{} overlaps a {}: both name chunk {}", call->key, other->key, map.chunk));
    }
    const config::Value* commands = table_.find("dma_map");
    if (commands == nullptr) commands = table_.find("remote_map");
    if (diagnostics_.ok() && commands != nullptr) check_updates(*commands);
  }

  /// A threshold that is never reached, or passed.
  void check_updates(const config::Value& value) {
    const Work work = one_sublayer();
    std::vector<program::AddressMap> maps;
    const auto size = static_cast<std::uint32_t>(ranks());
    for (std::uint32_t rank = 0; rank < size; ++rank) maps.push_back(work.gemm.address_map(rank, size));
    const auto texts = program::problems(maps);
    if (texts.empty()) return;
    // What a map of the user's waits for says more than what waits for it in turn.
    const auto named = std::find_if(texts.begin(), texts.end(),
                                    [](const std::string& text) { return text.find("dma_map") != std::string::npos; });
    diagnostics_.error(value.where(), named == texts.end() ? texts.front() : *named);
  }

  [[nodiscard]] Work one_sublayer() const {
    Work work;
    Product product{options_.m, options_.n, options_.k};
    const Sublayer* one = options_.sublayer == "gemm" ? nullptr : &sublayer(options_.sublayer);
    if (one != nullptr) {
      product = {job_.workload.sequence * job_.workload.global_batch, job_.model->hidden,
                 one->depth(*job_.model) / ranks()};
      work.activity = one->activity;
    }
    work.gemm = program::sublayer::gemm_kernel(product, job_.machine.device, job_.workload.datatype);
    cut(options_, work.gemm);
    // Weights are stored output by input: transposed for the forward pass.
    work.gemm.shape.b_transposed = one != nullptr && one->activity == program::Activity::forward;
    work.label = options_.sublayer;
    work.ranks = ranks();
    for (const MapTable& map : options_.remote_maps) work.gemm.calls.push_back(call(map, program::RegionKind::remote));
    for (const MapTable& map : options_.dma_maps) work.gemm.calls.push_back(call(map, program::RegionKind::dma));
    work.following = options_.following;
    work.gemm_cus = options_.gemm_cus;
    work.collective_cus = options_.collective_cus;
    return work;
  }

  [[nodiscard]] static program::MapCall call(const MapTable& map, program::RegionKind kind) {
    const auto operation = map.operation == "store" ? program::StoreOperation::store : program::StoreOperation::update;
    return {kind, static_cast<std::uint32_t>(map.chunk), static_cast<std::int32_t>(map.shift), operation,
            static_cast<std::uint32_t>(map.updates)};
  }

  void describe(const Work& work, Plan& plan) const {
    const program::GemmShape& shape = work.gemm.shape;
    plan.description = {{"configuration", options_.configuration},
                        {"sub-layer", options_.sublayer},
                        {"tensor parallel", std::to_string(ranks())},
                        {"gemm of a device", fmt::format("{} x {} x {}", shape.m, shape.n, shape.k)},
                        {"work-groups", std::to_string(shape.tiles() * shape.split_k)}};
    plan.hardware_flops = program::executed_flops(plan.program);
  }

  const Table& table_;
  const Job& job_;
  config::Diagnostics& diagnostics_;
  Options options_;
  std::vector<program::DeviceId> members_;
};

}  // namespace

StrategyKind kind() {
  StrategyKind kind;
  kind.name = "t3";
  kind.help = options_schema().help();
  kind.needs_model = false;
  kind.workload_keys = {"phase", "sequence", "global_batch", "generated", "datatype"};
  kind.schema = []() -> const config::SchemaBase& { return options_schema(); };
  kind.check = [](const Table& table, const Job& job, config::Diagnostics& diagnostics) {
    Planner(table, job, diagnostics).check();
    return std::string();
  };
  kind.program = [](const Table& table, const Job& job) {
    config::Diagnostics checked;
    return Planner(table, job, checked).make();
  };
  kind.inner_schemas = [] { return std::vector<const config::SchemaBase*>{&remote_map_schema(), &dma_map_schema()}; };
  return kind;
}

}  // namespace tessera::strategy::t3
