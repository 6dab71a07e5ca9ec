// --print: a line per case on standard output, in place of the report.
#pragma once

#include "bench/plot.hpp"

#include <string>
#include <vector>

namespace spargo::bench {

// `form`: table, csv or json. What a case has not is empty, in JSON null. Throws `error` (io).
void print_cases(const std::vector<measured_case>& cases, const std::string& form);

}  // namespace spargo::bench
