internal import BetterAuthServer
internal import CPQ

/// One connection to PostgreSQL, used by one thread at a time.
@safe final class PostgresConnection: @unchecked Sendable {  // handed from thread to thread, never shared
    private let handle: OpaquePointer

    /// Milliseconds for a statement. It must end well before what was published about it expires.
    static let statementTimeout = 5000

    /// - Parameter url: A connection URL or a string of keywords, as libpq takes them.
    /// - Throws: ``StoreError/unavailable(_:)``; its text names neither user nor password.
    init(_ url: SecretText) throws(StoreError) {
        let limits = ["3", String(PostgresConnection.statementTimeout)]
        let made = unsafe PostgresConnection.withCStrings(["dbname", "connect_timeout", "tcp_user_timeout"]) { names in
            unsafe url.withCString { url in
                unsafe PostgresConnection.withCStrings(limits, behind: url) { unsafe PQconnectdbParams(names, $0, 1) }
            }
        }
        guard let made = unsafe made else { throw .unavailable("PostgreSQL: no memory") }
        unsafe handle = made
        // A connection that failed has to be let go like any other: `deinit` does.
        guard unsafe PQstatus(handle) == CONNECTION_OK else {
            let message = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
            throw .unavailable(PostgresCodes.connection(message))
        }
        try run("SET statement_timeout = \(PostgresConnection.statementTimeout)")
        try run("SET default_transaction_isolation = 'read committed'")
        try run("SET client_min_messages = warning")
    }

    deinit { unsafe PQfinish(handle) }

    private static func withCStrings<R>(
        _ texts: [String], behind first: UnsafePointer<CChar>? = nil,
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
        let bytes = texts.map { Array($0.utf8CString) }
        let flat = bytes.flatMap(\.self)
        return unsafe flat.withUnsafeBufferPointer { flat in
            var start = 0
            var pointers: [UnsafePointer<CChar>?] = unsafe first.map { unsafe [$0] } ?? []
            for text in bytes {
                unsafe pointers.append(flat.baseAddress.map { unsafe $0 + start })
                start += text.count
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let base = list.baseAddress else { preconditionFailure("a list with an end has a start") }
                return unsafe body(base)
            }
        }
    }

    /// Whether it can continue: it is there, and in no transaction.
    var isGood: Bool { unsafe PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// The result of a statement.
    @safe final class Rows {
        private let result: OpaquePointer
        init(owning result: OpaquePointer) { unsafe self.result = result }
        deinit { unsafe PQclear(result) }

        var count: Int { unsafe Int(PQntuples(result)) }

        /// Rows that were changed.
        var changed: Int { unsafe PQcmdTuples(result).flatMap { unsafe Int(String(cString: $0)) } ?? 0 }

        /// Binary.
        func bytes(_ row: Int, _ column: Int) -> [UInt8] {
            guard let value = unsafe PQgetvalue(result, Int32(row), Int32(column)) else { return [] }
            let count = unsafe Int(PQgetlength(result, Int32(row), Int32(column)))
            return unsafe Array(UnsafeRawBufferPointer(start: value, count: count))
        }

        func number(_ row: Int, _ column: Int) -> Int64 {
            bytes(row, column).reduce(0) { $0 << 8 | Int64($1) }
        }
    }

    /// Why a statement failed.
    enum Failure: Error {
        /// Another transaction was in the way; the same may work now.
        case conflict
        /// Something that a code tells (PostgreSQL, appendix A).
        case code(String)
        case store(StoreError)
    }

    func run(_ text: String) throws(StoreError) {
        do throws(Failure) {
            _ = try unsafe check(PQexec(handle, text))
        } catch {
            throw error.store
        }
    }

    /// Runs a statement that has no parameters; its results are binary.
    func query(_ text: String) throws(Failure) -> Rows {
        try unsafe check(PQexecParams(handle, text, 0, nil, nil, nil, nil, 1))
    }

    func prepare(_ name: String, _ text: String) throws(StoreError) {
        do throws(Failure) {
            _ = try unsafe check(PQprepare(handle, name, text, 0, nil))
        } catch {
            throw error.store
        }
    }

    /// Runs a prepared statement; all values and results are binary.
    func execute(_ name: String, _ values: [[UInt8]]) throws(Failure) -> Rows {
        let sizes = values.map { Int32(clamping: $0.count) }
        let formats = [Int32](repeating: 1, count: values.count)
        let flat = values.flatMap(\.self) + [0]
        let result = unsafe flat.withUnsafeBytes { flat in
            var start = 0
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for value in values {
                unsafe pointers.append(flat.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self))
                start += value.count
            }
            return unsafe PQexecPrepared(handle, name, Int32(values.count), pointers, sizes, formats, 1)
        }
        return try unsafe check(result)
    }

    private func check(_ result: OpaquePointer?) throws(Failure) -> Rows {
        guard let result = unsafe result else { throw .store(.unavailable("PostgreSQL: no memory or no connection")) }
        let rows = unsafe Rows(owning: result)
        let status = unsafe PQresultStatus(result)
        if status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK { return rows }
        // The code is one of a list (SQL:2023, and PostgreSQL's appendix A); the message might show a value.
        let code = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { unsafe String(cString: $0) }
        if code == "40001" || code == "40P01" { throw .conflict }
        guard let code else { throw .store(.unavailable("PostgreSQL: the connection is lost")) }
        throw .code(code)
    }
}

extension PostgresConnection.Failure {
    var store: StoreError {
        switch self {
        case .conflict: .unavailable("PostgreSQL: too many conflicts")
        case .code(let code): .unavailable("PostgreSQL: \(PostgresCodes.words(code))")
        case .store(let error): error
        }
    }
}
