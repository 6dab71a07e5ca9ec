// What an app does when it is asked to end: files it has begun go, those they were to replace stay.
#pragma once

#include <string>

namespace spargo::apps {

// From here on every signal that ends a process, SIGKILL apart, removes what is half written and ends it as it would
// have (one that is ignored stays so: nohup); a file beyond a size limit is an error in place of SIGXFSZ; a mapped
// input that another process cuts short ends the app with one line and code 1 in place of SIGBUS.
void handle_signals(const std::string& app);

}  // namespace spargo::apps
