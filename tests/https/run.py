#!/usr/bin/env python3
"""End-to-end tests of HTTPS, HTTP/2, compression and policies: real server processes, certificates made by openssl,
curl, nghttp and Python's ssl on the other side."""
import gzip
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import Server, call, curl, expect, test  # noqa: E402
from harness import main  # noqa: E402
from make_project import Project  # noqa: E402
from peers import Backend, Proxy  # noqa: E402
from pki import openssl  # noqa: E402

# ------------------------------------------------------------------------------------- the server's side


@test
def versions_and_ports(lab):
    with lab.server() as s:
        trust = ("--cacert", lab.ca.pem)
        for arguments in (("--tlsv1.2", "--tls-max", "1.2"), ("--tlsv1.3",)):
            reply = curl(s.secure_url("/echo"), *trust, *arguments, body=b"hello")
            expect(reply.status == 200 and reply.body == b"hello", reply)
        reply = curl(s.secure_url("/echo"), *trust, "--tlsv1.0", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0", body=b"x")
        expect(reply.code == 35, "TLS 1.1:", reply)
        # Each flow is on its own port alone.
        expect(curl(s.secure_url("/plain"), *trust, body=b"x").status == 404)
        expect(curl(s.plain_url("/echo"), body=b"x").status == 404)
        expect(curl(s.plain_url("/plain"), body=b"x").body == b"x")
        # Who does not know the authority, or asks for another name, does not get through.
        expect(curl(s.secure_url("/echo"), body=b"x").code == 60)
        expect(curl(s.secure_url("/echo", host="localhost2"), *trust, "--resolve", f"localhost2:{s.secure_port}:127.0.0.1",
                    body=b"x").code == 60)
        who = json.loads(curl(s.secure_url("/who?a=b"), *trust, body=b"").body)
        expect(who["scheme"] == "https" and who["port"] == str(s.secure_port), who)
        expect(who["url"] == s.secure_url("/who?a=b") and who["subject"] == "none", who)


@test
def large_bodies_both_ways(lab):
    with lab.server() as s:
        body = os.urandom(7 << 20)
        for version in ("--http1.1", "--http2"):
            reply = curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, version, body=body)
            expect(reply.body == body, version, len(reply.body), reply.status_line)
            # A reader that is slower than the server: the last bytes come, too.
            reply = curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, version, "--limit-rate", "10M", body=body[:5_000_001])
            expect(reply.body == body[:5_000_001], version, "slow reader", len(reply.body))


@test
def client_certificates(lab):
    trust = ("--cacert", lab.ca.pem)
    own = ("--cert", lab.ca.folder / "client.pem")
    lab.other.issue("stranger", names="", common_name="stranger")
    foreign = ("--cert", lab.other.folder / "stranger.pem")
    base = f"KeystoreFile: {lab.pem}\nTruststoreFile: {lab.ca.pem}\n"
    with lab.server(base + "ReqClientAuth: true") as s:
        for version in ("1.2", "1.3"):
            limits = (f"--tlsv{version}", "--tls-max", version)
            who = json.loads(curl(s.secure_url("/who"), *trust, *own, *limits, body=b"").body)
            expect(who["subject"] == "CN=client one" and who["issuer"] == "CN=Test CA", who)
            for bad in ((), foreign):
                reply = curl(s.secure_url("/who"), *trust, *bad, *limits, body=b"")
                expect(reply.code != 0 and reply.status == 0, version, bad, reply)
    with lab.server(base + "ReqClientAuth: optional") as s:
        expect(json.loads(curl(s.secure_url("/who"), *trust, body=b"").body)["subject"] == "none")
        expect(json.loads(curl(s.secure_url("/who"), *trust, *own, body=b"").body)["subject"] == "CN=client one")
        expect(curl(s.secure_url("/who"), *trust, *foreign, body=b"").status == 0)
    lab.ca.issue("gone", names="", common_name="gone")
    lab.ca.revoke("gone")
    with lab.server(base + f"ReqClientAuth: true\nCRLFile: {lab.ca.write_crl()}") as s:
        expect(curl(s.secure_url("/who"), *trust, *own, body=b"").status == 200)
        expect(curl(s.secure_url("/who"), *trust, "--cert", lab.ca.folder / "gone.pem", body=b"").status == 0)
    lab.ca.issue("old", names="", common_name="old", expired=True)
    with lab.server(base + "ReqClientAuth: true") as s:
        expect(curl(s.secure_url("/who"), *trust, "--cert", lab.ca.folder / "old.pem", body=b"").status == 0)


