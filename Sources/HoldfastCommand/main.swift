internal import Holdfast

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

ProcessHardening.apply()
Descriptors.fillStandardOnes()
signal(SIGPIPE, SIG_IGN)  // a reader that went away is an error of the write
exit(Entry.run().rawValue)
