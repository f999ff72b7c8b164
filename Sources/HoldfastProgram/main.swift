internal import HoldfastCommand
internal import SystemCalls

exit(Entry.start())