@test
def certificates_by_name(lab):
    both = lab.ca.folder / "names.pem"
    second = lab.ca.issue("second", names="DNS:two.example,DNS:*.many.example", common_name="two")
    both.write_text(lab.pem.read_text() + second.read_text())
    with lab.server(f"KeystoreFile: {both}") as s:
        for host, good in (("localhost", True), ("two.example", True), ("a.many.example", True), ("b.example", False)):
            reply = curl(s.secure_url("/echo", host), "--cacert", lab.ca.pem, "--resolve", f"{host}:{s.secure_port}:127.0.0.1",
                         body=b"x")
            expect((reply.status == 200) == good, host, reply)


@test
def stores_and_passwords(lab):
    p12 = lab.ca.pkcs12("server", "secret", "theKey")
    encrypted = lab.ca.folder / "encrypted.pem"
    openssl("pkcs8", "-topk8", "-in", lab.ca.folder / "server.key", "-out", encrypted, "-passout", "pass:secret")
    encrypted.write_text(encrypted.read_text() + (lab.ca.folder / "server.crt").read_text())
    trust = ("--cacert", lab.ca.pem)
    lab.credentials += "    keystore:\n      myKeys: {password: secret}\n"
    for conf in (f"KeystoreFile: {p12}\nKeystorePassword: secret\nKeystoreType: PKCS12\nKeyAlias: thekey",
                 f"KeystoreFile: {p12}\nKeystorePassword: myKeys", f"KeystoreFile: {encrypted}\nKeyPassword: secret"):
        with lab.server(conf) as s:
            expect(curl(s.secure_url("/echo"), *trust, body=b"x").status == 200, conf)
    with lab.server("", f"keystoreFile: {p12}\nkeystorePass: secret") as s:
        expect(curl(s.secure_url("/echo"), *trust, body=b"x").status == 200, "keystore of the JVM resource manager")
    with lab.server("", "", "--https-keystore", lab.pem) as s:
        expect(curl(s.secure_url("/echo"), *trust, body=b"x").status == 200, "--https-keystore")
    for conf, text in ((f"KeystoreFile: {p12}\nKeystorePassword: wrong", "the password is wrong"),
                       (f"KeystoreFile: {p12}", "it needs a password"),
                       (f"KeystoreFile: {encrypted}", "without a password"),
                       (f"KeystoreFile: {p12}\nKeystorePassword: secret\nKeyAlias: other", "no key with the alias 'other'"),
                       ("KeystoreFile: missing.pem", "No such file"),
                       (f"KeystoreFile: {lab.ca.pem}", "no private key"), ("SSLProtocol: TLSv1.1", "TLSv1.1"),
                       (f"KeystoreFile: {lab.pem}\nCipherSpec: nonsense", "nonsense"),
                       (f"KeystoreFile: {lab.pem}\nReqClientAuth: true", "no trust store"),
                       (f"KeystoreFile: {lab.pem}\nReqClientAuth: perhaps", "ReqClientAuth"), ("", "none are configured")):
        s = lab.server(conf)
        errors = "\n".join(s.errors)
        expect(s.port == 0 and s.stop() == 1 and text in errors, conf, "->", errors)
        expect("secret" not in errors and "wrong\n" not in errors, "a password is told:", errors)


