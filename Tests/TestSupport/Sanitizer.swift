import Foundation

/// The thread or the address sanitizer in this process, and in what it starts of ours.
package enum Sanitizer {
    /// What is freed stays in memory for a while then, and everything has a shadow: sizes say nothing.
    package static let isPresent = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
