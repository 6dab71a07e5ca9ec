// Handling of signals that end an app: unfinished files are removed, files they would replace stay.
#pragma once

#include <string>

namespace spargo::apps {

// From here on every signal that ends a process, except SIGKILL, removes unfinished files and then ends the process as
// before (ignored signals stay ignored: nohup). Exceeding a file size limit is an error instead of SIGXFSZ. If another
// process truncates a mapped input, the app ends with one line and code 1 instead of SIGBUS.
void handle_signals(const std::string& app);

}  // namespace spargo::apps
