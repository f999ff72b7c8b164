internal import CArgon2
internal import SecretMemory

/// Argon2id through libargon2, which takes salts of any size where libsodium takes 16 bytes only.
package enum LibArgon2id {
    /// Fills `output`; with Argon2d where the memory that is read may depend on the password. The caller has checked
    /// the sizes. The library wipes its working memory: FLAG_clear_internal_memory is on unless changed, and Debian's
    /// build does not even export it.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``,
    ///   ``CryptographyError/library(code:)``.
    static func derive(
        _ password: RawSpan, salt: RawSpan, passes: UInt32, memoryKiB: UInt32, lanes: UInt32,
        secret: RawSpan, associatedData: RawSpan, isDataDependent: Bool = false, into output: inout MutableRawSpan
    ) throws(CryptographyError) {
        var context = unsafe argon2_context()
        unsafe context.t_cost = passes
        unsafe context.m_cost = memoryKiB
        unsafe context.lanes = lanes
        unsafe context.threads = lanes
        unsafe context.version = ARGON2_VERSION_13.rawValue
        let status = unsafe password.withUnsafeBytes { password in
            unsafe salt.withUnsafeBytes { salt in
                unsafe secret.withUnsafeBytes { secret in
                    unsafe associatedData.withUnsafeBytes { associatedData in
                        unsafe output.withUnsafeMutableBytes { output in
                            unsafe (context.pwd, context.pwdlen) = mutable(password)
                            unsafe (context.salt, context.saltlen) = mutable(salt)
                            unsafe (context.secret, context.secretlen) = mutable(secret)
                            unsafe (context.ad, context.adlen) = mutable(associatedData)
                            unsafe (context.out, context.outlen) = mutable(UnsafeRawBufferPointer(output))
                            return unsafe isDataDependent ? argon2d_ctx(&context) : argon2id_ctx(&context)
                        }
                    }
                }
            }
        }
        guard status == ARGON2_OK.rawValue else {
            output.wipe()
            throw error(status)
        }
    }

    // The structure has no const pointers; without its CLEAR flags the library leaves the inputs alone.
    private static func mutable(_ bytes: UnsafeRawBufferPointer) -> (UnsafeMutablePointer<UInt8>?, UInt32) {
        let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe (UnsafeMutablePointer(mutating: address), UInt32(bytes.count))
    }

    private static func error(_ status: Int32) -> CryptographyError {
        switch argon2_error_codes(status) {
        case ARGON2_MEMORY_ALLOCATION_ERROR: .memory(.derivationOutOfMemory)
        case ARGON2_OUTPUT_TOO_SHORT, ARGON2_OUTPUT_TOO_LONG, ARGON2_PWD_TOO_LONG, ARGON2_SALT_TOO_SHORT,
            ARGON2_SALT_TOO_LONG, ARGON2_AD_TOO_LONG, ARGON2_SECRET_TOO_LONG, ARGON2_TIME_TOO_SMALL,
            ARGON2_TIME_TOO_LARGE, ARGON2_MEMORY_TOO_LITTLE, ARGON2_MEMORY_TOO_MUCH, ARGON2_LANES_TOO_FEW,
            ARGON2_LANES_TOO_MANY:
            .invalidSize
        default: .library(code: UInt(status.magnitude))
        }
    }
}
