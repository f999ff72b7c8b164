// An app imports `BetterAuth` alone and sees the identifiers, times and texts of the messages.
@_exported public import BetterAuthMessages
