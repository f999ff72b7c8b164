/// The payload of a request that holds nothing but an authentication.
package struct AuthenticationRequest<Kind: Exchange, Authentication: MemberValue>: RequestPayload {
    package let nonce: NonceText
    package let authentication: Authentication

    package init(nonce: NonceText, authentication: Authentication) {
        self.nonce = nonce
        self.authentication = authentication
    }

    package init(reading reader: inout MessageReader) throws(MessageError) {
        (nonce, authentication) = try Self.read(&reader, RequestShapes.request)
    }

    package func write(to writer: inout MessageWriter) {
        write(RequestShapes.request, authentication, to: &writer)
    }
}

/// A new account with its first device. Signed by `publicKey`.
package enum CreateAccount: RoutedExchange {
    package typealias Request = AuthenticationRequest<CreateAccount, AccountAuthentication>
    package static let path = "/account/create"
}

/// A new device for an account whose devices are lost; they are all revoked. Signed by `recoveryKey`.
package enum RecoverAccount: RoutedExchange {
    package typealias Request = AuthenticationRequest<RecoverAccount, RecoveryAuthentication>
    package static let path = "/account/recover"
}

/// The end of an account. Signed by `publicKey`, the device's next key.
package enum DeleteAccount: RoutedExchange {
    package typealias Request = AuthenticationRequest<DeleteAccount, RotationAuthentication>
    package static let path = "/account/delete"
}

/// A device's next key comes into use. Signed by `publicKey`, that key.
package enum RotateDevice: RoutedExchange {
    package typealias Request = AuthenticationRequest<RotateDevice, RotationAuthentication>
    package static let path = "/device/rotate"
}

/// Another recovery key. Signed by `publicKey`, the device's next key.
package enum ChangeRecoveryKey: RoutedExchange {
    package typealias Request = AuthenticationRequest<ChangeRecoveryKey, AccountAuthentication>
    package static let path = "/recovery/change"
}
