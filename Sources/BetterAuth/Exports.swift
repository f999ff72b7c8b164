// An app imports `BetterAuth` alone: it sees the identifiers, times and texts of the messages, the transports, and what
// verifies a server's keys.
@_exported public import BetterAuthMessages
@_exported public import BetterAuthVerification
