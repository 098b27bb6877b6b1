#!/usr/bin/env python3
"""The admin port with TLS, logins and roles, from outside: certificates, passwords, who may do what,
limits, and what a server refuses to open.

    tests/https/admin.py [--binary PATH] [--filter TEXT]

The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import base64
import http.client
import os
import re
import ssl
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from harness import ROOT, Reply, Server, case, case_of, command, eventually, main, pace
from pki import Authority

PASSWORD = "correct horse battery"
PROJECT = ROOT / "examples/http-xml-sum"
FLOW = "/apiv2/applications/http-xml-sum/messageflows/XmlSum"
REFUSED = 1


def work_folder(folder, text):
    work = folder / "work"
    (work / "config").mkdir(parents=True)
    (work / "server.conf.yaml").write_text(text)
    return work


def add_users(binary, work):
    for name, group in (("boss", "mqm"), ("looker", "viewers"), ("worker", "operators"), ("coder", "editors"),
                        ("nobody", "others")):
        command(binary, "user", "add", name, "--group", group, "--work-dir", work, text=PASSWORD + "\n")


def basic(user, password=PASSWORD):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def call(port, method, path, context=None, user=None, password=PASSWORD, body=None, headers=None):
    if context:
        connection = http.client.HTTPSConnection("localhost", port, timeout=60, context=context)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, {**(basic(user, password) if user else {}), **(headers or {})})
        reply = connection.getresponse()
        return Reply(reply.status, dict(reply.getheaders()), reply.read())
    finally:
        connection.close()


def trusting(authority, certificate=None):
    context = ssl.create_default_context(cafile=str(authority.pem))
    if certificate:
        context.load_cert_chain(str(certificate))
    return context


def cannot_connect(port, context, path="/apiv2"):
    """TLS 1.3 tells a client after the handshake that its certificate is missing."""
    try:
        call(port, "GET", path, context)
    except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected) as why:
        return str(why) or type(why).__name__
    raise AssertionError("the connection was let in")


def cli(server, *arguments, password=PASSWORD, text=None):
    environment = {**os.environ, "MILLSTREAM_PASSWORD": password}
    target = f"https://localhost:{server.admin_port}"
    return subprocess.run([server.binary, *map(str, arguments), "--url", target], input=text, capture_output=True,
                          text=True, timeout=120, env=environment, check=False)


class Secured(NamedTuple):
    server: Server
    ca: Authority
    other_ca: Authority
    folder: Path

    def call(self, method, path, user=None, **more):
        return call(self.server.admin_port, method, path, trusting(self.ca), user, **more)


@contextmanager
def secured(binary, folder):
    """PKCS#12 with its password below Credentials, logins, roles; one queue manager."""
    ca, other = Authority(folder / "ca"), Authority(folder / "other", "Other CA")
    ca.issue("server")
    ca.pkcs12("server", "the key's word")
    work = work_folder(folder, f"""
RestAdminListener:
  sslCertificate: '{ca.folder}/server.p12'
  sslPassword: 'adminRestApi::sslpwd'
  basicAuth: true
  authorizationEnabled: true
  authorizationMode: 'file'
Security:
  Permissions:
    viewers: 'read+:write-:execute-'
    operators: 'read+:execute+'
    editors: 'all+'
Credentials:
  ServerCredentials:
    adminRestApi:
      sslpwd: {{username: unused, password: "the key's word"}}
""")
    add_users(binary, work)
    with Server(binary, PROJECT, "--work-dir", work, "--qmgr", "QM1", "--buffered") as server:
        assert any("administration  https://127.0.0.1:" in line for line in server.lines), server.lines
        yield Secured(server, ca, other, folder)


@case_of(secured)
def the_port_speaks_https_only(t):
    assert t.call("GET", "/apiv2", "boss").status == 200
    try:
        reply = call(t.server.admin_port, "GET", "/apiv2")
        raise AssertionError(reply)
    except (http.client.HTTPException, ConnectionError):
        pass
    why = cannot_connect(t.server.admin_port, trusting(t.other_ca))
    assert "CERTIFICATE_VERIFY_FAILED" in why, why


