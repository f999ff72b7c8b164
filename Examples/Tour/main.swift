internal import HoldfastCommand
internal import SystemCalls

Entry.prepare()
exit(TourCommand.run().rawValue)
