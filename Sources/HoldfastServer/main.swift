internal import SecretMemory
internal import SystemCalls

ProcessHardening.apply()
endProcess(with: ServerEntry.run().rawValue)
