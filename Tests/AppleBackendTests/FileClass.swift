import SystemCalls

// Without Foundation, which would bring glibc's names.

/// From when on the system lets what lies in a folder be read.
func protectionClass(of descriptor: Int32) -> Int32 { fcntl(descriptor, F_GETPROTECTIONCLASS) }
