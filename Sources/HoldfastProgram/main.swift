internal import HoldfastCommand
internal import SystemCalls

endProcess(with: Entry.start())