@test
def java_keystores_are_refused_with_the_way_out(lab):
    if not shutil.which("keytool"):
        print("  (no keytool: made by hand)")
    jks = lab.ca.folder / "old.jks"
    jks.write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2\0\0\0\0" + bytes(20))
    s = lab.server(f"KeystoreFile: {jks}\nKeystoreType: JKS")
    errors = "\n".join(s.errors)
    s.stop()
    expect(f"keytool -importkeystore -srckeystore {jks} -destkeystore {jks.with_suffix('.p12')} -deststoretype PKCS12"
           in errors, errors)
    if not shutil.which("keytool"):
        return
    made = lab.ca.folder / "made.jks"
    subprocess.run(["keytool", "-genkeypair", "-keystore", made, "-storetype", "JKS", "-storepass", "secret", "-keypass",
                    "secret", "-alias", "one", "-keyalg", "EC", "-dname", "CN=localhost", "-ext", "san=dns:localhost"],
                   check=True, capture_output=True)
    target = made.with_suffix(".p12")
    subprocess.run(["keytool", "-importkeystore", "-srckeystore", made, "-destkeystore", target, "-deststoretype", "PKCS12",
                    "-srcstorepass", "secret", "-deststorepass", "secret"], check=True, capture_output=True)
    with lab.server(f"KeystoreFile: {target}\nKeystorePassword: secret\nKeyAlias: one") as s:
        expect(curl(s.secure_url("/echo"), "-k", body=b"x").status == 200, "what keytool has converted")


@test
def ciphers_and_protocol_of_the_listener(lab):
    with lab.server(f"KeystoreFile: {lab.pem}\nSSLProtocol: TLSv1.2\nCipherSpec: SSL_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384") as s:
        context = ssl.create_default_context(cafile=lab.ca.pem)
        with context.wrap_socket(socket.create_connection(("127.0.0.1", s.secure_port)), server_hostname="localhost") as c:
            expect(c.version() == "TLSv1.2" and c.cipher()[0] == "ECDHE-ECDSA-AES256-GCM-SHA384", c.cipher())


@test
def sessions_are_resumed(lab):
    with lab.server() as s:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=lab.ca.pem)
            context.maximum_version = version
            session, reused = None, []
            for _ in range(2):
                with context.wrap_socket(socket.create_connection(("127.0.0.1", s.secure_port)),
                                         server_hostname="localhost", session=session) as c:
                    c.sendall(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
                    while c.recv(4096):
                        pass
                    session = c.session
                    reused.append(c.session_reused)
            expect(reused == [False, True], version, reused)


@test
def keys_are_read_anew(lab):
    pem = lab.folder / "renewed.pem"
    pem.write_text(lab.pem.read_text())
    renewed = lab.ca.issue("renewed", common_name="renewed")
    with lab.server(f"KeystoreFile: {pem}") as s:
        def name():
            context = ssl.create_default_context(cafile=lab.ca.pem)
            with context.wrap_socket(socket.create_connection(("127.0.0.1", s.secure_port)), server_hostname="localhost") as c:
                return dict(part[0] for part in c.getpeercert()["subject"])["commonName"]
        expect(name() == "localhost")
        pem.write_text(renewed.read_text())
        until = time.monotonic() + 20
        while name() != "renewed" and time.monotonic() < until:
            pass  # each look is a connection, which makes the server look at its files
        expect(name() == "renewed")


@test
def hostile_handshakes(lab):
    with lab.server() as s:
        silent = [socket.create_connection(("127.0.0.1", s.secure_port)) for _ in range(50)]
        for c in silent[:25]:
            c.sendall(b"\x16\x03\x01\x02")
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(100_000), b"\x16\x03\x01\xff\xff" + b"x" * 70_000):
            with socket.create_connection(("127.0.0.1", s.secure_port), timeout=30) as c:
                try:
                    c.sendall(garbage)
                    while c.recv(4096):
                        pass
                except OSError:
                    pass
        expect(curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, body=b"x").status == 200, "while others wait")
        started = time.monotonic()
        for c in silent:  # each is closed when its time is over
            c.settimeout(30)
            try:
                while c.recv(100):
                    pass
            except ConnectionError:
                pass
            c.close()
        expect(time.monotonic() - started < 20, "the handshake time-out")
        expect(curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, body=b"x").status == 200)


