// Right with glibc and wrong on Darwin, or the other way about: what the stand-in must refuse, and what it must take.
// Compiled by scripts/check-apple with -verify; nothing of it runs.
import Darwin

func takes() -> Int64 {
    var status = stat()
    guard unsafe stat("/", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return 0 }
    errno = 0
    let file = unsafe open("/x", O_RDWR | O_CREAT, 0o600)
    if errno == ENOENT { return Int64(fcntl(file, F_FULLFSYNC)) }
    var thread: pthread_t?
    let made = unsafe pthread_create(&thread, nil, { _ in nil }, nil)
    if made == 0, let thread = unsafe thread { unsafe pthread_detach(thread) }
    var set = sigset_t()
    unsafe sigfillset(&set)
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_UPTIME_RAW, &time) == 0 else { return 0 }
    guard unsafe mmap(nil, 1, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0) != MAP_FAILED else { return 1 }
    return Int64(status.st_mtimespec.tv_sec)
}

func sizes(_ mode: UInt32, _ count: UInt) -> Any {
    _ = unsafe chmod("/x", mode)  // expected-error {{'UInt32' to expected argument type 'UInt16'}}
    var file = pollfd()
    _ = unsafe poll(&file, count, 0)  // expected-error {{'UInt' to expected argument type 'UInt32'}}
    let device: UInt64 = stat().st_dev  // expected-error {{'Int32' to specified type 'UInt64'}}
    let links: UInt64 = stat().st_nlink  // expected-error {{'UInt16' to specified type 'UInt64'}}
    let room: UInt = statvfs().f_bavail  // expected-error {{'UInt32' to specified type 'UInt'}}
    let number: UInt = pthread_self() & ~3  // expected-error {{to expected argument type 'UInt'}}
    let thread: pthread_t = 0  // expected-error {{'Int' to specified type 'pthread_t'}}
    return (device, links, room, number, unsafe thread)
}

func pointers(_ folder: OpaquePointer, _ bytes: UnsafeMutableRawPointer) {
    _ = unsafe readdir(folder)  // expected-error {{'OpaquePointer' to expected argument type}}
    var time = timespec()
    _ = unsafe clock_gettime(3, &time)  // expected-error {{'Int' to expected argument type 'clockid_t'}}
}

struct Unsafe { var thread: pthread_t? }  // expected-warning {{unsafe types}} expected-note 2 {{add '@}} expected-note {{involves unsafe}}

func names(_ bytes: UnsafeMutableRawPointer, _ files: inout [Int32]) {
    unsafe explicit_bzero(bytes, 1)  // expected-error {{cannot find}}
    _ = fdatasync(1)  // expected-error {{cannot find}}
    _ = gettid()  // expected-error {{cannot find}}
    _ = memfd_create("x", 0)  // expected-error {{cannot find}}
    _ = unsafe getrandom(bytes, 1, 0)  // expected-error {{cannot find}}
    _ = unsafe pipe2(&files, O_CLOEXEC)  // expected-error {{cannot find}}
    _ = unsafe accept4(0, 0, 0, 0)  // expected-error {{cannot find}}
    _ = stat().st_mtim  // expected-error {{no member 'st_mtim'}}
    _ = CLOCK_BOOTTIME  // expected-error {{cannot find}}
    _ = MADV_DONTDUMP  // expected-error {{cannot find}}
    _ = RLIMIT_CORE.rawValue  // expected-error {{no member 'rawValue'}}
}
