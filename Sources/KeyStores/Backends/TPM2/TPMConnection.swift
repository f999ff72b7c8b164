internal import CTSS2
internal import SecretMemory
internal import SystemCalls

/// Where the chip is reached.
package struct TPMLocation: Sendable, Hashable {
    /// As the stack's loader takes it: `device:/dev/tpmrm0`, `swtpm:path=...`.
    package let configuration: String

    package init(_ configuration: String) { self.configuration = configuration }

    /// `$HOLDFAST_TPM`, else the kernel's resource manager; nil where there is neither.
    package static var standard: TPMLocation? {
        if let value = unsafe getenv("HOLDFAST_TPM"), unsafe value.pointee != 0 {
            return unsafe String(validatingCString: value).map(TPMLocation.init)
        }
        let device = "/dev/tpmrm0"
        return unsafe access(device, F_OK) == 0 ? TPMLocation("device:" + device) : nil
    }
}

/// One conversation with the chip: opened for one operation and closed after it, so that nothing of ours stays in the
/// chip's few slots. Used by one thread.
@safe final class TPMConnection {
    let context: OpaquePointer
    private let transport: OpaquePointer

    static let none = UInt32(ESYS_TR_NONE)

    /// - Throws: ``KeyStoreError`` (`unavailable`, `busy`).
    init(_ location: TPMLocation) throws(KeyStoreError) {
        TPMConnection.silence()
        var transport: OpaquePointer?
        var context: OpaquePointer?
        guard unsafe Tss2_TctiLdr_Initialize(location.configuration, &transport) == 0, let opened = unsafe transport
        else {
            throw KeyStoreError(.unavailable, "no TPM answers at \(location.configuration)")
        }
        let code = unsafe Esys_Initialize(&context, opened, nil)
        guard code == 0, let initialized = unsafe context else {
            unsafe Tss2_TctiLdr_Finalize(&transport)
            throw TPMFailure(code: code, operation: "initialize").error
        }
        unsafe self.transport = opened
        unsafe self.context = initialized
        do throws(TPMFailure) {
            try start()
            try flushLeftovers()
        } catch { throw error.error }
    }

    deinit {
        var context: OpaquePointer? = unsafe context
        var transport: OpaquePointer? = unsafe transport
        unsafe Esys_Finalize(&context)
        unsafe Tss2_TctiLdr_Finalize(&transport)
    }

    /// The stack writes its own lines to standard error unless it is told not to.
    private static func silence() { unsafe setenv("TSS2_LOG", "all+NONE", 0) }

    /// A chip behind no resource manager may never have been started.
    private func start() throws(TPMFailure) {
        let code = unsafe Esys_Startup(context, UInt16(TPM2_SU_CLEAR))
        guard code == 0 || TPMFailure(code: code, operation: "").meaning == CTSS2_INITIALIZE else {
            throw TPMFailure(code: code, operation: "startup")
        }
    }

    /// What a process that was killed left in a chip behind no resource manager. Behind one we see only our own:
    /// nothing.
    private func flushLeftovers() throws(TPMFailure) {
        let kinds: [UInt32] = [0x8000_0000, 0x0200_0000, 0x0300_0000]  // transient objects, loaded and saved sessions
        for first in kinds {
            for handle in try handles(from: first) {
                var object: ESYS_TR = 0
                guard
                    unsafe Esys_TR_FromTPMPublic(
                        context, handle, TPMConnection.none, TPMConnection.none, TPMConnection.none, &object) == 0
                else { continue }
                unsafe Esys_FlushContext(context, object)
            }
        }
    }

    /// Handles of one kind that the chip holds.
    func handles(from first: UInt32) throws(TPMFailure) -> [UInt32] {
        try unsafe capability(UInt32(TPM2_CAP_HANDLES), first, count: 254) { data in
            // TPML_HANDLE: a count, then the handles.
            let count = unsafe min(Int(data.load(as: UInt32.self)), 254)
            return (0..<count).map { unsafe data.load(fromByteOffset: 4 + 4 * $0, as: UInt32.self) }
        }
    }

    /// One property of the chip; nil when it has none of this number.
    func property(_ number: UInt32) throws(TPMFailure) -> UInt32? {
        try unsafe capability(UInt32(TPM2_CAP_TPM_PROPERTIES), number, count: 1) { data in
            guard unsafe data.load(as: UInt32.self) > 0,
                unsafe data.load(fromByteOffset: 4, as: UInt32.self) == number
            else { return nil }
            return unsafe data.load(fromByteOffset: 8, as: UInt32.self)
        }
    }

    private func capability<R>(
        _ capability: UInt32, _ first: UInt32, count: UInt32, _ body: (UnsafeRawPointer) -> R
    ) throws(TPMFailure) -> R {
        var more: TPMI_YES_NO = 0
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        try tpm("get capability") {
            unsafe Esys_GetCapability(
                context, TPMConnection.none, TPMConnection.none, TPMConnection.none, capability, first, count, &more,
                &data)
        }
        defer { unsafe Esys_Free(data) }
        guard let data = unsafe data else { throw TPMFailure(code: CTSS2_RETRY, operation: "get capability") }
        return unsafe body(UnsafeRawPointer(data.member(\.data)))
    }

    /// The name by which the chip vouches for an object: its public area's digest.
    func objectName(_ object: ESYS_TR) throws(TPMFailure) -> [UInt8] {
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        try tpm("get name") { unsafe Esys_TR_GetName(context, object, &name) }
        defer { unsafe Esys_Free(name) }
        return unsafe name?.array ?? []
    }
}

/// A loaded object or session, flushed when its owner goes.
struct TPMHandle: ~Copyable {
    let number: ESYS_TR
    private let connection: TPMConnection

    init(_ number: ESYS_TR, _ connection: TPMConnection) {
        self.number = number
        self.connection = connection
    }

    deinit { unsafe _ = Esys_FlushContext(connection.context, number) }
}
