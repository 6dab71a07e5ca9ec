# The reason of each skipped case in ctest's log, a line each: what GoogleTest prints below "FILE:LINE: Skipped", up to a
# colon. Processes that write at the same time may put other lines between the two.
/: Skipped$/ { waiting++; given = 0; next }
waiting == 0 { next }
/^[[:space:]]*$/ { waiting = given ? waiting : 0; next }
/^(\033\[[0-9;]*m)?\[/ { next }
{
  waiting--
  given = 1
  sub(/^[^ :]*\/[^ :]*(:[0-9]+)*: /, "")  # a file in front
  sub(/:.*/, "")
  print
}
