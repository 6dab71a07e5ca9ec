#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds, runs every test (a skipped device test is a failure), runs the device tests
# under compute-sanitizer's four tools, then the benchmarks named, and closes with tables of the time by kind of object,
# layer and program, and of all stages.
#   bash tests/run_gpu.sh [options] [BENCH_FILTER...]
#   --stage NAME      build, test, portable, sanitize, devices or bench; may be repeated (default: build, test and
#                     sanitize, bench if filters are given)
#                     sanitize: the newest device code, which must pass, then further tests as far as the time goes
#                     portable: a second build (FOLDER/portable) for 80-virtual, whose PTX the driver compiles, and
#                     every test of device code with it: what older GPUs run. Give it a budget of its own: it builds
#                     everything
#                     devices: on a machine with several GPUs, the tests of ranks with a GPU each, and products,
#                     searches, ranks and components on one and on all of them
#   --budget SECONDS  for all stages together (default 570); what does not fit is reported as not run
#   --preset NAME     CMake preset (default release); --build FOLDER where it builds (default build)
# Environment: OUT, folder for the full logs (default FOLDER/gpu-logs); SPARGO_DATA, real inputs; SPARGO_CMAKE_ARGS and
# SPARGO_CTEST_ARGS, further arguments; SPARGO_SANITIZE_TESTS, what the sanitizers run, as
# "ctest_name:gtest_filter ..."; SPARGO_SANITIZE_TOOLS, some of the four.
# Exit status 0: every stage that was asked for passed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

stages=() filters=() budget=570 preset=release build=build
while [ $# -gt 0 ]; do
  case $1 in
    --stage) stages+=("${2:-}"); shift ;;
    --budget) budget=${2:-}; shift ;;
    --preset) preset=${2:-}; shift ;;
    --build) build=${2:-}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    -*) echo "run_gpu.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
    *) filters+=("$1") ;;
  esac
  shift || break
done
if [ ${#stages[@]} -eq 0 ]; then
  stages=(build test sanitize)
  [ ${#filters[@]} -eq 0 ] || stages+=(bench)
fi
for stage in "${stages[@]}"; do
  case $stage in
    build | test | portable | sanitize | devices | bench) ;;
    *) echo "run_gpu.sh: no stage '$stage' (build, test, portable, sanitize, devices, bench)" >&2; exit 2 ;;
  esac
done
wants() { case " ${stages[*]} " in *" $1 "*) true ;; *) false ;; esac; }

