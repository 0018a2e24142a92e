#!/bin/bash -eu
# What OSS-Fuzz runs: its compilers, flags and engine come in CC, CXX, CXXFLAGS and LIB_FUZZING_ENGINE.
build=$WORK/elfaudit
cmake -S "$SRC/elfaudit" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DELFAUDIT_FUZZ=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DELFAUDIT_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$build" --target elfaudit_fuzz elfaudit_fuzz_replay
replay=$build/tests/fuzz/elfaudit_fuzz_replay
"$replay" --write-seeds "$build/seeds"
"$replay" --write-dictionaries "$OUT"
"$SRC/elfaudit/tests/fuzz/compile_seeds" "$build/seeds"
for target in $("$replay" --list); do
  cp "$build/tests/fuzz/elfaudit_fuzz" "$OUT/$target"
  if [ -d "$build/seeds/$target" ]; then (cd "$build/seeds/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .); fi
done
