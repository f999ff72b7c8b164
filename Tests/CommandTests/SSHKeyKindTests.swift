import Foundation
import RealParts
import TestSupport
import Testing

/// Kinds and forms of keys, certificates and hosts, with the real OpenSSH and OpenSSL.
@Suite struct SSHKeyKindTests {
    private let tests = SSHAgentTests()

    @Test func `keys of RSA and of larger curves log in and sign, from items and added`() throws {
        let sandbox = try tests.unlocked()
        _ = try sandbox.sandbox.file(SSHAgentTests.client.utf8, "client.py")
        let result = try tests.run(
            #"""
            me=$(id -un); echo text > text
            cat > flags.py <<'END'
            from client import *
            import sys
            key = base64.b64decode(open(sys.argv[1]).read().split()[1])
            def sign(flags): return Agent().ask(b"\x0d" + string(key) + string(b"data") + struct.pack(">I", flags))
            answers = [sign(flags) for flags in (0, 1, 2, 4)]
            print([answer[0] if answer[0] == 5 else answer[9:21].decode() for answer in answers])
            END
            check() {
                cut -d' ' -f1,2 $1.pub > authorized
                login -o IdentitiesOnly=yes -i $1.pub "$me@server" echo $1 in || cat sshd.log >&2
                echo "me $(cut -d' ' -f1,2 $1.pub)" > signers
                ssh-keygen -Y sign -q -f $1.pub -n file < text > sig 2> /dev/null
                ssh-keygen -Y verify -f signers -I me -n file -s sig < text | cut -d' ' -f1-2
            }
            for kind in "rsa 2048" "ecdsa 384" "ecdsa 521"; do
                set -- $kind
                ssh-keygen -q -t $1 -b $2 -N '' -C mine -f $1$2
                "$HOLDFAST" ssh import $1$2 --in $1$2 | cmp - $1$2.pub
                mv $1$2 kept; check $1$2; "$HOLDFAST" rm $1$2 > /dev/null 2>&1
                ssh-add -q kept; check $1$2
            done
            python3 flags.py rsa2048.pub
            "$HOLDFAST" lock; python3 flags.py rsa2048.pub
            """#, in: sandbox)
        let each = ["rsa2048", "ecdsa384", "ecdsa521"].map {
            String(repeating: "\($0) in\nGood \"file\"\n", count: 2)
        }
        #expect(
            result.text == each.joined() + "[5, 5, 'rsa-sha2-256', 'rsa-sha2-512']\n[5, 5, 5, 5]\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `keys in the forms of OpenSSL are stored as OpenSSH writes them, and each is listed once`() throws {
        let sandbox = try tests.unlocked()
        let result = try tests.run(
            #"""
            printf '#!/bin/sh\necho secret words\n' > ask; chmod 700 ask
            export SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force DISPLAY=none
            points() { ssh-add -L | grep -c -F "$(cut -d' ' -f2 $1.pub)"; }
            number=0
            for made in "rsa PEM -b2048" "rsa PKCS8 -b2048" "ecdsa PEM" "ecdsa PKCS8" "ed25519 RFC4716"; do
                for phrase in '' 'secret words'; do
                    set -- $made; number=$((number + 1))
                    ssh-keygen -q -t $1 -m $2 ${3:-} -N "$phrase" -C '' -f k$number
                    "$HOLDFAST" ssh import k$number --in k$number 2> error | cut -d' ' -f1,2 > told || cat error >&2
                    cut -d' ' -f1,2 k$number.pub | cmp - told && echo $1 $2 $(points k$number)
                    "$HOLDFAST" show k$number -f 'private key' > own
                    head -1 own; ssh-keygen -y -P '' -f own | cut -d' ' -f1,2 | cmp - told
                done
            done | uniq -c | sed 's/^ *//'
            "$HOLDFAST" cp k1 again > /dev/null; "$HOLDFAST" cp k1 third > /dev/null; points k1
            ssh-add -q k1; points k1
            "$HOLDFAST" show k1 2>&1 | grep -c 'not offered' || true
            openssl genrsa 1024 2> /dev/null | "$HOLDFAST" ssh import small 2>&1 | grep -c '2,048 to 4,096 bits'
            """#, in: sandbox)
        let begin = "1 -----BEGIN OPENSSH PRIVATE KEY-----\n"
        let each = ["rsa PEM", "rsa PKCS8", "ecdsa PEM", "ecdsa PKCS8", "ed25519 RFC4716"].map {
            String(repeating: "1 \($0) 1\n\(begin)", count: 2)
        }
        #expect(result.text == each.joined() + "1\n1\n0\n1\n", "\(result.text) \(result.errors)")
    }

    /// A server that knows an authority, and no key.
    private static let authority = #"""
        me=$(id -un); ssh-keygen -q -t ed25519 -N '' -f ca; ssh-keygen -q -t ed25519 -N '' -f other
        echo "TrustedUserCAKeys $HOME/ca.pub" >> sshd_config; : > authorized
        certify() { ssh-keygen -q -s ca -I test -n "$me" "$@" 2> /dev/null; }
        enters() { login "$me@server" echo in 2> /dev/null || echo out; }

        """#

    @Test func `certificates log in beside their key, from items and added`() throws {
        let sandbox = try tests.unlocked()
        let result = try tests.run(
            Self.authority + #"""
                enters
                certify one.pub; certify other.pub
                "$HOLDFAST" ssh certificate one --in other-cert.pub 2>&1 | grep -c 'no certificate of this SSH key'
                "$HOLDFAST" ssh certificate one --in one.pub 2>&1 | grep -c 'no certificate of this SSH key'
                certify -h one.pub; "$HOLDFAST" ssh certificate one < one-cert.pub 2>&1 | grep -c 'for users'
                certify one.pub; "$HOLDFAST" ssh certificate one < one-cert.pub; enters
                ssh-add -L | grep ' one$' | cut -d' ' -f1
                "$HOLDFAST" tag add one no-forwarding > /dev/null 2>&1
                login -A "$me@server" ssh-add -L 2> /dev/null | cut -d' ' -f1
                "$HOLDFAST" rm one > /dev/null 2>&1; enters
                for kind in "ecdsa 384" "rsa 2048"; do
                    set -- $kind; ssh-keygen -q -t $1 -b $2 -N '' -f $1; certify $1.pub
                    "$HOLDFAST" ssh import $1 --in $1 > /dev/null 2> error; grep -c $1-cert.pub error; enters
                    "$HOLDFAST" rm $1 > /dev/null 2>&1; ssh-add -q $1; ssh-add -L | grep -c cert-v01; enters
                    ssh-add -q -d $1; enters
                done
                cat other other-cert.pub | "$HOLDFAST" ssh import other > /dev/null; enters
                ssh-add -q -h elsewhere -H <(echo "elsewhere $(cut -d' ' -f1,2 ca.pub)") other; enters
                cat ca ca.pub | "$HOLDFAST" ssh import ca 2>&1 | grep -c 'for users'
                """#, in: sandbox)
        #expect(
            result.text == """
                out
                1
                1
                1
                in
                ssh-ed25519-cert-v01@openssh.com
                ssh-ed25519
                ecdsa-sha2-nistp256
                out
                1
                in
                1
                in
                out
                1
                in
                1
                in
                out
                in
                out
                1

                """, "\(result.text) \(result.errors)")
    }

    /// ssh tells the agent its host before it asks for the keys.
    @Test func `a server that hears two keys hears those for it`() throws {
        let sandbox = try tests.unlocked()
        let result = try tests.run(
            Self.authority + #"""
                echo 'MaxAuthTries 2' >> sshd_config; mkdir .ssh
                for number in 1 2 3 4 5 6 7 8 9; do "$HOLDFAST" ssh generate a$number > a$number.pub; done
                "$HOLDFAST" ssh generate wanted > wanted.pub; cut -d' ' -f1,2 wanted.pub > authorized
                enters
                printf '#!/bin/sh\nprintf "text hosts: %%s\\n" "$HOSTS" >> "$1"\n' > editor; chmod 700 editor
                hosts() { HOSTS=$2 EDITOR=$HOME/editor VISUAL= "$HOLDFAST" edit $1 > /dev/null; }
                hosts wanted '*.example ada@server'
                cp known .ssh/known_hosts; enters
                ssh-keygen -q -H -f .ssh/known_hosts > /dev/null 2>&1; enters
                echo "elsewhere $(cut -d' ' -f1,2 host.pub)" > .ssh/known_hosts; enters
                ssh-add -L | wc -l
                """#, in: sandbox)
        #expect(result.text == "out\nin\nin\nout\n12\n", "\(result.text) \(result.errors)")
    }

    @Test func `an entry that looks like a key and is not offered says why`() throws {
        let sandbox = try tests.unlocked()
        let result = try tests.run(
            #"""
            "$HOLDFAST" show one 2>&1 | grep -c 'not offered' || true
            printf '#!/bin/sh\nsed -i "s/^text public key:.*/text certificate: ssh-ed25519-cert-v01@openssh.com AAAA/" "$1"\n' > editor; chmod 700 editor
            EDITOR=$HOME/editor VISUAL= "$HOLDFAST" edit one > /dev/null
            "$HOLDFAST" show one 2>&1 | grep -o 'its certificate is none, or is for another key'
            ssh-add -L | wc -l
            """#, in: sandbox)
        #expect(
            result.text == "0\nits certificate is none, or is for another key\n2\n",
            "\(result.text) \(result.errors)")
    }
}
