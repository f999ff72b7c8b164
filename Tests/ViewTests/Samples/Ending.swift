import SystemCalls

// Without Foundation, which would bring glibc's names.

/// Ends a process whose flow was played, as apps end: what other threads still do, as a lock that writes its last line,
/// does not meet libraries that have ended.
func endSample() -> Never { endProcess(with: 0) }
