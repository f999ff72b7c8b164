#if canImport(Security)
/// HTTP as this system does it.
package typealias SystemTransport = URLSessionTransport
#else
/// HTTP as this system does it.
package typealias SystemTransport = CurlTransport
#endif