logs=${OUT:-$build/gpu-logs}
mkdir -p "$logs" || exit 1
work=$build/gpu-work
table=$logs/table.txt
: > "$table"
rm -f "$logs"/*-cases.log
cores=$(nproc)
gpus=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU ')
[ "$gpus" -gt 0 ] || gpus=1
export PATH=/usr/local/cuda/bin:$PATH
export SPARGO_REQUIRE_GPU=1
failed=no
# Layers whose programs are built, and tested, before the others.
first_layers="(formats|io|primitives|solvers|sparse)_"
first_tests="" cpu_tests=""

left() { echo $((budget - SECONDS > 1 ? budget - SECONDS : 1)); }
say() { printf '[%s, %4d s] %s\n' "$(date +%H:%M:%S)" "$SECONDS" "$*"; }
# row STAGE RESULT START [DETAIL]
row() {
  printf '%-34s %-8s %5d s  %s\n' "$1" "$2" $((SECONDS - $3)) "${4:-}" >> "$table"
  case $2 in ok) ;; *) failed=yes ;; esac
}
verdict() { case $1 in 0) echo ok ;; 124 | 137) echo TIMEOUT ;; *) echo FAILED ;; esac; }

stage_build() {
  local start=$SECONDS status=0 generator=() arguments=() bench=OFF first=()
  command -v ninja > /dev/null || generator=(-G "Unix Makefiles")
  read -ra arguments <<< "${SPARGO_CMAKE_ARGS:-}"
  # The benchmarks are an eighth of the build (811 of 6,080 s of CPU, 16 cores of an H100's host).
  if wants bench || wants devices; then bench=ON; fi
  say "build"
  {
    timeout "$(left)" cmake --preset "$preset" -B "$build" "${generator[@]}" -DSPARGO_CUDA=ON -DSPARGO_APPS=ON \
      -DSPARGO_TESTS=ON -DSPARGO_BENCH=$bench -DSPARGO_TEST_TIMEOUT=300 "${arguments[@]}"
  } > "$logs/build.log" 2>&1 || status=$?
  if [ $status -eq 0 ] && wants test && [ -z "${SPARGO_CTEST_ARGS:-}" ]; then
    mapfile -t first < <(cmake --build "$build" --target help | grep -oE "${first_layers}[a-z0-9_]*test\\b" | sort -u)
  fi
  if [ ${#first[@]} -gt 0 ]; then
    timeout "$(left)" cmake --build "$build" --parallel "$cores" --target "${first[@]}" >> "$logs/build.log" 2>&1 || status=$?
    row "build, first programs" "$(verdict $status)" "$start"
    if [ $status -eq 0 ]; then
      say "the first programs' tests, beside the rest of the build"
      run_tests first -L gpu -R "^$first_layers" &
      first_tests=$!
    fi
  fi
  [ $status -ne 0 ] || timeout "$(left)" cmake --build "$build" --parallel "$cores" >> "$logs/build.log" 2>&1 || status=$?
  [ $status -eq 0 ] || tail -n 60 "$logs/build.log"
  row build "$(verdict $status)" "$start"
  return $status
}

# on_gpus FOLDER [ctest arguments]: ctest, with each program on one GPU and four cases at a time there (gpu_turn.hpp).
# Programs that wait for their turn leave cores idle: half as many more programs as cores. A program's own threads are
# bounded, since 16 programs with 16 threads each would share 16 cores.
on_gpus() {
  local folder=$1 file=$logs/gpus.json turns
  shift
  nvidia-smi --query-gpu=index --format=csv,noheader 2> /dev/null | awk '
    {gpus = gpus (NR > 1 ? ", " : "") "{\"id\": \"" $1 "\", \"slots\": 1000}"}
    END {print "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [" gpus "]}]}"}' > "$file"
  turns=$(mktemp -d)
  SPARGO_GPU_TURNS=$turns:4 OMP_NUM_THREADS=4 timeout "$(left)" ctest --test-dir "$folder" --output-on-failure \
    --parallel $((cores * 3 / 2)) --resource-spec-file "$(realpath "$file")" "$@"
  set -- $?
  rm -rf "$turns"
  return "$1"
}

# run_tests NAME [ctest arguments]: tests of the build, one run at a time; the log of their cases stays in NAME-cases.log.
run_tests() {
  local name=$1 start=$SECONDS status=0 cases
  shift
  on_gpus "$build" "$@" > "$logs/$name.log" 2>&1 || status=$?
  sed -n '/\*\*\*/p;/^\[  FAILED  \]/p' "$logs/$name.log" | sort -u | head -n 40
  [ $status -eq 0 ] || tail -n 40 "$logs/$name.log"
  cp "$(find "$build/Testing/Temporary" -name 'LastTest.log*' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)" \
    "$logs/$name-cases.log"  # LastTest.log.tmp where the time was up
  cases=$(awk '/^\[  PASSED  \]/ {p += $4} /^\[  SKIPPED \] [0-9]+ test/ {s += $4} /^\[  FAILED  \] [0-9]+ test/ {f += $4}
               END {printf "cases: %d passed, %d skipped, %d failed", p, s, f}' "$logs/$name-cases.log")
  row "ctest, $name" "$(verdict $status)" "$start" "$(grep -E 'tests passed,' "$logs/$name.log" | tail -n 1); $cases"
  return $status
}

