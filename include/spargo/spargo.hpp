// All of Spargo.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/config.hpp>
#include <spargo/core/context.hpp>
#include <spargo/core/error.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/formats/dense.hpp>
#include <spargo/formats/validate.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>
#include <spargo/primitives/histogram.hpp>
#include <spargo/primitives/pipeline.hpp>
#include <spargo/primitives/reduce.hpp>
#include <spargo/primitives/scan.hpp>
#include <spargo/sparse/spmv.hpp>
