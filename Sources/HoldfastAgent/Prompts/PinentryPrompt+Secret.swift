internal import DeviceOwner
internal import ProgramProtocols
internal import SecretMemory
internal import VaultFormat
internal import SystemCalls

extension PinentryPrompt {
    /// Reads the answer to GETPIN into locked memory.
    /// - Returns: Nil without a secret; `outcome` says why, and stays nil when the time is over.
    static func readSecret(
        _ socket: Int32, _ deadline: UInt64, _ cancellation: Cancellation, while isWanted: (() -> Bool)?,
        _ outcome: inout PinentryDialog.Outcome?
    ) -> Body? {
        guard var answer = try? SecretBytes(zeroed: PinentryEntry.longest) else {
            outcome = .failed
            return nil
        }
        var count = 0
        while PromptWait.isReady(socket, Int16(POLLIN), deadline, cancellation, while: isWanted) {
            let got = answer.withMutableBytes { answer in
                unsafe answer.withUnsafeMutableBytes { answer in
                    unsafe recv(socket, answer.baseAddress.map { unsafe $0 + count }, answer.count - count, 0)
                }
            }
            if got < 0, errno == EINTR || errno == EAGAIN { continue }
            guard got > 0 else {
                outcome = .failed
                return nil
            }
            count += got
            switch answer.withBytes({ PinentryEntry($0.extracting(0..<count)) }) {
            case .wait: continue
            case .ended(let end):
                outcome = end
                return nil
            case .entered(let pieces):
                let secret: Body? = answer.withBytes { PinentryPrompt.secret(in: $0, pieces) }
                outcome = secret == nil ? .hostile : .allowed
                _ = unsafe LocalSocket.send(socket, Array("BYE\n".utf8).span.bytes)
                return secret
            }
        }
        return nil
    }

    private static func secret(in answer: RawSpan, _ pieces: [Range<Int>]) -> Body? {
        var secret = SecretBuffer(limit: UnlockSecret.sizes.upperBound)
        for piece in pieces {
            let isWhole = PinentryEntry.decode(answer, piece) { byte in
                do { try secret.append(byte) } catch { return false }
                return true
            }
            guard isWhole else { return nil }
        }
        do { return Body(try secret.bytes()) } catch { return nil }
    }
}
