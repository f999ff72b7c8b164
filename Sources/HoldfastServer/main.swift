internal import SecretMemory
internal import SystemCalls

ProcessHardening.apply()
exit(ServerCommand.run(Array(CommandLine.arguments.dropFirst())))
