// The module's one header is its module; SwiftPM wants a source.
