internal import Holdfast
internal import SystemCalls

ProcessHardening.apply()
Descriptors.fillStandardOnes()
signal(SIGPIPE, SIG_IGN)  // a reader that went away is an error of the write
exit(Entry.run().rawValue)
