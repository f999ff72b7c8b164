// The command follows.
