import Foundation

/// The service manager of systemd for a user (`systemd --user`), for one script and its units: in name spaces of its
/// own and below a control group of its own, so that it sees and changes nothing of the machine's.
package enum UserManager {
    /// Whether it runs here. Control groups of version 1 only, with the hierarchy that systemd names.
    package static let isAllowed =
        geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd")
        && FileManager.default.fileExists(atPath: groups + "/cgroup.procs")
        && (try? Spawned(
            ["unshare", "-C", "-m", "mount", "-t", "cgroup", "-o", "none,name=systemd", "cgroup", "/mnt"]
        ).wait()) == 0

    private static let groups = "/sys/fs/cgroup/systemd"

    /// Words that run a script of the shell beside the manager, which ends with it.
    /// - Parameters:
    ///   - script: Its path.
    ///   - units: The folder of the units. Besides, there are the targets that sockets and services refer to.
    package static func words(_ script: String, units: String) throws -> [String] {
        for target in ["basic", "default", "exit", "shutdown", "sockets"] {
            try "[Unit]\nDefaultDependencies=no\n".write(
                toFile: "\(units)/\(target).target", atomically: true, encoding: .utf8)
        }
        return ["bash", "-c", outside, inside, units, script]
    }

    private static let outside = """
        set -eu
        own=\(groups)$(sed -n 's/^[0-9]*:name=systemd://p' /proc/self/cgroup)
        group=$own/holdfast-$$
        mkdir "$group"
        echo $$ > "$group/cgroup.procs"
        code=0
        unshare -C -m -p -f --mount-proc --kill-child bash -c "$0" "$@" || code=$?
        echo $$ > "$own/cgroup.procs"
        # The kernel may still be ending what was in it.
        for try in $(seq 100); do
            find "$group" -depth -type d -exec rmdir {} + 2> /dev/null && break || sleep 0.05
        done
        exit $code
        """

    /// The manager asks whether the machine was booted with systemd, and hides what a unit may not see behind what the
    /// machine's has made for that. What units may see is below `/run` meanwhile: it makes credentials in `/dev/shm`.
    private static let inside = """
        set -eu
        mount --make-rshared /
        mount -t tmpfs none /run
        mkdir -p /run/systemd/system /run/systemd/inaccessible/dir
        (cd /run/systemd/inaccessible; touch reg; mkfifo fifo; mknod chr c 0 0; mknod blk b 0 0)
        umount -l /sys/fs/cgroup
        mount -t tmpfs none /sys/fs/cgroup
        mkdir \(groups)
        mount -t cgroup -o none,name=systemd cgroup \(groups)
        mkdir -m 700 /run/user
        export SYSTEMD_UNIT_PATH=$0 XDG_RUNTIME_DIR=/run/user
        systemd --user --log-target=console 2> "$0/manager.log" &
        tries=0
        until systemctl --user show > /dev/null 2>&1; do
            tries=$((tries + 1))
            [ $tries -lt 1200 ] || { cat "$0/manager.log" >&2; exit 97; }
            sleep 0.05
        done
        bash "$1"
        """
}
