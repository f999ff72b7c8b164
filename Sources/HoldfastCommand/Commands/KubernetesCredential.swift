internal import CommandLineArguments
internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls

extension Command {
    static let kubernetesCredential = Command(
        "kubernetes-credential", summary: "give kubectl a token or a certificate",
        details: [
            "A credential plugin for kubectl and other clients of Kubernetes. Name it in the kubeconfig, as the user's exec: command "
                + "kubernetes-credential-holdfast, which is this command, args [NAME], apiVersion "
                + "client.authentication.k8s.io/v1, interactiveMode IfAvailable.",
            "Of the entry it gives the field \"token\", else the main value, such as a password; and, where it has both, the fields "
                + "or files \"client certificate\" and \"client key\", in PEM.",
        ],
        example: "holdfast kubernetes-credential work/cluster",
        places: [Place(name: "NAME", kind: .item, help: "The entry, whole.")],
        options: Options.unlocking,
        run: answerKubernetes)
}

/// An `ExecCredential` of client.authentication.k8s.io, in the version that the client asks for.
private func answerKubernetes(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let version = try ExecInfo.version()
    let access = ItemAccess(arguments)
    let found = try access.find(arguments[place: 0], .partOnTerminal)
    try vaultCall { try found.path.entry.requireOwn() }
    return try answer(found.item, version)
}

private func answer(_ item: borrowing Item, _ version: String) throws(CommandError) -> ExitCode {
    try vaultCall { try item.requireOwn() }
    let certificate = item.part("client certificate"), key = item.part("client key")
    var values: [(member: String, part: Item.Part)] = []
    if let certificate, let key { values = [("clientCertificateData", certificate), ("clientKeyData", key)] }
    if let token = item.part("token") ?? (values.isEmpty ? item.mainField.map { .field($0) } : nil) {
        values.append(("token", token))
    }
    guard !values.isEmpty else {
        throw CommandError(
            .notFound, code: .fieldNotFound,
            "this entry has no token, and not both of \"client certificate\" and \"client key\"")
    }
    var answer = SecretJSON()
    do {
        try answer.raw(
            "{\"apiVersion\":\(JSON.text(version).encoded),\"kind\":\"ExecCredential\",\"status\":{")
        for (index, value) in values.enumerated() {
            try answer.raw("\(index > 0 ? "," : "")\"\(value.member)\":")
            try item.withText(value.part, value.member) { bytes in
                try answer.value(value.member == "token" ? bytes.extracting(0..<bytes.endOfText) : bytes)
            }
        }
        try answer.raw("}}")
    } catch { throw CommandError(error) }
    try answer.write()
    return .done
}

/// What the client says about itself, in its environment.
private enum ExecInfo {
    private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]
    private static let longest = 1 << 20

    static func version() throws(CommandError) -> String {
        guard let text = unsafe getenv("KUBERNETES_EXEC_INFO") else { return versions[0] }
        let size = unsafe strnlen(text, longest + 1)
        guard size <= longest else { throw .usage("$KUBERNETES_EXEC_INFO is too long") }
        let wanted: String?
        do throws(ImportError) {
            let bytes: SecretBytes
            do throws(SecretMemoryError) {
                bytes = try SecretBytes(
                    copying: unsafe RawSpan(_unsafeStart: UnsafeRawPointer(text), byteCount: size))
            } catch { throw ImportError(error) }
            let document = try JSONDocument(bytes)
            wanted = try document.text(document.root["apiVersion"])
        } catch { throw .usage("$KUBERNETES_EXEC_INFO is not the JSON of an ExecCredential") }
        guard let wanted, versions.contains(wanted) else {
            throw .usage("the client asks for another version than \(versions[0]); set it in the kubeconfig")
        }
        return wanted
    }
}