@test
def the_port_is_opened_only_when_wanted(lab):
    folder = lab.folder / "only-plain"
    p = Project(folder / "projects", "Plain")
    p.flow("Echo", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/plain"}),
                    ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        # The port is taken, and nobody minds: no flow wants it, no number was given for it.
        work = folder / "work"
        work.mkdir(parents=True)
        (work / "server.conf.yaml").write_text(lab.conf(f"KeystoreFile: {lab.pem}"))
        done = subprocess.Popen([lab.binary, "run", folder / "projects", "--work-dir", work, "--http-port", "0",
                                 "--admin-port", "off"], stdout=subprocess.PIPE, text=True)
        try:
            ready = next(line for line in done.stdout if "Ready" in line)
            expect("Ready" in ready)
        finally:
            done.send_signal(signal.SIGTERM)
            done.wait()
        s = Server(lab.binary, lab.folder, lab.conf(f"KeystoreFile: {lab.pem}"), "--https-port", port, ports=Server.PLAIN)
        errors = "\n".join(s.errors)
        expect(s.port == 0 and s.stop() == 1 and "Cannot listen" in errors, errors)


@test
def all_on_https_when_forced(lab):
    lab.credentials += "forceServerHTTPS: true\n"
    with lab.server() as s:
        expect(curl(s.secure_url("/plain"), "--cacert", lab.ca.pem, body=b"x").status == 200)
        expect(curl(s.plain_url("/plain"), body=b"x").status == 404)


# ------------------------------------------------------------------------------------------- HTTP/2


@test
def http2_by_alpn_and_prior_knowledge(lab):
    with lab.server() as s:
        reply = curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, "--http2", body=b"hello")
        expect(reply.status_line.startswith("HTTP/2 200") and reply.body == b"hello", reply)
        reply = curl(s.plain_url("/plain"), "--http2-prior-knowledge", body=b"hello")
        expect(reply.status_line.startswith("HTTP/2 200") and reply.body == b"hello", reply)
        who = json.loads(curl(s.secure_url("/who"), "--cacert", lab.ca.pem, "--http2", body=b"").body)
        expect(who["version"] == "HTTP/2.0" and who["scheme"] == "https", who)
        expect(who["url"] == s.secure_url("/who"), who)
        out = subprocess.run(["nghttp", "-v", s.secure_url("/echo"), s.secure_url("/echo?2")], capture_output=True, text=True).stdout
        expect(out.count(":status: 200") == 2, out)
        reply = curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, "--http2", "-H", "X: " + "x" * 70_000, body=b"x")
        expect(reply.status == 431 or reply.code != 0, reply)


@test
def http2_many_streams(lab):
    with lab.server() as s:
        data = lab.folder / "h2load.data"
        data.write_bytes(b"d" * 20_000)
        for target in (s.secure_url("/echo"), s.plain_url("/plain")):
            out = subprocess.run(["h2load", "-n", "3000", "-c", "10", "-m", "50", "-d", data, target], capture_output=True,
                                 text=True, timeout=120).stdout
            expect("3000 succeeded, 0 failed, 0 errored" in out, out)


@test
def http2_stops_with_streams_in_flight(lab):
    with lab.server() as s:
        load = subprocess.Popen(["h2load", "-n", "200000", "-c", "4", "-m", "20", s.secure_url("/echo")], stdout=subprocess.PIPE,
                                text=True)
        for line in load.stdout:
            if "progress: 10%" in line:
                break
        started = time.monotonic()
        code = s.stop()
        load.kill()
        load.wait()
        expect(code == 0 and time.monotonic() - started < 20, code)


