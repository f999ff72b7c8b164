/// The payload of a request that holds nothing but an authentication.
package struct AuthenticationRequest<Kind: Exchange, Authentication: AuthenticationPart>: RequestPayload {
    package let nonce: NonceText
    package let authentication: Authentication

    package init(nonce: NonceText, authentication: Authentication) {
        self.nonce = nonce
        self.authentication = authentication
    }

    package init(reading reader: inout MessageReader) throws(MessageError) {
        let (payload, nonce) = try Self.readHead(&reader)
        self.nonce = nonce
        var request = try reader.open(RequestShapes.request)
        try reader.member(&request)
        authentication = try Authentication(reading: &reader)
        try reader.close(request)
        try reader.close(payload)
    }

    package func write(to writer: inout MessageWriter) {
        writeHead(&writer)
        writer.literal(#"{"authentication":"#)
        authentication.write(to: &writer)
        writer.literal("}}")
    }
}

/// A new account with its first device. Signed by `publicKey`.
package enum CreateAccount: RoutedExchange {
    package typealias Request = AuthenticationRequest<CreateAccount, AccountAuthentication>
    package typealias ResponseBody = EmptyBody
    package static let path = "/account/create"
}

/// A new device for an account whose devices are lost; they are all revoked. Signed by `recoveryKey`.
package enum RecoverAccount: RoutedExchange {
    package typealias Request = AuthenticationRequest<RecoverAccount, RecoveryAuthentication>
    package typealias ResponseBody = EmptyBody
    package static let path = "/account/recover"
}

/// The end of an account. Signed by `publicKey`, the device's next key.
package enum DeleteAccount: RoutedExchange {
    package typealias Request = AuthenticationRequest<DeleteAccount, RotationAuthentication>
    package typealias ResponseBody = EmptyBody
    package static let path = "/account/delete"
}

/// A device's next key comes into use. Signed by `publicKey`, that key.
package enum RotateDevice: RoutedExchange {
    package typealias Request = AuthenticationRequest<RotateDevice, RotationAuthentication>
    package typealias ResponseBody = EmptyBody
    package static let path = "/device/rotate"
}

/// Another recovery key. Signed by `publicKey`, the device's next key.
package enum ChangeRecoveryKey: RoutedExchange {
    package typealias Request = AuthenticationRequest<ChangeRecoveryKey, AccountAuthentication>
    package typealias ResponseBody = EmptyBody
    package static let path = "/recovery/change"
}
