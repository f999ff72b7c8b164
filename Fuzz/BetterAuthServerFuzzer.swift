// Compiled by scripts/fuzz against the modules of the server, so normal builds know nothing of it. A violated rule
// traps, which libFuzzer reports with the input that led there.
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import Cryptography
import SecretMemory

/// The first byte of an input says what is posted: an operation in its low bits, and with bit 4 a body whose signatures
/// are made anew, by the keys below, so that what lies behind them is reached. The rest is the body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let choice = unsafe start[0]
    let operation = AuthOperation.allCases[Int(choice & 15) % AuthOperation.allCases.count]
    var body = unsafe Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    if choice & 16 != 0 { body = Cast.all.signed(body, operation) }
    let server = Cast.all.server()
    let first = post(server, operation, body)
    check(first, operation, body)
    // Once more, byte by byte: what was done is answered with the same bytes, what was refused stays refused.
    let second = post(server, operation, body)
    check(second, operation, body)
    if operation != .requestSession {
        require(first.code == second.code, "a repeat is judged otherwise")
        if first.code == nil { require(first.body == second.body, "a repeat gets another reply") }
    }
    guard let account = try? server.store.account(Cast.all.identity) else {
        return require(false, "the account is gone")
    }
    require(account.devices.count <= Account.maximumDevices, "too many devices")
    require(!account.isDeleted || account.devices.isEmpty, "a deleted account has devices")
    return 0
}

private func post(_ server: AuthServer, _ operation: AuthOperation, _ body: [UInt8]) -> ServerReply {
    let replies = Replies()
    server.handle(operation, body) { replies.all.append($0) }
    require(replies.all.count == 1, "a request is not answered once")
    return replies.all[0]
}

private final class Replies: @unchecked Sendable {  // one thread's: the memory store answers before it returns
    var all: [ServerReply] = []
}

private func check(_ reply: ServerReply, _ operation: AuthOperation, _ body: [UInt8]) {
    guard let code = reply.code else {
        switch operation {
        case .createAccount: checkResponse(reply, body, CreateAccount.self)
        case .recoverAccount: checkResponse(reply, body, RecoverAccount.self)
        case .deleteAccount: checkResponse(reply, body, DeleteAccount.self)
        case .rotateDevice: checkResponse(reply, body, RotateDevice.self)
        case .linkDevice: checkResponse(reply, body, LinkDevice.self)
        case .unlinkDevice: checkResponse(reply, body, UnlinkDevice.self)
        case .changeRecoveryKey: checkResponse(reply, body, ChangeRecoveryKey.self)
        case .createSession: checkResponse(reply, body, CreateSession.self)
        case .refreshSession: checkResponse(reply, body, RefreshSession.self)
        case .requestSession:
            let nonce = (try? UnsignedMessage<RequestSession.Request>(parsing: body))?.payload.nonce
            checkResponse(reply, nonce, RequestSession.self)
        }
        return
    }
    require(code != .base, "a client causes a fault of the server")
    require(reply.status == code.httpStatus && reply.status >= 400, "a refusal with another status")
    let failure = unsafe ServerFailure(parsing: reply.body.span.bytes)
    require(failure?.code == code, "a refusal that clients cannot read")
    require(reply.body.count < 1024, "a refusal echoes what it was sent")
}

private func checkResponse<X: RoutedExchange>(_ reply: ServerReply, _ body: [UInt8], _ kind: X.Type) {
    checkResponse(reply, (try? SignedMessage<X.Request>(parsing: body))?.payload.nonce, kind)
}

private func checkResponse<X: RoutedExchange>(_ reply: ServerReply, _ nonce: NonceText?, _ kind: X.Type) {
    guard let nonce, let response = try? SignedMessage<Response<X>>(parsing: reply.body) else {
        require(false, "something else than a message is answered, or with something else")
        return
    }
    require(reply.status == 200 && response.payload.nonce == nonce, "a response to another request")
    let isAuthentic = response.withSignedBytes { bytes in
        response.signature.withRawBytes { Cast.all.response.verifier.isValid(signature: $0, for: bytes) }
    }
    require(isAuthentic, "a response that the server has not signed")
}

@discardableResult
private func require(_ holds: Bool, _ rule: StaticString) -> CInt {
    if !holds { fatalError("\(rule)") }  // because: this is how libFuzzer hears of it
    return 0
}