# ---------------------------------------------------------------------------------------- compression


@test
def compressed_requests(lab):
    with lab.server() as s:
        text = b"a text that comes again and again. " * 3000
        raw = zlib.compressobj(wbits=-15)
        for coding, packed in (("gzip", gzip.compress(text)), ("deflate", zlib.compress(text)),
                               ("deflate", raw.compress(text) + raw.flush())):
            reply = curl(s.plain_url("/unpack"), "-H", f"Content-Encoding: {coding}", body=packed)
            expect(reply.status == 200 and reply.body == text, coding, reply)
        # Without the property the flow gets what came.
        packed = gzip.compress(text)
        expect(curl(s.plain_url("/plain"), "-H", "Content-Encoding: gzip", body=packed).body == packed)
        reply = curl(s.plain_url("/unpack"), "-H", "Content-Encoding: gzip", body=b"no gzip")
        expect(reply.status == 400 and b"MS1364E" in reply.body, reply)
        bomb = gzip.compress(bytes(300 << 20))
        before = s.memory_kib()
        reply = curl(s.plain_url("/unpack"), "-H", "Content-Encoding: gzip", body=bomb)
        expect(reply.status == 413 and b"MS1365E" in reply.body, reply)
        expect(s.memory_kib() - before < 300_000, "memory after the bomb")
        expect(curl(s.plain_url("/unpack"), body=b"x").body == b"x")


@test
def compressed_replies(lab):
    with lab.server() as s:
        text = b"a text that comes again and again. " * 3000
        for coding, name in (("gzip", "gzip"), ("zlib", "deflate"), ("deflate", "deflate")):
            reply = curl(s.plain_url("/pack/" + coding), "-H", "Accept-Encoding: gzip, deflate", body=text)
            expect(reply.headers["content-encoding"] == name and len(reply.body) < 5000, coding, reply)
            wbits = {"gzip": 31, "zlib": 15, "deflate": -15}[coding]
            expect(zlib.decompress(reply.body, wbits) == text, coding)
            reply = curl(s.plain_url("/pack/" + coding), "-H", "Accept-Encoding: br", body=text)
            expect("content-encoding" not in reply.headers and reply.body == text, coding, reply.headers)


# ------------------------------------------------------------------------------------ the client's side


@test
def calls_verify_the_other_side(lab):
    with Backend(lab.pem) as good, Backend(lab.ca.issue("wrong", "DNS:other.example", "other.example")) as wrong, \
            Backend(lab.ca.issue("expired", expired=True)) as expired, Backend(lab.other.issue("foreign")) as foreign, \
            lab.client_server() as s:
        reply = call(s, good.url("/x"))
        expect(reply.status == 200 and reply.body == b"hello" and reply.headers["x-version"] == "TLSv1.3", reply)
        expect(call(s, good.url("/x", host="127.0.0.1"), "/checked").status == 200)
        # Without the check of the name, as in the product, the certificate need only be a trusted one.
        expect(call(s, wrong.url("/x")).status == 200)
        for target, path, text in ((wrong.url("/x"), "/checked", b"ostname mismatch"),
                                   (expired.url("/x"), "/call", b"certificate has expired"),
                                   (foreign.url("/x"), "/call", b"unable to get local issuer certificate")):
            reply = call(s, target, path)
            expect(reply.status == 500 and text in reply.body and b"MS1355E" in reply.body, target, reply)
        expect(not wrong.seen[1:] and not expired.seen and not foreign.seen, "nothing was sent")
        reply = call(s, f"https://127.0.0.1:{s.port}/plain")
        expect(reply.status == 500 and b"MS1355E" in reply.body, "not TLS:", reply)
    with Backend(lab.pem) as good, lab.server() as s:  # no trust store: that of the system
        expect(b"unable to get local issuer" in call(s, good.url()).body)


