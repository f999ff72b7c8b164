internal import BetterAuthMessages
internal import Cryptography

extension AuthServer {
    func createAccount(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: CreateAccount.Request.self)
        let account = message.payload.authentication
        answer.concerns(account.identity)
        let key = try verify(message, with: account.publicKey)
        try check { () throws(ProtocolError) in try Derivations.server.check(newAccount: account) }
        _ = try expectProgress(account.publicKey, account.rotationHash)
        let device = Account.Device(
            id: account.device, publicKey: account.publicKey, rotationHash: account.rotationHash)
        try commit(
            .create(device, account.recoveryHash), of: account.identity, [(account.publicKey, key)], CreateAccount.self,
            message, body, answer)
    }

    func rotateDevice(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: RotateDevice.Request.self)
        answer.concerns(message.payload.authentication.identity)
        let (rotation, key) = try verifiedRotation(message, message.payload.authentication)
        try commit(
            .rotate(rotation), of: message.payload.authentication.identity, [(rotation.publicKey, key)],
            RotateDevice.self, message, body, answer)
    }

    func linkDevice(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: LinkDevice.Request.self)
        let payload = message.payload
        answer.concerns(payload.authentication.identity)
        let (rotation, key) = try verifiedRotation(message, payload.authentication)
        let new = payload.container.payload.authentication
        let newKey = try verify(payload.container, with: new.publicKey)
        try check { () throws(ProtocolError) in
            try payload.checkIdentities()
            try Derivations.server.check(device: new.device, new.publicKey, new.rotationHash)
        }
        _ = try expectProgress(new.publicKey, new.rotationHash)
        let device = Account.Device(id: new.device, publicKey: new.publicKey, rotationHash: new.rotationHash)
        try commit(
            .link(rotation, device), of: payload.authentication.identity,
            [(rotation.publicKey, key), (new.publicKey, newKey)], LinkDevice.self, message, body, answer)
    }

    func unlinkDevice(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: UnlinkDevice.Request.self)
        let payload = message.payload
        answer.concerns(payload.authentication.identity)
        let (rotation, key) = try verifiedRotation(message, payload.authentication)
        try commit(
            .unlink(rotation, payload.device), of: payload.authentication.identity, [(rotation.publicKey, key)],
            UnlinkDevice.self, message, body, answer)
    }

    func changeRecoveryKey(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: ChangeRecoveryKey.Request.self)
        let change = message.payload.authentication
        answer.concerns(change.identity)
        let key = try verify(message, with: change.publicKey)
        let revealed = try expectProgress(change.publicKey, change.rotationHash)
        let rotation = AccountChange.Rotation(
            device: change.device, publicKey: change.publicKey, revealed: revealed, rotationHash: change.rotationHash)
        try commit(
            .changeRecovery(rotation, change.recoveryHash), of: change.identity, [(change.publicKey, key)],
            ChangeRecoveryKey.self, message, body, answer)
    }

    func deleteAccount(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: DeleteAccount.Request.self)
        answer.concerns(message.payload.authentication.identity)
        let (rotation, _) = try verifiedRotation(message, message.payload.authentication)
        try commit(
            .delete(rotation), of: message.payload.authentication.identity, [], DeleteAccount.self, message, body,
            answer)
    }

    func recoverAccount(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: RecoverAccount.Request.self)
        let recovery = message.payload.authentication
        answer.concerns(recovery.identity)
        try verify(message, with: recovery.recoveryKey)
        try check { () throws(ProtocolError) in
            try Derivations.server.check(device: recovery.device, recovery.publicKey, recovery.rotationHash)
        }
        _ = try expectProgress(recovery.publicKey, recovery.rotationHash)
        let revealed = Derivations.server.recoveryHash(of: recovery.recoveryKey)
        let device = Account.Device(
            id: recovery.device, publicKey: recovery.publicKey, rotationHash: recovery.rotationHash)
        try commit(
            .recover(device, revealed: revealed, next: recovery.recoveryHash), of: recovery.identity, [],
            RecoverAccount.self, message, body, answer)
    }

    private func verifiedRotation<Payload>(
        _ message: SignedMessage<Payload>, _ authentication: RotationAuthentication
    ) throws(Refusal) -> (AccountChange.Rotation, P256PublicKey) {
        let key = try verify(message, with: authentication.publicKey)
        let revealed = try expectProgress(authentication.publicKey, authentication.rotationHash)
        let rotation = AccountChange.Rotation(
            device: authentication.device, publicKey: authentication.publicKey, revealed: revealed,
            rotationHash: authentication.rotationHash)
        return (rotation, key)
    }

    /// Signs the reply, and sends it once the store has committed change and reply together.
    /// - Parameter imported: Keys of devices that the change registers, which their sessions will be opened with.
    private func commit<Kind: RoutedExchange>(
        _ change: AccountChange.Kind, of identity: IdentityID, _ imported: [(text: PublicKeyText, key: P256PublicKey)],
        _ kind: Kind.Type,
        _ message: SignedMessage<Kind.Request>, _ body: [UInt8], _ answer: Answer
    ) throws(Refusal) where Kind.ResponseBody == EmptyBody {
        let now = clock.now
        let nonce = message.payload.nonce
        let response = try respond(to: nonce, EmptyBody(), kind, now: now)
        let reply = CommittedReply(
            operation: unsafe OperationKey(path: Kind.path, body: body.span.bytes),
            serverIdentity: response.payload.serverIdentity, signature: response.signature,
            until: now.adding(seconds: lifetimes.reply))
        let change = AccountChange(identity: identity, kind: change, reply: reply, moment: now)
        store.apply(change) { [self] result in
            switch result {
            case .success(.committed):
                for (text, key) in imported { knownKeys.keep(key, for: text) }
                answer(ServerReply(response.bytes))
            case .success(.repeated(let reply)):
                let response = Response<Kind>(nonce: nonce, serverIdentity: reply.serverIdentity, body: EmptyBody())
                answer(ServerReply(SignedMessage(response, signature: reply.signature).bytes, isRepeated: true))
            case .success(.refused(let error)): answer(ServerReply(error))
            case .failure(let error): answer(ServerReply(.store(error)))
            }
        }
    }
}