@case_of(secured)
def nobody_comes_in_without_a_password(t):
    paths = ("/apiv2", "/apiv2/applications", FLOW, "/apiv2/statistics/flows", "/ibmmq/rest/v3/admin/qmgr")
    for i, path in enumerate(paths):
        reply = t.call("GET", path)
        assert reply.status == 401, (path, reply)
        reply = t.call("GET", path, "boss" if i == 0 else f"stranger{i}", password="wrong password")
        assert reply.status == 401, (path, reply)
        assert t.call("GET", path, "boss").status == 200, path
    reply = t.call("GET", "/apiv2")
    assert reply.headers["WWW-Authenticate"].startswith("Basic realm="), reply.headers
    assert reply.json()["code"] == "MS2222", reply.text
    assert t.call("POST", "/apiv2/deploy", body=b"x").status == 401
    assert t.call("POST", FLOW + "/stop").status == 401
    assert t.call("DELETE", "/apiv2/applications/http-xml-sum").status == 401
    assert t.call("GET", "/apiv2", headers={"Authorization": "Bearer abc"}).status == 401
    assert t.call("GET", "/apiv2", headers={"Authorization": "Basic !!!"}).status == 401


@case_of(secured)
def metrics_need_no_login_on_this_machine(t):
    assert t.call("GET", "/metrics").status == 200


@case_of(secured)
def roles_say_who_may_do_what(t):
    deploy = "/apiv2/deploy?deploy-action=ImpactAnalysis"
    expected = {"boss": (200, True, True), "looker": (200, False, False), "worker": (200, False, True),
                "coder": (200, True, True), "nobody": (403, False, False)}
    for user, (reads, writes, executes) in expected.items():
        assert t.call("GET", "/apiv2/applications", user).status == reads, user
        reply = t.call("POST", deploy, user, body=b"no archive")
        assert reply.status == (400 if writes else 403), (user, reply)
        reply = t.call("DELETE", "/apiv2/applications/not-there", user)
        assert reply.status == (404 if writes else 403), (user, reply)
        reply = t.call("POST", FLOW + "/start", user)
        assert reply.status == (200 if executes else 403), (user, reply)
    error = t.call("POST", FLOW + "/stop", "looker").json()
    assert error["code"] == "MS2218" and "Security/Permissions/viewers has no execute+" in error["message"], error
    error = t.call("GET", "/apiv2", "nobody").json()
    assert "no role that is named like one of its groups" in error["message"], error


@case_of(secured)
def other_sites_are_refused_before_the_login(t):
    assert t.call("GET", "/apiv2", "boss", headers={"Origin": "https://evil.example"}).status == 403
    assert t.call("GET", "/apiv2", "boss", headers={"Host": "evil.example"}).status == 403


@case_of(secured)
def bodies_have_a_limit_for_each_route(t):
    reply = t.call("POST", FLOW + "/start", "boss", body=b"x" * (1024 * 1024 + 1))
    assert reply.status == 413 and reply.json()["code"] == "MS2219", reply
    assert t.call("POST", FLOW + "/start", "boss", body=b"x" * 1024 * 1024).status == 200
    reply = t.call("POST", "/apiv2/deploy", "boss", body=b"x" * 2 * 1024 * 1024)
    assert reply.status == 400, reply


@case_of(secured)
def commands_take_https_a_ca_and_a_user(t):
    ca = ("--cacert", t.ca.pem)
    done = cli(t.server, "stats", *ca, "--user", "looker")
    assert done.returncode == 0 and "XmlSum" in done.stdout, done
    done = cli(t.server, "stop", "XmlSum", *ca, "--user", "worker")
    assert done.returncode == 0, done
    assert cli(t.server, "start", "XmlSum", *ca, "--user", "worker").returncode == 0
    done = cli(t.server, "deploy", PROJECT, "--dry-run", *ca, "--user", "coder")
    assert done.returncode == 0, done
    secret = t.folder / "password"
    secret.write_text(PASSWORD + "\n")
    done = cli(t.server, "stats", *ca, "--user", "looker", "--password-file", secret, password="wrong")
    assert done.returncode == 0, done
    done = cli(t.server, "stop", "XmlSum", *ca, "--user", "looker")
    assert done.returncode == REFUSED and "viewers has no execute+" in done.stderr, done
    done = cli(t.server, "stats", *ca, "--user", "looker", password="wrong password")
    assert done.returncode == REFUSED and "MS2222E" in done.stderr, done
    done = cli(t.server, "stats", *ca)
    assert done.returncode == REFUSED and "MS2222E" in done.stderr, done
    done = cli(t.server, "stats", "--cacert", t.other_ca.pem, "--user", "looker")
    assert done.returncode == REFUSED and "certificate" in done.stderr, done
    done = cli(t.server, "stats", "--cacert", t.folder / "not-there", "--user", "looker")
    assert done.returncode == REFUSED and "not-there" in done.stderr, done


