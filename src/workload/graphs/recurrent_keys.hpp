// Keys that recurrent families share.
#pragma once

#include <string>

#include "cells.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {

template <class Keys>
void add_cell(config::Schema<Keys>& s, const std::string& usual) {
  s.choice("cell", &Keys::cell, {{"lstm", Cell::lstm}, {"gru", Cell::gru}, {"plain", Cell::plain}}, "of all layers")
      .otherwise(usual);
}

/// Words, of each of which the host looks up `embedding` numbers.
template <class Keys>
void add_words(config::Schema<Keys>& s) {
  s.integer("embedding", &Keys::embedding, "numbers of a word").at_least("1").at_most("65536");
  s.integer("vocabulary", &Keys::vocabulary, "words that are chosen from").at_least("2").at_most("10000000");
  s.integer("biases", &Keys::biases, "of a gate: one, or one of the input and one of the state")
      .at_least("1")
      .at_most("2")
      .otherwise("1");
}

/// What is recognised in sound.
template <class Keys>
void add_sound(config::Schema<Keys>& s, const std::string& usual_frames) {
  s.integer("frames", &Keys::frames, "of sound, 10 ms each").at_least("2").at_most("100000").otherwise(usual_frames);
  s.integer("labels", &Keys::labels, "letters and blank").at_least("2").at_most("100000").otherwise("29");
}

}  // namespace tessera::workload::graphs
