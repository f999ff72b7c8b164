internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension Agent {
    func openSession(_ call: BusCall, _ endpoint: SecretServiceEndpoint) -> Bool {
        guard let algorithm = call.text(atMost: 255) else { return false }
        guard endpoint.sessions.hasRoom(for: call.sender) else {
            call.fail(SecretServiceError.limits, "too many sessions are open")
            return true
        }
        var (cipher, publicNumber): (SecretServiceCipher, [UInt8]?)
        switch algorithm {
        case SecretServiceCipher.plain: (cipher, publicNumber) = (SecretServiceCipher(), nil)
        case SecretServiceCipher.agreed:
            guard call.enter("v", "ay"), let peer = call.bytes(atMost: 128),
                let agreed = peer.withBytes({ SecretServiceCipher.agree(with: $0) })
            else { return false }
            (cipher, publicNumber) = (agreed.cipher, agreed.publicNumber)
        default:
            call.fail(SecretServiceError.notSupported, "this algorithm is not known")
            return true
        }
        guard let reply = call.reply(), let number = endpoint.sessions.open(endpoint.client(call.sender), cipher) else {
            return true
        }
        reply.container("v", publicNumber == nil ? "s" : "ay") {
            if let publicNumber { unsafe reply.bytes(publicNumber.span.bytes) } else { reply.text("") }
        }
        reply.path(SecretServicePath.session(number).text)
        reply.send()
        surveySecrets()
        return true
    }

    /// A collection of Holdfast's is there as soon as something is in it, so there is nothing to make.
    func createCollection(_ call: BusCall) -> Bool {
        guard let found = call.properties("org.freedesktop.Secret.Collection"), let alias = call.text(atMost: 255)
        else { return false }
        let place = SecretServiceWork.Place(alias: alias) ?? .folder(found.label)
        guard !place.label.isEmpty, place.label.utf8.count <= SecretServicePath.longestCollection else { return false }
        guard isServingSecrets else {
            refuseLocked(call)
            return true
        }
        answer(.created(place.path, isNew: true), to: call, .createCollection)
        return true
    }
}