@test
def calls_refuse_revoked_certificates(lab):
    revoked = lab.ca.issue("revoked")
    lab.ca.revoke("revoked")
    jvm = f"truststoreFile: {lab.ca.pem}\ncrlFileList: {lab.ca.write_crl()}"
    with Backend(revoked) as bad, Backend(lab.pem) as good, lab.client_server(jvm) as s:
        expect(call(s, good.url()).status == 200)
        reply = call(s, bad.url())
        expect(reply.status == 500 and b"certificate revoked" in reply.body, reply)


@test
def calls_choose_protocol_and_cipher(lab):
    def old(context):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("DEFAULT@SECLEVEL=0")

    with Backend(lab.pem) as both, Backend(lab.pem, old) as outdated, lab.client_server() as s:
        expect(call(s, both.url(), Protocol="TLSv1.2").headers["x-version"] == "TLSv1.2")
        expect(call(s, both.url(), Protocol="TLSv1.3").headers["x-version"] == "TLSv1.3")
        expect(call(s, both.url(), Ciphers="TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256").headers["x-cipher"] ==
               "ECDHE-ECDSA-AES128-GCM-SHA256")
        expect(b"MS1355E" in call(s, outdated.url()).body)
        expect(b"MS1359E" in call(s, both.url(), Protocol="SSLv3").body)
        expect(b"MS1360E" in call(s, both.url(), Ciphers="nonsense").body)


@test
def calls_identify_themselves(lab):
    def wants(context):
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(lab.ca.pem)

    p12 = lab.ca.pkcs12("client", "secret", "clientKey")
    jvm = f"truststoreFile: {lab.ca.pem}\nkeystoreFile: {p12}\nkeystorePass: secret"
    with Backend(lab.pem, wants) as strict, lab.client_server(jvm) as s:
        expect(call(s, strict.url(), Alias="clientkey").headers["x-client"] == "client one")
        reply = call(s, strict.url(), Alias="other")
        expect(reply.status == 500 and b"no key with the alias" in reply.body, reply)
    with Backend(lab.pem, wants) as strict, lab.client_server() as s:
        expect(call(s, strict.url()).status == 500)
        expect(b"MS1362E" in call(s, strict.url(), Alias="any").body)


@test
def connections_and_sessions_are_used_again(lab):
    with Backend(lab.pem) as b, lab.client_server() as s:
        for _ in range(20):
            expect(call(s, b.url()).status == 200)
        expect(len({entry[3] for entry in b.seen}) <= 4, "connections: as many as reactors at most",
               {entry[3] for entry in b.seen})


@test
def credentials_go_out(lab):
    with Backend(lab.pem) as b, Backend() as plain, lab.client_server() as s:
        expect(call(s, b.url()).headers["x-authorization"] == "none")
        expect(call(s, b.url(host="me:p%40ss@localhost")).headers["x-authorization"] == "Basic bWU6cEBzcw==")
        expect(call(s, b.url(), "/identified").headers["x-authorization"] == "Basic Ym9iOnB3")
        expect(call(s, b.url(), "/bearer").headers["x-authorization"] == "Bearer abc.def")
        reply = curl(s.plain_url("/propagates"), "-u", "ann:secret", "-H", f"X-Target: {b.url()}", body=b"x")
        expect(reply.headers["x-authorization"] == "Basic YW5uOnNlY3JldA==", reply)
        # Another origin does not get them.
        b.server.redirect_to = plain.url("/landed", "127.0.0.1", "http")
        reply = call(s, b.url("/redirect/1", host="me:pw@localhost"), "/accepts")
        expect(reply.headers["x-authorization"] == "none" and plain.seen[0][1] == "/landed", reply)
        expect(b.seen[-1][2]["Authorization"] == "Basic bWU6cHc=", b.seen[-1])