# The tests that need a GPU, and then those that need none, which go on beside the sanitizers.
stage_test() {
  local arguments=()
  read -ra arguments <<< "${SPARGO_CTEST_ARGS:-}"
  say "tests"
  if [ ${#arguments[@]} -gt 0 ]; then run_tests asked "${arguments[@]}" || failed=yes; return; fi
  if [ -n "$first_tests" ]; then
    wait "$first_tests" || failed=yes
    run_tests gpu -L gpu -E "^$first_layers" || failed=yes
  else
    run_tests gpu -L gpu || failed=yes
  fi
  run_tests cpu -LE gpu &
  cpu_tests=$!
}

# times: where the time went, of the build by kind of object, of the tests by program and by entry. A program's GPU time is
# that of its turns (gpu_turn.hpp), of which there are four at a time on each GPU.
times() {
  if [ -s "$build/.ninja_log" ]; then
    echo "Build: seconds of all objects, number, kind"
    awk -F'\t' 'NR > 1 {t[$4] = ($2 - $1) / 1000}
      END {for (f in t) {k = f ~ /\.cu\.o$/ ? "CUDA objects" : f ~ /\.o$/ ? "host objects" : f ~ /\.gch$/ ? "headers" : "the rest"
                         k = k (f ~ /\.o$/ ? (f ~ /tests\// ? " of tests" : f ~ /apps\// ? " of apps" : " of the library") : "")
                         s[k] += t[f]; n[k]++}
           for (k in s) printf "%8.0f %5d  %s\n", s[k], n[k], k}' "$build/.ninja_log" | sort -rn
    echo "Longest objects"
    awk -F'\t' 'NR > 1 {printf "%8.1f  %s\n", ($2 - $1) / 1000, $4}' "$build/.ninja_log" | sort -rn | head -n 15
  fi
  awk '/^[0-9]+\/[0-9]+ Testing: / {name = $3; waited = held = 0}
       /^GPU: waited / {waited += $3; held += $6}
       /^Test time = / {printf "%s %s %s %s\n", name, $4, waited, held}' "$logs"/*-cases.log > "$logs/times.log"
  echo "Tests: seconds, of which waiting for the GPU, with the GPU; entries, layer"
  awk '{split($1, a, "_"); s[a[1]] += $2; w[a[1]] += $3; h[a[1]] += $4; n[a[1]]++}
       END {for (k in s) printf "%8.1f %8.1f %8.1f %5d  %s\n", s[k], w[k], h[k], n[k], k}' "$logs/times.log" | sort -rn
  echo "Longest entries"
  awk '{printf "%8.1f %8.1f %8.1f  %s\n", $2, $3, $4, $1}' "$logs/times.log" | sort -rn | head -n 40
}

# test_command BUILD NAME: the program of a ctest entry and its first argument, or nothing. See tests/CMakeLists.txt.
test_command() {
  local layer=${2%%_*} file=${2#*_} command
  command="$1/bin/tests/${layer}_test --file=$file"
  ! grep -qs "^// Own program: " "tests/$layer/$file".c* || command=$1/bin/tests/$2
  [ ! -x "${command%% *}" ] || echo "$command"
}

# Entries whose sources have device tests, but for those of the apps: the apps are built for this machine's GPU.
device_tests() {
  grep -lE 'SPARGO_TEST_NEEDS_GPU|context<device>' tests/*/*_test.cpp tests/*/*_test.cu | grep -v '^tests/apps/' \
    | sed -E 's|^tests/||; s|/|_|; s|\.[a-z]+$||'
}

# The portable device paths on this machine's GPU: no code but PTX of compute capability 8.0 is in the library.
stage_portable() {
  local start=$SECONDS status=0 generator=() arguments=() tests folder=$build/portable cases
  command -v ninja > /dev/null || generator=(-G "Unix Makefiles")
  read -ra arguments <<< "${SPARGO_CMAKE_ARGS:-}"
  mapfile -t tests < <(device_tests)
  say "build for 80-virtual"
  {
    timeout "$(left)" cmake --preset "$preset" -B "$folder" "${generator[@]}" -DSPARGO_CUDA=ON -DSPARGO_APPS=OFF \
      -DSPARGO_TESTS=ON -DSPARGO_BENCH=OFF -DSPARGO_TEST_TIMEOUT=300 "${arguments[@]}" \
      -DCMAKE_CUDA_ARCHITECTURES=80-virtual \
      && timeout "$(left)" cmake --build "$folder" --parallel "$cores" --target tests
  } > "$logs/portable-build.log" 2>&1 || status=$?
  [ $status -eq 0 ] || tail -n 60 "$logs/portable-build.log"
  row "portable build" "$(verdict $status)" "$start"
  [ $status -eq 0 ] || return
  start=$SECONDS
  say "portable tests"
  # The driver's compiler leaves what it made in a cache, which all programs share.
  CUDA_CACHE_PATH=$(realpath "$folder")/cuda-cache CUDA_CACHE_MAXSIZE=4294967296 \
    on_gpus "$folder" -R "^($(IFS='|'; echo "${tests[*]}"))\$" > "$logs/portable-test.log" 2>&1 || status=$?
  sed -n '/\*\*\*/p;/^\[  FAILED  \]/p' "$logs/portable-test.log" | sort -u | head -n 40
  [ $status -eq 0 ] || tail -n 40 "$logs/portable-test.log"
  cases=$(awk '/^\[  PASSED  \]/ {p += $4} /^\[  SKIPPED \] [0-9]+ test/ {s += $4} /^\[  FAILED  \] [0-9]+ test/ {f += $4}
               END {printf "cases: %d passed, %d skipped, %d failed", p, s, f}' \
    "$folder/Testing/Temporary/LastTest.log" 2> /dev/null)
  row "portable ctest" "$(verdict $status)" "$start" "$(grep -E 'tests passed,' "$logs/portable-test.log" | tail -n 1); $cases"
}

# device_filter PROGRAM [ARGUMENT]: of its tests those that name the device in suite, type parameter or test, or all if
# none does, but for the long ones: the tools slow a kernel down a hundredfold.
device_filter() {
  "$@" --gtest_list_tests 2> /dev/null | awk '
    /^[^ ]+\.( |$)/ {suite = $1; whole = tolower($0) ~ /device|cuda|gpu/; if (whole) filter = filter suite "*:"; next}
    /^  / && !whole && tolower($1) ~ /device|cuda|gpu/ {filter = filter suite $1 ":"}
    END {print (filter == "" ? "*" : filter) "-*Large*:*Huge*:*Slow*:*Real*:*Scale*:*Big*:*Random*:*Truth*"}'
}

# Rows "ctest_name:gtest_filter" for the sanitizers. After a bar: what racecheck runs instead, or `none`.
#
# Those that every run takes, each at most 60 s: the newest device code first.
sanitize_first() {
  cat << 'LIST'
sparse_triangular_solve_device_test:TriangularSolveOnDevice/0.*:TriangularSolveOnDevice/5.*|none
solvers_preconditioner_device_test:PreconditionerOfTypeOnDevice/3.AnExact*|none
graph_layout_test:Layout/2.OneStep*:Layout/2.ForcesBetween*:Layout/2.OfAnEmpty*|Layout/2.OfAnEmpty*:Layout/2.ForcesBetween*
graph_coloring_test:Coloring/3.SmallShapes
graph_independent_set_test:IndependentSet/3.SmallShapes
graph_matching_test:Matching/3.SmallShapes
graph_walks_test:Walks/3.SmallShapes
graph_neighbor_samples_test:NeighborSamples/3.SmallShapes
sparse_spgemm_device_test:SpgemmDevice/1.Grids:SpgemmDevice/1.PlansFill*:SpgemmDevice/4.Runs*|SpgemmDevice/1.Grids:SpgemmDevice/1.PlansFill*
graph_supports_test:Supports.CompleteGraphs
graph_similarity_test:Similarity/3.SmallShapes:Similarity/5.SmallShapes
graph_trusses_test:Trusses/3.SmallShapes:Trusses/3.SizesAround*|Trusses/3.SmallShapes
graph_modularity_device_test:LouvainLeidenDevice.InitialCommunities:LouvainLeidenDevice.SmallGraphs|LouvainLeidenDevice.InitialCommunities
graph_closeness_test:Closeness/3.SmallShapes:Closeness/5.SmallShapes
graph_eccentricity_test:Eccentricity/3.SmallShapes
graph_ranks_test:Ranks/4.OfAn*:Ranks/4.Hits*:Ranks/5.Katz*:Ranks/6.Eigen*|Ranks/4.Hits*
graph_forest_test:Forest/4.SmallShapes:Forest/6.RefusesAndIgnoresNan
graph_cores_test:Cores/3.SmallShapes:Cores/4.LevelsFarApart:Cores/5.SizesAround*|Cores/3.SmallShapes
graph_operators_cuda_test:OperatorsCuda/0.AdvanceA*:OperatorsCuda/0.AdvanceW*:OperatorsCuda/2.Once*:OperatorsCuda/0.Levels*:OperatorsCuda/0.TooMany*
io_device_read_test:DeviceRead.Csr*
LIST
}

# The rest, as far as the time goes, each at most 150 s.
sanitize_rest() {
  local file name command
  # Entries whose whole device half takes the tools longer than a slot (formats_convert_test 150 s): one type for each
  # width of values and indices, and the shapes that take every path of a kernel. racecheck is slower still on kernels
  # that wait for other blocks. `none`: weak components' trees in shared memory are read while others write them, by
  # ld.volatile, which PTX calls no race and racecheck does not know; and searches of several ranks, whose kernels wait
  # for each other, take it over 150 s.
  cat << 'LIST'
formats_convert_test:Device/Convert/device0.Coo*:Device/Convert/device0.Sort*
formats_convert_test:Device/Convert/device0.Expand*:Device/Convert/device0.Csr*:Device/Convert/device0.Transpose
formats_convert_test:Device/Convert/device0.Ell*:Device/Convert/device0.Sell*:Device/Convert/device0.Entries*
formats_convert_test:Device/Convert/device5.Coo*:Device/Convert/device5.Sort*:Device/Convert/device5.Sell*
sparse_spmv_test:Spmv/12.*:SpmvPlan/2.*
sparse_spmv_test:Spmv/15.*
sparse_spmv_test:Spmv/23.Scales*:Spmv/23.Takes*
sparse_spmv_update_test:SpmvUpdate/1.*
sparse_spmv_compressed_test:SpmvCompressed/0.*-*IsChosen*|SpmvCompressed/0.Padding*:SpmvCompressed/0.TakesOther*
sparse_spmv_blocked_test:SpmvBlocked/0.KeepsACopy*
sparse_spmv_binned_test:SpmvBinned/0.KeepsACopy*
sparse_spmv_passes_test:SpmvPasses.AddTheCarries*
sparse_spmv_long_rows_test:SpmvLongRows/0.Agree*
sparse_spmm_test:SpmmPlan/3.Scales*:SpmmPlan/3.Splits*:SpmmPlan/3.TakesRegular*
graph_bfs_test:Bfs/3.NoEdges:Bfs/3.Disconnected:Bfs/3.OneCall*|Bfs/3.OneCall*
graph_bfs_test:Bfs/5.NoEdges:Bfs/5.OneCall*|Bfs/5.OneCall*
graph_bfs_cuda_test:BfsCuda/0.Degrees*:BfsCuda/0.FindsMore*:BfsCuda/0.Pulls*:BfsCuda/0.Isolated*|BfsCuda/0.Degrees*
graph_bfs_differential_test:BfsDifferential/3.NoVertices
graph_bfs_options_test:BfsOptions/3.DepthsThat*:BfsOptions/3.Refuses*|BfsOptions/3.Refuses*
graph_multi_bfs_test:MultiBfs/3.NoEdges:MultiBfs/3.Star:MultiBfs/3.OneOf*|MultiBfs/3.NoEdges
graph_sssp_test:Sssp/7.SmallShapes:Sssp/7.ACrowd*|none
graph_sssp_interface_test:SsspWeights/1.EdgesThat*:SsspWeights/1.PathsToo*
graph_betweenness_test:Betweenness/3.SmallShapes:Betweenness/5.SmallShapes|Betweenness/3.SmallShapes
graph_betweenness_cuda_test:BetweennessCuda.FewVertices*:BetweennessCuda.Tells*|BetweennessCuda.Tells*
graph_pagerank_test:PageRank/6.Residual*:PageRank/9.PlansServe*
graph_triangles_device_test:TrianglesDevice/0.RowsThat*:TrianglesDevice/2.RowsThat*
graph_triangles_device_test:TrianglesDevice/0.RowsAround*|TrianglesDevice/2.RowsThat*
graph_triangles_device_test:TrianglesDevice/0.Hubs*:TrianglesDevice/0.Dense*|TrianglesDevice/0.Hubs*
graph_triangles_test:Clustering.OnADevice:TrianglesChoice.OnADevice
graph_forest_test:Forest/7.RefusesAndIgnoresNan:ForestDevice.*|ForestDevice.*
graph_communities_test:Communities/3.ManyLabels:Communities/3.DenseGraphs|Communities/3.ManyLabels
graph_communities_test:Communities/3.Hubs:Communities/5.ManyLabels|Communities/3.Hubs
graph_components_test:Components/3.SizesAround*:Components/3.Hubs*|none
graph_components_test:Components/5.LargestTree*:Components/5.DisconnectedCliques|none
distributed_devices_test:DeviceExchange.GoesOneWay*:DeviceProduct.*/8:DeviceCg.*|DeviceExchange.GoesOneWay*
distributed_devices_test:DeviceRanks.*/4:DeviceSearch.*/4|none
distributed_persistent_test:PersistentSearch.*/0:PersistentSearch.*/4:PersistentSearches.ReportTheirStepsAndTraffic|none
distributed_components_test:DistributedComponents/2.AreJoined*|none
distributed_device_spmm_test:DeviceSpmm.*/6:DeviceSpmmPlan.*|DeviceSpmm.*/7
distributed_device_graph_test:DeviceMadeGraph.*/1:DeviceMadeGraph.*/4:DeviceCheck.*|DeviceMadeGraph.IsThat*/1
distributed_device_products_test:DeviceProductsInARow.Where*|none
core_stream_order_test:StreamOrder.*
core_thrust_test:Thrust.*
primitives_scan_test:Scan/0.DeviceAnyAlignment:Scan/3.DeviceLastIs*:FloatScan/1.DeviceNan*
primitives_reduce_rungs_test:ReduceRungs/2.DeviceSame*:ReduceRungs/0.DeviceUnaligned*
primitives_reduce_order_test:ReduceOrder/0.DeviceReads*
primitives_histogram_rungs_test:HistogramLetters.Device:HistogramKeys/1.DeviceUnaligned*
primitives_matmul_test:Matmul/0.DeviceSmall
primitives_matmul_test:Matmul/1.DeviceSmall
primitives_convolve_test:Convolve/0.UnalignedLines*:Convolve/0.SameBits*
primitives_convolve_edge_test:ConvolveSpecial.*OnTheDevice
primitives_stencil_test:Stencil/0.DeviceLinesSpread*
primitives_jacobi_test:Jacobi/0.DeviceSpecial*
primitives_sliding_max_test:SlidingMax/0.DeviceSpecial*
primitives_pipeline_test:Pipeline/Device.Types*
primitives_atomics_test:*-*Huge*
primitives_matmul_tensor_test:MatmulTensor.TakesAnyStride*:MatmulTensor.ScalesAndAdds
LIST
  grep -lE 'SPARGO_TEST_NEEDS_GPU|context<device>' tests/*/*_test.cpp tests/*/*_test.cu 2> /dev/null | while read -r file; do
    file=${file#tests/}
    file=${file%.*}
    name=${file//\//_}
    case $name in
      graph_layout_test | graph_coloring_test | graph_independent_set_test | graph_matching_test | graph_walks_test | graph_neighbor_samples_test) continue ;;  # among the first
      graph_supports_test | graph_similarity_test | graph_trusses_test | graph_modularity_device_test | graph_closeness_test | graph_eccentricity_test | graph_ranks_test) continue ;;  # among the first
      core_stream_order_test | core_thrust_test | formats_convert_test | sparse_spm* | distributed_device* | distributed_persistent_test | distributed_components_test | graph_bfs_* | graph_multi_bfs_test | graph_sssp_test | graph_sssp_interface_test | graph_betweenness*_test | graph_pagerank_test | graph_triangles*_test | graph_communities_test | graph_components_test | graph_cores_test | graph_forest_test | graph_operators_cuda_test | io_device_read_test | primitives_*) continue ;;  # above
      apps_* | *_data_test) continue ;;  # child processes, and hundreds of searches of real graphs
      *_calls_test) continue ;;  # what compiles: no kernel runs
      *_exhausted_*) continue ;;  # takes the memory of those that run beside it
    esac
    read -ra command <<< "$(test_command "$build" "$name")"
    [ ${#command[@]} -eq 0 ] || echo "$name:$(device_filter "${command[@]}")"
  done
}

# sanitize_jobs LIST TOOL...: "TOOL ROW" of each row whose program is built.
sanitize_jobs() {
  local list=$1 row tool
  shift
  "$list" | while read -r row; do
    [ -n "$(test_command "$build" "${row%%:*}")" ] || continue
    for tool in "$@"; do
      case "$tool $row" in "racecheck "*"|none") ;; *) printf '%s %s\n' "$tool" "$row" ;; esac
    done
  done
}

# What SPARGO_SANITIZE_TESTS names.
sanitize_asked() { tr -s ' ' '\n' <<< "$SPARGO_SANITIZE_TESTS"; }

# One job: TOOL NAME:FILTER[|FILTER_FOR_RACECHECK] BUILD DEADLINE LIMIT, for LIMIT seconds at most; what the deadline ends
# has not run. API errors are not counted: tests provoke failing calls (out of memory, no such device) on purpose, and the
# library checks every call itself.
sanitize_one() {
  local tool=$1 name=${2%%:*} filter=${2#*:} start=$SECONDS status=0 log detail limit=$5 left=$(($4 - EPOCHSECONDS)) command
  local flags=()
  [ $left -ge 10 ] || return 0  # counted as not run
  [ $left -ge "$limit" ] || limit=$left
  [ "$tool" = racecheck ] && filter=${filter#*|}
  filter=${filter%%|*}
  log=$work/$tool-$name-$BASHPID.log
  read -ra command <<< "$(test_command "$3" "$name")"
  export CUDA_VISIBLE_DEVICES=$((${SLOT:-0} % gpus))
  [ "$tool" != memcheck ] || flags=(--track-stream-ordered-races all)
  timeout -k 5 "$limit" compute-sanitizer --tool "$tool" "${flags[@]}" --error-exitcode 99 --report-api-errors no --print-limit 20 \
    "${command[@]}" --gtest_filter="$filter" --gtest_brief=1 > "$log" 2>&1 || status=$?
  [ "$limit" -eq "$5" ] || [ $status -ne 124 ] || return 0  # did not fit
  detail=$(grep -oE 'ERROR SUMMARY: .*|RACECHECK SUMMARY: .*' "$log" | tail -n 1)
  # A warning sets the exit status as an error does. Blocks of the kernel for narrow levels send each other 16 bytes by
  # st.async, which racecheck does not follow: it warns of them.
  case "$tool $detail" in "racecheck "*"(0 errors, "*) [ $status -ne 99 ] || status=0 ;; esac
  detail="${detail:-no summary}; $(grep -E '^\[==========\].*ran|^\[  PASSED' "$log" | tail -n 1 | tr -d '[]=')"
  if [ $status -eq 99 ] || [ $status -eq 1 ]; then
    printf '\n--- %s %s\n' "$tool" "$name" >> "$work/failures"
    grep -vE '^=+$' "$log" | head -n 60 >> "$work/failures"
  fi
  printf '%-34s %-8s %5d s  %s\n' "$tool $name" "$(verdict $status)" $((SECONDS - start)) "$detail; ${filter:0:48}"
}

# sanitize_each PROCESSES DEADLINE LIMIT: the jobs on stdin.
sanitize_each() {
  xargs -r -P "$1" -L 1 --process-slot-var=SLOT bash -c 'sanitize_one "$4" "$5" "$1" "$2" "$3"' sanitize "$build" "$2" "$3"
}

# sanitize_list NAME DEADLINE LIMIT: the jobs in $work/NAME; their rows go to $work/NAME.rows.
# The distributed rows one at a time, and last. With other processes on the GPU (H100, H200) initcheck 2025.3 fails correct
# programs whose threads share it, two of 80 lines without Spargo among them: it reports as uninitialized what the
# previous kernel on the stream wrote, or the program ends in an illegal access. Alone, 36 of 36 runs were clean.
sanitize_list() {
  local jobs=$((4 * gpus))  # more only wait for each other: processes share a GPU by time slices
  grep -v '^initcheck distributed_' "$work/$1" | sanitize_each "$jobs" "$2" "$3" > "$work/$1.rows"
  grep '^initcheck distributed_' "$work/$1" | sanitize_each 1 "$2" "$3" >> "$work/$1.rows"
}

stage_sanitize() {
  local start=$SECONDS limit deadline tools tool ran wanted further=0
  if ! command -v compute-sanitizer > /dev/null; then row sanitize "NOT RUN" "$start" "no compute-sanitizer"; return; fi
  mkdir -p "$work"
  rm -f "$work"/*
  limit=$(left)
  wants bench && limit=$((limit * 3 / 4))
  deadline=$((EPOCHSECONDS + limit))
  say "compute-sanitizer, at most $limit s"
  export -f sanitize_one test_command verdict
  export work gpus
  read -ra tools <<< "${SPARGO_SANITIZE_TOOLS:-memcheck racecheck synccheck initcheck}"
  if [ -n "${SPARGO_SANITIZE_TESTS:-}" ]; then
    sanitize_jobs sanitize_asked "${tools[@]}" > "$work/first"
    sanitize_list first "$deadline" 150
  else
    sanitize_jobs sanitize_first "${tools[@]}" > "$work/first"
    sanitize_list first "$deadline" 60
    for tool in "${tools[@]}"; do sanitize_jobs sanitize_rest "$tool"; done > "$work/rest"
    sanitize_list rest "$deadline" 150
    further=$(($(wc -l < "$work/rest") - $(wc -l < "$work/rest.rows")))
  fi
  sort "$work"/*.rows >> "$table"
  if cat "$work"/*.rows | grep -qvE '^[^ ]+ +[^ ]+ +ok '; then failed=yes; fi
  ran=$(wc -l < "$work/first.rows")
  wanted=$(wc -l < "$work/first")
  if [ "$ran" -lt "$wanted" ] || [ "$wanted" -eq 0 ]; then
    row sanitize "NOT RUN" "$start" "$((wanted - ran)) of $wanted runs did not fit the time"
  fi
  [ "$further" -eq 0 ] || row "sanitize, further rows" ok "$start" "$further did not fit the time (--stage sanitize alone)"
  [ ! -f "$work/failures" ] || head -n 150 "$work/failures"
  tail -n +1 "$work"/*.log > "$logs/sanitize.log"
  rm -rf "$work"
}

# On one GPU, then on all of them. The commands validate what they find.
stage_devices() {
  local start=$SECONDS status=0 count=$gpus line devices
  if [ "$count" -lt 2 ]; then row devices "NOT RUN" "$start" "$count GPU (expected 2 or more)"; return; fi
  say "tests and commands on $count GPUs"
  timeout "$(left)" ctest --test-dir "$build" --output-on-failure -R '^(distributed_(device.*|persistent|components|communities|split)|apps_devices_app)_test$' \
    > "$logs/devices.log" 2>&1 || status=$?
  [ $status -eq 0 ] || tail -n 40 "$logs/devices.log"
  row "devices: tests" "$(verdict $status)" "$start" "$(grep -E 'tests passed,' "$logs/devices.log" | tail -n 1)"
  for line in "spmv gen:laplacian2d:n=4096" "spmv gen:uniform:rows=8388608,degree=16" \
    "pagerank gen:rmat:scale=24,degree=16 --undirected --iterations 20" "components gen:rmat:scale=24,degree=16" \
    "communities gen:rmat:scale=22,degree=16 --undirected --method cdlp" \
    "bfs gen:rmat:scale=24,degree=16 --undirected --sources 4" "bfs gen:grid2d:n=1024"; do
    for devices in 1 "$count"; do
      start=$SECONDS status=0
      # shellcheck disable=SC2086
      timeout "$(left)" "$build/bin/spargo" $line --devices "$devices" > "$logs/devices-run.txt" 2>&1 || status=$?
      cat "$logs/devices-run.txt" >> "$logs/devices.log"
      row "devices: $devices of $count" "$(verdict $status)" "$start" \
        "$line: $(grep -E '^ *(time|ranks) ' "$logs/devices-run.txt" | tr -s ' ' | tr '\n' ';')"
    done
  done
  start=$SECONDS status=0
  timeout "$(left)" "$build/bin/spargo" bench '^ranks/' --device cuda --json "$logs/ranks.json" > "$logs/ranks.txt" 2>&1 || status=$?
  cat "$logs/ranks.txt"
  row "devices: bench ranks" "$(verdict $status)" "$start"
}

stage_bench() {
  local filter start status number=0
  : > "$logs/bench.log"
  for filter in "${filters[@]}"; do
    start=$SECONDS status=0 number=$((number + 1))
    say "bench $filter"
    timeout "$(left)" "$build/bin/spargo" bench "$filter" --json "$logs/bench-$number.json" 2>&1 | tee -a "$logs/bench.log" || status=$?
    row "bench $filter" "$(verdict $status)" "$start"
  done
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2> /dev/null || say "no nvidia-smi"
if ! wants build || stage_build; then
  if wants test; then stage_test; fi
  if wants portable; then stage_portable; fi
  if wants sanitize; then stage_sanitize; fi
  [ -z "$cpu_tests" ] || wait "$cpu_tests" || failed=yes
  if wants devices; then stage_devices; fi
  if wants bench; then stage_bench; fi
fi
wait
times > "$logs/times.txt"
say "done; full logs in $logs"
cat "$logs/times.txt"
echo
cat "$table"
[ $failed = no ]
