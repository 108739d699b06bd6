#include "tables.hpp"

#include "ops.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::strategy::script {
namespace {

constexpr const char* devices_help =
    "device numbers: \"all\", \"0-7\", \"0-3, 8-11\", \"0-63/8\" (every eighth), or a list such as [0, 2]";

std::vector<std::string> activity_names() {
  std::vector<std::string> names;
  for (int i = 0; i < program::activity_count; ++i) {
    const auto activity = static_cast<program::Activity>(i);
    const bool is_found_by_simulation = activity == program::Activity::waiting ||
                                        activity == program::Activity::bubble || activity == program::Activity::idle;
    if (is_found_by_simulation) continue;
    names.emplace_back(program::name_of(activity));
  }
  return names;
}

std::vector<std::string> category_names() {
  std::vector<std::string> names;
  for (int i = 0; i < program::memory_category_count; ++i) {
    names.emplace_back(program::name_of(static_cast<program::MemoryCategory>(i)));
  }
  return names;
}

void declare_common(config::Schema<StepTable>& s) {
  using T = StepTable;
  s.choice("op", &T::op, op_names(), "what is done");
  s.also_accept("devices", std::string("who does it: ") + devices_help +
                               "; all when absent, in a collective the members of the group");
  s.integer("stream", &T::stream, "0 computes, others run beside it; 0 when absent")
      .at_least("0")
      .at_most("63")
      .optional();
  s.integer("repeat", &T::repeat, "how many times in a row; 1 when absent")
      .at_least("1")
      .at_most("4000000000")
      .optional();
  s.text("label", &T::label, "what timelines call it; the op when absent").optional();
  s.choice("activity", &T::activity, activity_names(),
           "what its time counts as; forward when absent, in communication other_communication")
      .optional();
}

void declare_compute(config::Schema<StepTable>& s) {
  using T = StepTable;
  const auto dimension = [&](const char* key, std::int64_t T::*member, const char* help) {
    s.integer(key, member, help).at_least("1").at_most("1000000000").optional();
  };
  dimension("m", &T::m, "gemm: rows of the result");
  dimension("n", &T::n, "gemm: columns of the result");
  dimension("k", &T::k, "gemm: length of the sums");
  dimension("batch", &T::batch, "gemm: independent products; 1 when absent");
  s.choice("datatype", &T::datatype, workload::datatype_names(), "of the operands; that of [workload] when absent")
      .optional();
  s.number("flops", &T::flops, "compute: as a square GEMM of that many FLOP").at_least("1").at_most("1e18").optional();
  s.quantity("read", &T::read, config::Unit::bytes, "compute: bytes read from device memory").optional();
  s.quantity("write", &T::write, config::Unit::bytes, "compute: bytes written to device memory").optional();
  s.quantity("time", &T::time, config::Unit::time,
             "compute: how long it takes whatever the cost model, such as what was measured elsewhere; in the place of "
             "flops, read and write")
      .at_least("1 ps")
      .at_most("1000000 s")
      .optional();
}

void declare_communication(config::Schema<StepTable>& s) {
  using T = StepTable;
  s.integer("peer", &T::peer, "send, receive: the other device").at_least("0").optional();
  s.integer("shift", &T::shift,
            "send, receive: the device that stands so many places further in `devices`, round the end; may be negative")
      .optional();
  s.integer("channel", &T::channel, "send, receive: messages match in order within a channel; 0 when absent")
      .at_least("0")
      .at_most("1000000")
      .optional();
  s.text("group", &T::group, "collectives: name of a [[strategy.group]], or \"all\"").optional();
  s.quantity("bytes", &T::bytes, config::Unit::bytes, "of the message, the buffer, or the memory").optional();
  s.text("algorithm", &T::algorithm,
         "collectives: one of the choices of collectives; that of [collectives] when absent")
      .optional();
  s.quantity("element", &T::element, config::Unit::bytes, "collectives: size of an element; 2 B when absent")
      .at_least("1 B")
      .at_most("16 B")
      .optional();
  s.integer("root", &T::root, "broadcast: place of the sender in its group; 0 when absent").at_least("0").optional();
  s.integers("shares", &T::shares, "all-to-all: relative share of each member; even when absent")
      .at_least("0")
      .optional();
}

void declare_others(config::Schema<StepTable>& s) {
  using T = StepTable;
  s.integer("event", &T::event, "signal, wait: number of the event, each device has its own; 0 when absent")
      .at_least("0")
      .at_most("1000")
      .optional();
  s.integer("count", &T::count, "signal, wait: how many times it is raised or awaited; 1 when absent")
      .at_least("1")
      .at_most("4000000000")
      .optional();
  s.choice("memory", &T::memory, category_names(), "allocate, release: what for; buffers when absent").optional();
  s.text("block", &T::block, "run: name of a [[strategy.block]]").optional();
}

}  // namespace

const config::Schema<GroupTable>& group_schema() {
  static const config::Schema<GroupTable> schema = [] {
    config::Schema<GroupTable> s("strategy.script.group",
                                 "Groups of devices under one name; a device is in one of them at most.");
    s.text("name", &GroupTable::name, "how steps call it; several tables may share a name");
    s.also_accept("devices", devices_help);
    s.integer("size", &GroupTable::size, "cuts the list into groups of this size; one group when absent")
        .at_least("1")
        .optional();
    s.integer("stride", &GroupTable::stride,
              "with size: members stand so far apart in the list; 1 (consecutive) when absent")
        .at_least("1")
        .optional();
    return s;
  }();
  return schema;
}

const config::Schema<StepTable>& step_schema() {
  static const config::Schema<StepTable> schema = [] {
    config::Schema<StepTable> s("strategy.script.step",
                                "One step of the devices that it names, in the order of the file.");
    declare_common(s);
    declare_compute(s);
    declare_communication(s);
    declare_others(s);
    return s;
  }();
  return schema;
}

const config::Schema<BlockTable>& block_schema() {
  static const config::Schema<BlockTable> schema = [] {
    config::Schema<BlockTable> s("strategy.script.block",
                                 "Steps under a name, to be run and repeated by op = \"run\".");
    s.text("name", &BlockTable::name, "how steps call it");
    s.tables("step", &BlockTable::steps, step_schema(), "[[strategy.block.step]]: the steps of the block above");
    return s;
  }();
  return schema;
}

const config::Schema<ScriptTable>& script_schema() {
  static const config::Schema<ScriptTable> schema = [] {
    config::Schema<ScriptTable> s("strategy.script", "A program written out step by step.");
    s.also_accept("name", "\"script\"");
    s.tables("group", &ScriptTable::groups, group_schema(), "[[strategy.group]]: who communicates with whom")
        .optional();
    s.tables("block", &ScriptTable::blocks, block_schema(), "[[strategy.block]]: steps to repeat").optional();
    s.tables("step", &ScriptTable::steps, step_schema(), "[[strategy.step]]: what is done, in order");
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy::script
