#if canImport(Security)
/// HTTP as this system does it.
public typealias SystemTransport = URLSessionTransport
#else
/// HTTP as this system does it.
public typealias SystemTransport = CurlTransport
#endif
