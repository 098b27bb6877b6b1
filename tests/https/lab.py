#!/usr/bin/env python3
"""What the tests of this folder share: servers, projects, certificates, and a list of the tests themselves."""
import functools
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common"), str(HERE.parent / "http")]
import harness  # noqa: E402
from harness import case_of  # noqa: E402
from make_project import Project, module  # noqa: E402
from pki import Authority  # noqa: E402


@contextmanager
def lab(binary, folder):
    yield Lab(binary, folder)


def test(function):
    """A case that gets the Lab, with its credentials as they were at first."""
    @case_of(lab)
    @functools.wraps(function)
    def run(given):
        given.credentials = CREDENTIALS
        function(given)
    return function


class Server(harness.Server):
    """With a work directory of its own. `ports` is what the command line says about them."""

    PLAIN = ("--http-port", "0", "--host", "127.0.0.1")
    BOTH = PLAIN + ("--https-port", "0")

    def __init__(self, binary, folder, conf="", *arguments, ports=BOTH):
        work = Path(tempfile.mkdtemp(dir=folder))
        (work / "server.conf.yaml").write_text(conf)
        admin = () if "--admin-port" in arguments else ("--admin-port", "off")
        super().__init__(binary, folder / "projects", "--work-dir", work, *ports, *admin, *arguments,
                         unset=() if ports else ("--http-port", "--host"))

    def secure_url(self, path, host="localhost"):
        return f"https://{host}:{self.secure_port}{path}"

    def plain_url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"


class Reply:
    """What curl has printed; `code` is its exit code."""

    def __init__(self, done):
        self.code, self.error, rest, head = done.returncode, done.stderr.decode(), done.stdout, b""
        while rest.startswith(b"HTTP/"):
            head, _, rest = rest.partition(b"\r\n\r\n")
            if not re.match(rb"HTTP/[\d.]+ 1\d\d", head):
                break  # the last one: what follows is the body
        self.status_line, *fields = head.decode("latin-1").split("\r\n")
        self.headers = {n.lower(): v for n, _, v in (f.partition(": ") for f in fields)}
        self.body = rest
        self.status = int(self.status_line.split(" ")[1]) if self.status_line else 0

    def __repr__(self):
        return f"Reply({self.status_line} {self.headers} {self.body[:500]} curl {self.code} {self.error})"


def curl(url, *arguments, body=None, timeout=30):
    command = ["curl", "-sS", "-i", "--http1.1", "--max-time", str(timeout), *map(str, arguments), url]
    if body is not None:
        command += ["--data-binary", "@-"]
    return Reply(subprocess.run(command, input=body, capture_output=True))


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


# ------------------------------------------------------------------------------------------ projects

DESCRIBE = """
    DECLARE root REFERENCE TO InputLocalEnvironment.HTTP.Input;
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.JSON.Data.scheme = InputRoot.HTTPInputHeader."X-Scheme";
    SET OutputRoot.JSON.Data.port = InputRoot.HTTPInputHeader."X-Server-Port";
    SET OutputRoot.JSON.Data.url = InputRoot.HTTPInputHeader."X-Original-HTTP-URL";
    SET OutputRoot.JSON.Data.command = InputRoot.HTTPInputHeader."X-Original-HTTP-Command";
    SET OutputRoot.JSON.Data.version = root.RequestLine.HTTPVersion;
    SET OutputRoot.JSON.Data.subject = COALESCE(root.ClientCertificate.Subject, 'none');
    SET OutputRoot.JSON.Data.issuer = COALESCE(root.ClientCertificate.Issuer, 'none');
    SET OutputRoot.JSON.Data.type = InputRoot.Properties.IdentitySourceType;
    SET OutputRoot.JSON.Data.token = InputRoot.Properties.IdentitySourceToken;
    SET OutputRoot.JSON.Data.password = InputRoot.Properties.IdentitySourcePassword;
    SET OutputRoot.JSON.Data.issuedBy = InputRoot.Properties.IdentitySourceIssuedBy;
    RETURN TRUE;"""