@case_of(secured)
def queue_commands_take_the_same_options(t):
    ca = ("--cacert", t.ca.pem)
    done = cli(t.server, "mqsc", "--user", "boss", *ca, text="DISPLAY QMGR QMNAME\n")
    assert done.returncode == 0 and "QM1" in done.stdout, done
    done = cli(t.server, "mqsc", "--user", "boss", *ca, text="DISPLAY QMGR QMNAME\n", password="wrong password")
    assert done.returncode != 0, done


@case_of(secured)
def guessing_is_slowed_down(t):
    seen = [t.call("GET", "/apiv2", "victim", password=f"wrong {i}").status for i in range(12)]
    assert seen[0] == 401 and 429 in seen, seen
    reply = t.call("GET", "/apiv2", "victim", password="wrong again")
    assert reply.status == 401 or int(reply.headers["Retry-After"]) >= 1, reply
    assert t.call("GET", "/apiv2", "boss").status == 200, "others are not held up"


@case_of(secured)
def users_change_while_the_server_runs(t):
    work = t.folder / "work"
    command(t.server.binary, "user", "groups", "nobody", "--group", "viewers", "--work-dir", work)
    eventually(lambda: t.call("GET", "/apiv2", "nobody").status == 200, "the new group counts")
    command(t.server.binary, "user", "disable", "nobody", "--work-dir", work)
    eventually(lambda: t.call("GET", "/apiv2", "nobody").status == 401, "a disabled user is out")


@case_of(secured)
def a_new_certificate_is_used_without_a_restart(t):
    before = ssl.get_server_certificate(("localhost", t.server.admin_port))
    t.ca.issue("second")
    t.ca.pkcs12("second", "the key's word")
    os.replace(t.ca.folder / "second.p12", t.ca.folder / "server.p12")

    def is_new():
        pace(0.2)
        return ssl.get_server_certificate(("localhost", t.server.admin_port)) != before
    eventually(is_new, "another certificate")


@case
def without_roles_others_read(binary, folder):
    work = work_folder(folder, "RestAdminListener: {basicAuth: true}\n")
    add_users(binary, work)
    with Server(binary, PROJECT, "--work-dir", work) as server:  # no queue manager
        port = server.admin_port
        assert call(port, "GET", "/apiv2").status == 401
        assert call(port, "GET", "/metrics").status == 200
        assert call(port, "GET", "/apiv2", user="looker").status == 200
        reply = call(port, "POST", FLOW + "/stop", user="looker")
        assert reply.status == 403 and "only members of mqm may" in reply.text, reply
        assert call(port, "POST", FLOW + "/stop", user="boss").status == 200


@case
def the_first_user_is_made_where_a_login_is_asked_for(binary, folder):
    work = work_folder(folder, "RestAdminListener: {basicAuth: true}\n")
    with Server(binary, PROJECT, "--work-dir", work) as server:
        password = re.search(r"User admin was made, with the password (\S+)", "\n".join(server.lines)).group(1)
        assert call(server.admin_port, "GET", "/apiv2", user="admin", password=password).status == 200
        assert call(server.admin_port, "GET", "/apiv2", user="admin", password="admin").status == 401


@case
def client_certificates_are_required(binary, folder):
    """PEM in two files, as the product's operator mounts them, and a folder of authorities."""
    ca, other = Authority(folder / "ca"), Authority(folder / "other", "Other CA")
    ca.issue("server")
    friend, stranger = ca.issue("friend", common_name="friend"), other.issue("stranger", common_name="stranger")
    mounted = folder / "mounted"
    mounted.mkdir()
    for name, source in (("tls.crt.pem", "server.crt"), ("tls.key.pem", "server.key"), ("ca.crt.pem", "ca.pem")):
        (mounted / name).write_bytes((ca.folder / source).read_bytes())
    work = work_folder(folder, f"""
RestAdminListener:
  host: 0.0.0.0
  sslCertificate: '{mounted}/tls.crt.pem'
  sslPassword: '{mounted}/tls.key.pem'
  caPath: '{mounted}'
  requireClientCert: true
""")
    with Server(binary, PROJECT, "--work-dir", work) as server:
        port = server.admin_port
        assert call(port, "GET", "/apiv2", trusting(ca, friend)).status == 200
        cannot_connect(port, trusting(ca))
        cannot_connect(port, trusting(ca, stranger))
        done = cli(server, "stats", "--cacert", ca.pem, "--cert", friend)
        assert done.returncode == 0, done
        assert cli(server, "stats", "--cacert", ca.pem).returncode == REFUSED
        assert cli(server, "stats", "--cacert", mounted, "--cert", friend).returncode == 0


