// A memory of which only the bus takes time, for tests of closed forms.
#pragma once

namespace tessera::sim {

/// 1 ns a burst, 2 ns an update, and 10 ns between reading and writing; of a GpuSpec or a ChannelSpec.
template <class Spec>
void open_rows_at_once(Spec& spec) {
  spec.ccdl = 1;
  spec.ccdwl = 2;
  spec.rcd = spec.rcdwr = spec.rp = spec.ras = spec.rc = spec.rrd = spec.rtp = spec.wr = spec.cl = spec.cwl = 0;
  spec.rtw = 11;
  spec.wtr = 10;
}

}  // namespace tessera::sim
