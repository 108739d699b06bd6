#include "tessera/experiment/sweep.hpp"
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include "tessera/base/comm.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/results/digest.hpp"
#include "tessera/results/results.hpp"
using namespace tessera;
static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
int main(int, char** argv) {
  config::Diagnostics d;
  experiment::InputFiles files;
  double t = now();
  auto sweep = experiment::load_sweep(argv[1], {}, experiment::input_folders(), files, d);
  d.throw_if_errors();
  fmt::print("load {:.3f} ms\n", 1e3 * (now() - t));
  auto comm = make_serial_communicator();
  double ts = 0, tb = 0, te = 0, tr = 0, tw = 0, td = 0, tt = 0, tc = 0;
  int n = atoi(argv[2]);
  for (int i = 0; i < n; i++) {
    t = now();
    auto p = sweep->point(i);
    auto s = sweep->source(p, d);
    ts += now() - t;
    t = now();
    auto text = config::to_toml(*s.table);
    tt += now() - t;
    t = now();
    auto e = experiment::build(*s.table, d, strategy::built_in_strategies(), s.files);
    tb += now() - t;
    d.throw_if_errors();
    t = now();
    auto est = experiment::estimate(*e);
    te += now() - t;
    t = now();
    (void)sim::check(e->machine, e->plan.program, *e->cost, 1, experiment::simulation_options(*e));
    tc += now() - t;
    t = now();
    auto r = experiment::run(*e, *comm);
    tr += now() - t;
    t = now();
    auto dg = results::digest(r.results, 1, *comm);
    td += now() - t;
    results::Provenance pr;
    pr.experiment_given = s.given;
    pr.experiment_resolved = text;
    t = now();
    results::write("/tmp/bench_sweep.h5", r.results, pr, *comm);
    tw += now() - t;
  }
  double k = 1e3 / n;
  fmt::print(
      "per point ms: source {:.3f} toml {:.3f} build {:.3f} estimate {:.3f} check {:.3f} run {:.3f} digest {:.3f} "
      "write {:.3f}\n",
      ts * k, tt * k, tb * k, te * k, tc * k, tr * k, td * k, tw * k);
}
