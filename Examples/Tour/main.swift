internal import HoldfastCommand
internal import SystemCalls

Entry.prepare()
endProcess(with: TourCommand.run().rawValue)
