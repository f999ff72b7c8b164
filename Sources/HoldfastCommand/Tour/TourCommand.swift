extension Command {
    static let tour = Command(
        "tour", summary: "show in a scratch vault that everything works",
        details: [
            "Takes a few seconds, asks nothing, and touches no vault of yours: it works below a folder of its own in $TMPDIR "
                + "or /tmp that is gone afterwards. Every step is checked; the exit code is 0 only if all of them held."
        ],
        options: [], run: { _ throws(CommandError) in .failure })
}
