// A library to preload (LD_PRELOAD) into a process whose disk shall fail. Linux only; for tests only.
//
// It stands in front of the C library's calls that change files and counts those that concern one folder. It is told by
// the environment what to do when the count reaches a number:
//
//   HOLDFAST_FAULT_UNDER  the folder, an absolute path without links; without it the library does nothing
//   HOLDFAST_FAULT        count  nothing fails (the default)
//                         fail   the call returns an error
//                         kill   the process ends by SIGKILL before the call
//                         tear   the process ends by SIGKILL in the middle of it: half of a write is done
//                         cut    as kill, and the power with it: what was not flushed is lost in part or in whole
//   HOLDFAST_FAULT_AT     which call, from 1
//   HOLDFAST_FAULT_ERROR  the error's number, for fail
//   HOLDFAST_FAULT_ONCE   set: only that call fails; else all from then on that this error can befall
//   HOLDFAST_FAULT_SEED   what is lost in a cut
//   HOLDFAST_FAULT_TRASH  a folder on the same disk where removed files are kept until a cut brings them back
//   HOLDFAST_FAULT_SENDS  set: two of three calls of send with 4 KiB or more fail with ENOBUFS, whatever else is said
//   HOLDFAST_FAULT_LOG    a file that gets a line for each call counted: its name and the file's
//
// In a cut, every 512-byte block written since the last flush of its file stays or goes by itself; of the names created,
// renamed and removed since the last flush of their folder, the last ones go.
