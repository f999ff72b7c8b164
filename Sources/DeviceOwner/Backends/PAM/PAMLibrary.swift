internal import CPAM
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// The functions of libpam, loaded when a passcode is asked for the first time.
@safe struct PAMLibrary: @unchecked Sendable {  // written once, before it is shared
    private let call: cpam

    static let loaded: PAMLibrary? = {
        var table = cpam()
        guard unsafe cpam_load(&table) == 1 else { return nil }
        return PAMLibrary(call: table)
    }()

    private init(call: cpam) { self.call = call }

    /// Asks for the passcode, then whether the account may be used at all.
    func check(service: String, folder: String?, user: String, _ talk: PAMTalk) -> Int32 {
        // The conversation is used during this call only; `talk` outlives it.
        var conversation = unsafe pam_conv(
            conv: PAMTalk.answer, appdata_ptr: Unmanaged.passUnretained(talk).toOpaque())
        var handle: OpaquePointer?
        var status =
            if let folder {
                unsafe call.start_confdir(service, user, &conversation, folder, &handle)
            } else {
                unsafe call.start(service, user, &conversation, &handle)
            }
        guard status == PAM_SUCCESS, let handle = unsafe handle else { return status == PAM_SUCCESS ? -1 : status }
        status = unsafe call.authenticate(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK))
        if status == PAM_SUCCESS { status = unsafe call.acct_mgmt(handle, 0) }
        unsafe _ = call.end(handle, status)
        return status
    }
}

/// PAM's side of a conversation. Used by one thread, the one that calls PAM.
final class PAMTalk {
    private let conversation: any OwnerConversation
    private let deadline: UInt64
    private(set) var isCancelled = false
    private(set) var isLate = false
    private(set) var hasAsked = false

    init(_ conversation: any OwnerConversation, _ deadline: UInt64) {
        self.conversation = conversation
        self.deadline = deadline
    }

    /// The callback that PAM has (pam_conv(3)).
    static let answer:
        @convention(c) (
            Int32, UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, UnsafeMutableRawPointer?
        ) -> Int32 = { count, messages, replies, talk in
            guard let messages = unsafe messages, let replies = unsafe replies, let talk = unsafe talk,
                (1...Int32(PAM_MAX_NUM_MSG)).contains(count)
            else { return PAM_CONV_ERR }
            let this = unsafe Unmanaged<PAMTalk>.fromOpaque(talk).takeUnretainedValue()
            return unsafe this.answer(Int(count), messages, replies)
        }

    @unsafe private func answer(
        _ count: Int, _ messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>,
        _ replies: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>
    ) -> Int32 {
        // PAM frees both the array and the answers, so they come from its own allocator.
        guard let memory = unsafe calloc(count, MemoryLayout<pam_response>.stride) else { return PAM_BUF_ERR }
        let answers = unsafe memory.bindMemory(to: pam_response.self, capacity: count)
        for index in 0..<count {
            let isAnswered = unsafe reply(to: messages[index], in: &answers[index])
            guard isAnswered else {
                unsafe PAMTalk.wipe(answers, count)
                return PAM_CONV_ERR
            }
        }
        unsafe replies.pointee = unsafe answers
        return PAM_SUCCESS
    }

    @unsafe private func reply(to message: UnsafePointer<pam_message>?, in answer: inout pam_response) -> Bool {
        guard let message = unsafe message else { return false }
        let text = unsafe message.pointee.msg.map { unsafe String(cString: $0) } ?? ""
        let prompt: OwnerPrompt
        switch unsafe message.pointee.msg_style {
        case PAM_PROMPT_ECHO_OFF: prompt = .hidden(text)
        case PAM_PROMPT_ECHO_ON: prompt = .shown(text)
        case PAM_ERROR_MSG: prompt = .problem(text)
        case PAM_TEXT_INFO: prompt = .information(text)
        default: return false
        }
        guard !conversation.cancellation.isCancelled else {
            isCancelled = true
            return false
        }
        guard MonotonicClock.milliseconds < deadline else {
            isLate = true
            return false
        }
        let typed = conversation.ask(prompt)
        guard prompt.needsAnswer else { return true }
        switch consume typed {
        case .none:
            isCancelled = true
            return false
        case .some(let secret):
            hasAsked = true
            conversation.show(.checking)
            unsafe answer.resp = PAMTalk.copy(secret)
            return unsafe answer.resp != nil
        }
    }

    /// A C string of PAM's own; nil for one that would end early.
    @unsafe private static func copy(_ secret: borrowing SecretBytes) -> UnsafeMutablePointer<CChar>? {
        guard let text = unsafe calloc(secret.count + 1, 1)?.assumingMemoryBound(to: CChar.self) else { return nil }
        let isWhole = secret.withBytes { bytes in
            for offset in 0..<bytes.byteCount {
                let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                if byte == 0 { return false }
                unsafe text[offset] = CChar(bitPattern: byte)
            }
            return true
        }
        guard isWhole else {
            unsafe explicit_bzero(text, secret.count)
            unsafe free(text)
            return nil
        }
        return unsafe text
    }

    @unsafe private static func wipe(_ answers: UnsafeMutablePointer<pam_response>, _ count: Int) {
        for index in 0..<count {
            guard let text = unsafe answers[index].resp else { continue }
            unsafe explicit_bzero(text, strlen(text))
            unsafe free(text)
        }
        unsafe free(answers)
    }
}