@test
def identities_come_in(lab):
    with lab.server() as s:
        who = json.loads(curl(s.plain_url("/identity"), "-u", "ann:se:cret", "-A", "agent", body=b"").body)
        expect((who["type"], who["token"], who["password"], who["issuedBy"]) ==
               ("usernameAndPassword", "ann", "se:cret", "agent"), who)
        who = json.loads(curl(s.plain_url("/identity"), "-H", "Authorization: Bearer t.o.k", body=b"").body)
        expect((who["type"], who["token"]) == ("OAuth", "t.o.k"), who)
        for header in ("Basic ====", "Basic", "Digest x=y", "Basic " + "!" * 50):
            reply = curl(s.plain_url("/identity"), "-H", f"Authorization: {header}", body=b"")
            expect(reply.status == 200 and json.loads(reply.body)["token"] == "", header, reply)


@test
def compression_of_calls(lab):
    text = b"a text that comes again and again. " * 3000
    with Backend() as b, lab.client_server() as s:
        def at(path):
            return b.url(path, "127.0.0.1", "http")
        for word, coding in (("gzip", "gzip"), ("zlib", "deflate"), ("deflate", "raw"), ("none", "none")):
            reply = call(s, at("/x"), body=text, Compression=word)
            expect(reply.headers["x-coding"] == coding and reply.body == text, word, reply.headers)
        expect(call(s, at("/gzip"), "/accepts", body=text).body == text)
        expect(call(s, at("/deflate"), "/accepts", body=text).body == text)
        expect(zlib.decompress(call(s, at("/deflate"), body=text).body) == text, "not asked for: as it came")
        reply = call(s, at("/bomb"), "/accepts", body=b"x")
        expect(reply.status == 500 and b"MS1365E" in reply.body, reply)
        expect(call(s, at("/x"), body=b"still there").body == b"still there")


@test
def through_a_proxy(lab):
    with Backend(lab.pem) as secure, Backend() as plain, Proxy() as proxy, Proxy("user:pw") as strict, \
            lab.client_server() as s:
        place = f"http://127.0.0.1:{proxy.port}"
        expect(call(s, secure.url("/x"), Proxy=place).body == b"hello")
        expect(proxy.seen[0][:2] == ("CONNECT", f"localhost:{secure.port}"), proxy.seen)
        expect(call(s, plain.url("/y?a=b", "127.0.0.1", "http"), Proxy=place).body == b"hello")
        expect(proxy.seen[1][:2] == ("POST", plain.url("/y?a=b", "127.0.0.1", "http")), proxy.seen)
        reply = call(s, secure.url("/x"), Proxy=f"127.0.0.1:{strict.port}")
        expect(reply.status == 500 and b"MS1366E" in reply.body and b"407" in reply.body, reply)
        with_password = f"http://user:pw@127.0.0.1:{strict.port}"
        expect(call(s, secure.url("/x"), Proxy=with_password).body == b"hello")
        expect(call(s, plain.url("/y", "127.0.0.1", "http"), Proxy=with_password).body == b"hello")
        # The target never sees what is for the proxy.
        expect(all("Proxy-Authorization" not in entry[2] for entry in secure.seen + plain.seen))
    lab.credentials += "    httpproxy:\n      HTTPPROXY: {username: user, password: pw}\n"
    with Backend(lab.pem) as secure, Proxy("user:pw") as strict, lab.client_server() as s:
        expect(call(s, secure.url("/x"), Proxy=f"127.0.0.1:{strict.port}").body == b"hello")


@test
def profiles_that_ask_a_service_are_refused(lab):
    folder = lab.folder / "ldap"
    p = Project(folder, "Ldap")
    p.flow("Asks", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/a", "securityProfileName": "{Policies}:Ldap"}),
                    ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    done = subprocess.run([lab.binary, "check", folder], capture_output=True, text=True)
    expect(done.returncode == 1 and "{Policies}:Ldap" in done.stdout + done.stderr, done)


if __name__ == "__main__":
    import limits  # noqa: F401
    import policies  # noqa: F401
    main(__doc__)
