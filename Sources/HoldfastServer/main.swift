internal import SecretMemory

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

ProcessHardening.apply()
exit(ServerCommand.run(Array(CommandLine.arguments.dropFirst())))