@case
def a_key_store_on_the_command_line(binary, folder):
    ca = Authority(folder / "ca")
    with Server(binary, PROJECT, "--admin-keystore", ca.issue("server")) as server:
        assert call(server.admin_port, "GET", "/apiv2", trusting(ca)).status == 200


def refusal(binary, folder, name, text, *more):
    (folder / name).mkdir()
    work = work_folder(folder / name, text)
    done = command(binary, "run", PROJECT, "--work-dir", work, "--http-port", 0, "--admin-port", 0, "--host",
                   "127.0.0.1", *more)
    assert done.returncode == 1, (text, done)
    return done.stderr


@case
def what_is_not_protected_is_not_opened(binary, folder):
    ca = Authority(folder / "ca")
    key = ca.issue("server")
    why = refusal(binary, folder, "open", "RestAdminListener: {host: 0.0.0.0}\n")
    assert "MS2007" in why and "0.0.0.0" in why and "asks nobody for a login" in why and "basicAuth: true" in why, why
    why = refusal(binary, folder, "tls", f"RestAdminListener: {{host: '::', sslCertificate: '{key}'}}\n")
    assert "MS2007" in why and "asks nobody for a login" in why, why
    why = refusal(binary, folder, "plain", "RestAdminListener: {host: 0.0.0.0, basicAuth: true}\n")
    assert "MS2007" in why and "in the clear" in why, why
    why = refusal(binary, folder, "https", "RestAdminListener: {requireHttps: true}\n")
    assert "MS2024" in why and "no sslCertificate" in why, why
    why = refusal(binary, folder, "trust", f"RestAdminListener: {{sslCertificate: '{key}', requireClientCert: true}}\n")
    assert "MS2024" in why and "caPath" in why, why
    why = refusal(binary, folder, "ldap", "RestAdminListener: {ldapAuthenticationUri: 'ldap://x'}\n")
    assert "MS2024" in why and "LDAP" in why, why
    why = refusal(binary, folder, "mode", "RestAdminListener: {authorizationEnabled: true, authorizationMode: mq}\n")
    assert "MS2024" in why and "Security/Permissions" in why, why
    why = refusal(binary, folder, "role", "Security: {Permissions: {viewers: 'read'}}\n")
    assert "MS2003" in why and "Security/Permissions/viewers" in why, why
    why = refusal(binary, folder, "key", "{}\n", "--admin-keystore", folder / "missing.pem")
    assert "missing.pem" in why, why


@case
def a_key_says_that_something_else_protects_the_port(binary, folder):
    work = work_folder(folder, """
RestAdminListener: {host: 0.0.0.0}
Millstream: {Administration: {AllowAnonymous: true}}
""")
    with Server(binary, PROJECT, "--work-dir", work) as server:
        assert call(server.admin_port, "GET", "/apiv2").status == 200
    work = work_folder(folder / "plain", """
RestAdminListener: {host: 0.0.0.0, basicAuth: true}
Millstream: {Administration: {AllowPlainHttp: true}}
""")
    add_users(binary, work)
    with Server(binary, PROJECT, "--work-dir", work) as server:
        assert call(server.admin_port, "GET", "/apiv2").status == 401
        assert call(server.admin_port, "GET", "/apiv2", user="looker").status == 200


@case
def dev_stays_on_this_machine(binary, folder):
    work = work_folder(folder, "RestAdminListener: {host: 0.0.0.0, basicAuth: true}\n")
    with Server(binary, PROJECT, "--work-dir", work, "--dev") as server:
        assert call(server.admin_port, "POST", FLOW + "/stop").status == 200
        assert call(server.admin_port, "GET", "/apiv2", user="anybody").status == 200
        listening = Path("/proc/net/tcp").read_text()
        assert f"00000000:{server.admin_port:04X}" not in listening, "it listens on all addresses"
        assert f"0100007F:{server.admin_port:04X}" in listening, listening


if __name__ == "__main__":
    main(__doc__)
