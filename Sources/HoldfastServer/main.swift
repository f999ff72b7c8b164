internal import SecretMemory
internal import SystemCalls

ProcessHardening.apply()
exit(ServerEntry.run().rawValue)