CALL = """
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.BLOB.BLOB = InputRoot.BLOB.BLOB;
    SET OutputLocalEnvironment = InputLocalEnvironment;
    DECLARE h REFERENCE TO InputRoot.HTTPInputHeader;
    DECLARE d REFERENCE TO OutputLocalEnvironment.Destination.HTTP;
    SET d.RequestURL = h."X-Target";
    IF h."X-Set-Protocol" IS NOT NULL THEN SET d.SSLProtocol = h."X-Set-Protocol"; END IF;
    IF h."X-Set-Ciphers" IS NOT NULL THEN SET d.SSLCiphers = h."X-Set-Ciphers"; END IF;
    IF h."X-Set-Alias" IS NOT NULL THEN SET d.KeyAlias = h."X-Set-Alias"; END IF;
    IF h."X-Set-Proxy" IS NOT NULL THEN SET d.ProxyURL = h."X-Set-Proxy"; END IF;
    IF h."X-Set-Compression" IS NOT NULL THEN SET d.Compression = h."X-Set-Compression"; END IF;
    RETURN TRUE;"""


def make_projects(folder):
    p = Project(folder / "projects", "Secure")
    reply = ("r", "ComIbmWSReply", "HTTP Reply", {})

    def echo(name, path, properties, answer=None):
        p.flow(name, [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": path, **properties}),
                      answer or reply], ["in.out -> r.in"])

    echo("Echo", "/echo", {"useHTTPS": "true"})
    echo("PlainEcho", "/plain", {})
    echo("Unpack", "/unpack", {"decompressInputMessage": "true", "faultFormat": "JSON"})
    for coding in ("gzip", "zlib", "deflate"):
        echo("Pack" + coding, "/pack/" + coding, {}, ("r", "ComIbmWSReply", "HTTP Reply", {"compressionType": coding}))
    describe = ("c", "ComIbmCompute", "Describe", {"computeExpression": "esql://routine/#Describe.Main"})
    p.esql("Describe", module("Describe", DESCRIBE))
    for name, more in (("Who", {"useHTTPS": "true"}),
                       ("Identity", {"securityProfileName": "Default Propagation"})):
        p.flow(name, [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/" + name.lower(), **more}), describe,
                      reply], ["in.out -> c.in", "c.out -> r.in"])
    call = ("c", "ComIbmCompute", "Call", {"computeExpression": "esql://routine/#Call.Main", "computeMode": "all"})
    p.esql("Call", module("Call", CALL))
    for name, more in (("call", {}), ("checked", {"hostnameChecking": "true"}),
                       ("accepts", {"acceptCompressedResponses": "true", "followRedirection": "true"}),
                       ("identified", {"securityIdentity": "partner"}), ("bearer", {"securityIdentity": "http::token"}),
                       ("propagates", {"securityProfileName": "Default Propagation"})):
        node = {"URLSpecifier": "http://127.0.0.1:1/", "httpVersion": "1.1", "timeoutForServer": "20", **more}
        entry = {"URLSpecifier": "/" + name, "faultFormat": "JSON"}
        if name == "propagates":
            entry["securityProfileName"] = "Default Propagation"
        p.flow("Call" + name, [("in", "ComIbmWSInput", "HTTP Input", entry), call,
                               ("q", "ComIbmWSRequest", "HTTP Request", node), reply],
               ["in.out -> c.in", "c.out -> q.in", "q.out -> r.in"])


CREDENTIALS = ("Credentials:\n  ServerCredentials:\n    http:\n      partner: {username: bob, password: pw}\n"
               "      token: {accessToken: abc.def}\n")


class Lab:
    """What all tests share: certificates, projects."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, Path(folder)
        make_projects(self.folder)
        self.ca = Authority(self.folder / "ca")
        self.other = Authority(self.folder / "other", "Other CA")
        self.pem = self.ca.issue("server")
        self.ca.issue("client", names="", common_name="client one")
        self.credentials = CREDENTIALS

    def conf(self, https="", jvm=""):
        both = ""
        if https:
            both += "  HTTPSConnector:\n" + "".join(f"    {line}\n" for line in https.splitlines())
        if jvm:
            both += "  JVM:\n" + "".join(f"    {line}\n" for line in jvm.splitlines())
        return ("ResourceManagers:\n" + both if both else "") + self.credentials

    def server(self, https=None, jvm="", *arguments):
        https = f"KeystoreFile: {self.pem}" if https is None else https
        return Server(self.binary, self.folder, self.conf(https, jvm), *arguments)

    def client_server(self, jvm=None):
        """For calls out: trusts the test authority."""
        return self.server(None, f"truststoreFile: {self.ca.pem}" if jvm is None else jvm)


def call(server, target, path="/call", body=b"hello", **settings):
    fields = ["-H", f"X-Target: {target}", "-H", "Content-Type: text/plain"]
    for name, value in settings.items():
        fields += ["-H", f"X-Set-{name}: {value}"]
    return curl(server.plain_url(path), *fields, body=body)
