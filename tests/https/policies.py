"""Policies: of the listeners, of requests, of security; what is wrong with them; and that they change by redeployment."""
import json
import os
import shutil
import socket
import subprocess
import threading
import time

from lab import Server, curl, expect, test
from make_project import HEAD, Project
from peers import Backend, Proxy
from pki import openssl

PAUSE = threading.Event()  # never set: between two looks


def policy(kind, name, **properties):
    inner = "".join(f"\n    <{k}>{v}</{k}>" for k, v in properties.items())
    return f'  <policy policyType="{kind}" policyName="{name}" policyTemplate="">{inner}\n  </policy>\n'


def policy_project(folder, name, *policies):
    """One file a policy, as the Toolkit has it."""
    folder = folder / "projects" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "policy.descriptor").write_text(
        HEAD + '<ns2:policyProjectDescriptor xmlns="http://com.ibm.etools.mft.descriptor.base" '
        'xmlns:ns2="http://com.ibm.etools.mft.descriptor.policyProject"><references/></ns2:policyProjectDescriptor>\n')
    for text in policies:
        title = text.split('policyName="')[1].split('"')[0]
        write(folder / f"{title}.policyxml", text)


def write(path, policies):
    """In one step: a watch must not see half a file."""
    beside = path.with_suffix(".new")
    beside.write_text(HEAD + "<policies>\n" + policies + "</policies>\n")
    os.replace(beside, path)


def workspace(lab, name):
    """A folder with a copy of the usual project below projects/, for policies beside it."""
    folder = lab.folder / name
    shutil.copytree(lab.folder / "projects", folder / "projects")
    return folder


def request_flow(folder, name, properties, node="ComIbmWSRequest", project="Caller", entry=None):
    p = Project(folder / "projects", project)
    p.flow(name, [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/" + name, "faultFormat": "JSON",
                                                         **(entry or {})}),
                  ("q", node, "Request", {"URLSpecifier": "http://127.0.0.1:1/path", "httpVersion": "1.1",
                                          "timeoutForServer": "20", **properties}),
                  ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> q.in", "q.out -> r.in"])


def ask(server, name, body=b"hello", *arguments):
    return curl(server.plain_url("/" + name), "-H", "Content-Type: text/plain", *arguments, body=body)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, "not in time:", what)
        PAUSE.wait(0.1)


# ------------------------------------------------------------------------------------------ the listeners

@test
def listeners_are_as_their_policies_say(lab):
    folder = workspace(lab, "listeners")
    store = lab.ca.pkcs12("server", "secret", "own")
    plain, secure = free_port(), free_port()
    policy_project(folder, "Listeners", policy("HTTPConnector", "Plain", ListenerPort=plain, ListenerAddress="127.0.0.1",
                                               CORSEnabled="true"),
                   policy("HTTPSConnector", "Secure", ListenerPort=secure, ListenerAddress="127.0.0.1", KeystoreFile=store,
                          KeystoreType="PKCS12", KeystorePassword="storeKeys", KeyAlias="own", TruststoreFile=lab.ca.pem,
                          TruststorePassword="", ReqClientAuth="true", SSLProtocol="TLSv1.3"))
    lab.credentials += "    keystore:\n      storeKeys: {password: secret}\n"
    defaults = ("Defaults:\n  policyProject: Listeners\n  Policies:\n    HTTPConnector: Plain\n"
                "    HTTPSConnector: '{Listeners}:Secure'\n")
    # What the file says itself, the policy wins over.
    conf = lab.conf(f"ListenerPort: 1\nKeystoreFile: missing.pem\nSSLProtocol: TLSv1.2") + defaults
    trust, own = ("--cacert", lab.ca.pem), ("--cert", lab.ca.folder / "client.pem")
    with Server(lab.binary, folder, conf, ports=()) as s:
        expect((s.port, s.secure_port) == (plain, secure), s.port, s.secure_port)
        expect(json.loads(curl(s.secure_url("/who"), *trust, *own, body=b"").body)["subject"] == "CN=client one")
        expect(curl(s.secure_url("/who"), *trust, body=b"").status == 0, "without a certificate")
        expect(curl(s.secure_url("/who"), *trust, *own, "--tls-max", "1.2", body=b"").status == 0, "TLS 1.2")
        reply = curl(s.plain_url("/plain"), "-H", "Origin: http://page.example", body=b"x")
        expect(reply.headers.get("access-control-allow-origin") == "*", reply)
        addresses = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True).stdout
        expect(f"127.0.0.1:{plain}" in addresses and f"127.0.0.1:{secure}" in addresses, addresses)
    with Server(lab.binary, folder, conf) as s:  # the command line wins
        expect(s.port != plain and s.secure_port != secure)


@test
def wrong_listener_policies_are_refused_at_their_line(lab):
    folder = workspace(lab, "wrong-listeners")
    good = policy("HTTPSConnector", "Good", KeystoreFile=lab.pem)
    bad = {"Port": {"ListenerPort": "many"}, "Auth": {"KeystoreFile": lab.pem, "ReqClientAuth": "perhaps"},
           "Protocol": {"KeystoreFile": lab.pem, "SSLProtocol": "SSLv3"}, "Store": {"KeystoreFile": "missing.p12"},
           "Type": {"KeystoreFile": lab.pem, "KeystoreType": "BKS"}}
    policy_project(folder, "Listeners", good, *(policy("HTTPSConnector", n, **p) for n, p in bad.items()),
                   policy("HTTPConnector", "Plain", ListenerPort="0"))

    def errors(https, more=""):
        s = Server(lab.binary, folder, f"Defaults:\n  Policies:\n    HTTPSConnector: '{https}'\n" + more + lab.credentials)
        text = "\n".join(s.errors)
        expect((s.port == 0) == (s.stop() == 1), text)
        return text

    expect("error" not in errors("{Listeners}:Good"))
    text = errors("Good")
    expect("server.conf.yaml:3:21: error" in text and "not in the policy project 'DefaultPolicies'" in text, text)
    expect(errors("Good", "  policyProject: Listeners\n").count("error") == 0)
    text = errors("{Listeners}:Plain")
    expect("of type HTTPConnector, where one of type HTTPSConnector" in text and "Plain.policyxml" in text, text)
    expect("which does not name a policy" in errors("{Listeners}Good"))
    for name, line, what in (("Port", 4, "'many'"), ("Auth", 5, "'perhaps'"), ("Protocol", 3, "SSLv3"), ("Type", 5, "BKS")):
        text = errors("{Listeners}:" + name)
        expect(f"{name}.policyxml:{line}:" in text and what in text, name, text)
    expect("missing.p12" in errors("{Listeners}:Store"))
    text = errors("{Listeners}:Good", "    monitoringProfile: M\n")
    expect("warning" in text and "Defaults/Policies/monitoringProfile names the policy 'M'" in text, text)
    text = errors("{Listeners}:Good", "    securityProfile: '{Security}:Ldap'\n")
    expect("server.conf.yaml:4" in text and "security profile '{Security}:Ldap'" in text, text)


@test
def keys_and_client_certificates_follow_a_policy_that_changes(lab):
    folder = workspace(lab, "changing")
    trust, own = ("--cacert", lab.ca.pem), ("--cert", lab.ca.folder / "client.pem")
    second = lab.ca.issue("renewed", common_name="renewed")
    policy_project(folder, "DefaultPolicies", policy("HTTPSConnector", "Secure", KeystoreFile=lab.pem))
    file = folder / "projects" / "DefaultPolicies" / "Secure.policyxml"
    with Server(lab.binary, folder, "Defaults:\n  Policies:\n    HTTPSConnector: Secure\n" + lab.credentials, "--watch") as s:
        expect(curl(s.secure_url("/echo"), *trust, body=b"x").status == 200)
        write(file, policy("HTTPSConnector", "Secure", KeystoreFile=second, TruststoreFile=lab.ca.pem, ReqClientAuth="true"))
        wait_for(lambda: curl(s.secure_url("/echo"), *trust, body=b"x").status == 0, "a certificate is asked for")
        reply = curl(s.secure_url("/echo"), *trust, *own, "-v", body=b"x")
        expect(reply.status == 200 and "CN=renewed" in reply.error, reply)
        for bad in (policy("HTTPSConnector", "Secure", KeystoreFile="gone.pem"),
                    policy("HTTPSConnector", "Secure", KeystoreFile=lab.pem, ListenerPort="x"),
                    policy("HTTPConnector", "Secure")):
            seen = len(s.errors)
            write(file, bad)
            wait_for(lambda: any("error" in e for e in s.errors[seen:]), bad)
            reply = curl(s.secure_url("/echo"), *trust, *own, "-v", body=b"x")
            expect(reply.status == 200 and "CN=renewed" in reply.error, "the former keys go on", reply)
        write(file, policy("HTTPSConnector", "Secure", KeystoreFile=lab.pem, ListenerPort="7999"))
        wait_for(lambda: curl(s.secure_url("/echo"), *trust, body=b"x").status == 200, "the first keys again")
        wait_for(lambda: any("MS2033" in e and "HTTPS port" in e for e in s.errors), "a warning about the port")


# -------------------------------------------------------------------------------------------- requests

@test
def requests_go_where_their_policy_says(lab):
    folder = lab.folder / "requests"
    elsewhere = lab.ca.issue("elsewhere", names="DNS:elsewhere.example")
    with Backend(lab.pem) as secure, Backend(elsewhere) as other, Backend() as plain, Proxy() as proxy:
        tls = {"endpointUrl": f"https://localhost:{secure.port}"}
        policy_project(folder, "DefaultPolicies",
                       policy("HTTPRequest", "Secure", **tls, credentialName="partner", hostnameChecking="true"),
                       policy("HTTPRequest", "Token", **tls, credentialName="token", protocol="TLSv1.2", keyAlias=""),
                       policy("HTTPRequest", "Key", **tls, credentialName="keyed", apiKeyName="X-Api-Key",
                              apiKeyLocation="header"),
                       policy("HTTPRequest", "Form", **tls, credentialName="keyed", apiKeyName="key",
                              apiKeyLocation="body URL encoded"),
                       policy("HTTPRequest", "Proxied", endpointUrl=f"http://127.0.0.1:{plain.port}",
                              httpProxyLocation=f"127.0.0.1:{proxy.port}"),
                       policy("HTTPRequest", "Name", endpointUrl=other.url("", "localhost"), hostnameChecking="true"),
                       policy("HTTPRequest", "Hasty", endpointUrl=f"http://127.0.0.1:{silent_port(lab)}",
                              timeoutForServer="1"))
        for name in ("Secure", "Token", "Key", "Form", "Proxied", "Name", "Hasty"):
            request_flow(folder, name, {"policyUrl": name})
        request_flow(folder, "Qualified", {"policyUrl": "{DefaultPolicies}:Secure"})
        request_flow(folder, "Zipped", {"policyUrl": "Form", "requestCompressionType": "gzip"})
        lab.credentials += "      keyed: {username: kim, password: pw, apiKey: 'k&1'}\n"
        with Server(lab.binary, folder, lab.conf("", f"truststoreFile: {lab.ca.pem}"), ports=Server.PLAIN) as s:
            for name in ("Secure", "Qualified"):
                reply = ask(s, name)
                expect(reply.body == b"hello" and reply.headers["x-authorization"] == "Basic Ym9iOnB3", reply)
                expect(secure.seen[-1][1] == "/path", secure.seen[-1])
                expect(secure.seen[-1][2]["Host"] == f"localhost:{secure.port}", secure.seen[-1])
            reply = ask(s, "Token")
            expect(reply.headers["x-authorization"] == "Bearer abc.def" and reply.headers["x-version"] == "TLSv1.2", reply)
            reply = ask(s, "Key")
            expect(secure.seen[-1][2]["X-Api-Key"] == "k&1" and reply.body == b"hello", secure.seen[-1])
            expect(ask(s, "Form", b"a=b").body == b"a=b&key=k%261")
            expect(ask(s, "Form", b"").body == b"key=k%261")
            expect(ask(s, "Zipped", b"a=b").body == b"a=b&key=k%261", "compressed")
            expect(ask(s, "Proxied").body == b"hello" and len(proxy.seen) == 1, proxy.seen)
            reply = ask(s, "Name")
            expect(reply.status == 500 and b"MS1355E" in reply.body, "the name in the certificate", reply)
            started = time.monotonic()
            expect(ask(s, "Hasty").status == 500 and time.monotonic() - started < 10, "time-out of the policy")


def silent_port(lab):
    """Of a listener that takes connections and says nothing, as long as the tests run."""
    lab.silent = socket.create_server(("127.0.0.1", 0), backlog=50)
    return lab.silent.getsockname()[1]


@test
def certificates_that_signed_themselves(lab):
    folder = lab.folder / "self-signed"
    folder.mkdir()

    def make(name, *more):
        key, crt = folder / f"{name}.key", folder / f"{name}.crt"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                crt, "-subj", "/CN=localhost", *(more or ("-days", "2")))
        both = folder / f"{name}.pem"
        both.write_text(key.read_text() + crt.read_text())
        return both

    old = lab.ca.issue("expired-here", expired=True)
    with Backend(make("own")) as own, Backend(lab.pem) as issued, Backend(old) as expired:
        for name, back in (("Own", own), ("Issued", issued), ("Expired", expired)):
            policy_project(folder, "DefaultPolicies",
                           policy("HTTPRequest", name, endpointUrl=back.url("", "localhost"), acceptSelfSignedCerts="true"),
                           policy("HTTPRequest", "Strict", endpointUrl=own.url("", "localhost"),
                                  acceptSelfSignedCerts="false"))
            request_flow(folder, name, {"policyUrl": name})
        request_flow(folder, "Strict", {"policyUrl": "Strict"})
        with Server(lab.binary, folder, ports=Server.PLAIN) as s:
            expect(ask(s, "Own").body == b"hello")
            # One that a stranger has signed is no better than before.
            for name in ("Strict", "Issued", "Expired"):
                reply = ask(s, name)
                expect(reply.status == 500 and b"MS1355E" in reply.body, name, reply)


@test
def wrong_request_policies_are_refused_at_their_line(lab):
    folder = lab.folder / "wrong-requests"
    cases = {"Url": ({"endpointUrl": "ldap://host"}, "Url.policyxml:4", "such as https://host:port"),
             "Flag": ({"acceptSelfSignedCerts": "maybe"}, "Flag.policyxml:4", "'maybe'"),
             "Where": ({"credentialName": "partner", "apiKeyName": "k", "apiKeyLocation": "cookie"},
                       "Where.policyxml:6", "'cookie'"),
             "Alone": ({"apiKeyName": "k"}, "Alone.policyxml:4", "credentialName"),
             "Unknown": ({"overrideHost": "x"}, "Unknown.policyxml:4", "no property 'overrideHost'"),
             "Nobody": ({"credentialName": "nobody"}, "Nobody.msgflow", "'http::nobody'"),
             "Ciphers": ({"allowedCiphers": "rot13"}, "Ciphers.policyxml:4", "rot13"),
             "Missing": (None, "Missing.msgflow:", "not in the policy project 'DefaultPolicies'"),
             "Listener": (None, "Listener.msgflow:", "of type HTTPSConnector, where one of type HTTPRequest")}
    for node in ("ComIbmWSRequest", "ComIbmHTTPAsyncRequest"):
        for name, (properties, place, what) in cases.items():
            shutil.rmtree(folder, ignore_errors=True)
            policy_project(folder, "DefaultPolicies", policy("HTTPSConnector", "Listener"))
            if properties is not None:
                policy_project(folder, "DefaultPolicies", policy("HTTPRequest", name, **properties))
            more = {"asyncResponseCorrelator": "x"} if "Async" in node else {}
            request_flow(folder, name, {"policyUrl": name, **more}, node)
            s = Server(lab.binary, folder, lab.credentials, ports=Server.PLAIN)
            text = "\n".join(s.errors)
            expect(s.port == 0 and s.stop() == 1 and place in text and what in text, node, name, text)


@test
def policies_of_rest_and_asynchronous_requests(lab):
    folder = lab.folder / "other-requests"
    with Backend(lab.pem) as secure:
        policy_project(folder, "DefaultPolicies", policy("HTTPRequest", "Secure", endpointUrl=secure.url("", "localhost"),
                                                         credentialName="partner"))
        p = Project(folder / "projects", "Caller")
        (p.folder / "stock.yaml").write_text(
            "openapi: 3.0.3\ninfo: {title: Stock, version: '1'}\nservers: [{url: 'http://stock.example.com/v1'}]\n"
            "paths:\n  /items:\n    put:\n      operationId: change\n      requestBody: {content: {text/plain: {schema: "
            "{type: string}}}}\n      responses: {200: {description: All}}\n")
        node = {"definitionFile": "stock.yaml", "definitionType": "openapi_3", "operationName": "change",
                "policyUrl": "Secure", "messageDomainProperty": "BLOB"}
        p.flow("Rest", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/Rest", "faultFormat": "JSON"}),
                        ("q", "ComIbmRESTRequest", "Ask", node), ("r", "ComIbmWSReply", "HTTP Reply", {})],
               ["in.out -> q.in", "q.out -> r.in"])
        p.flow("Send", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/Async"}),
                        ("q", "ComIbmHTTPAsyncRequest", "Send", {
                            "URLSpecifier": "http://127.0.0.1:1/path", "asyncResponseCorrelator": "c", "policyUrl": "Secure"})],
               ["in.out -> q.in"])
        p.flow("Got", [("in", "ComIbmHTTPAsyncResponse", "Got", {"asyncRequestCorrelator": "c"}),
                       ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
        with Server(lab.binary, folder, lab.conf("", f"truststoreFile: {lab.ca.pem}"), ports=Server.PLAIN) as s:
            for name, path in (("Rest", "/v1/items"), ("Async", "/path")):
                reply = ask(s, name)
                expect(reply.status == 200 and reply.body == b"hello", name, reply)
                expect(secure.seen[-1][1] == path, name, secure.seen[-1])
                expect(secure.seen[-1][2]["Authorization"] == "Basic Ym9iOnB3", secure.seen[-1])


@test
def request_policies_change_by_redeployment(lab):
    folder = lab.folder / "moving"
    with Backend() as first, Backend() as second:
        policy_project(folder, "DefaultPolicies", policy("HTTPRequest", "There", endpointUrl=first.url("", "127.0.0.1", "http")))
        file = folder / "projects" / "DefaultPolicies" / "There.policyxml"
        request_flow(folder, "Ask", {})
        # The node names no policy: an override does.
        overrides = folder / "o.txt"
        overrides.write_text("Ask#Request.policyUrl=There\n")
        with Server(lab.binary, folder, "", "--watch", "--overrides", overrides, ports=Server.PLAIN) as s:
            expect(ask(s, "Ask").status == 200 and len(first.seen) == 1, s.errors)
            write(file, policy("HTTPRequest", "There", endpointUrl=second.url("", "127.0.0.1", "http")))
            wait_for(lambda: ask(s, "Ask").status == 200 and second.seen, "the second back end")
            write(file, policy("HTTPRequest", "There", endpointUrl="nonsense"))
            wait_for(lambda: any("nonsense" in e for e in s.errors), "the error")
            expect(any("There.policyxml:4:" in e for e in s.errors), s.errors)
            before = len(second.seen)
            expect(ask(s, "Ask").status == 200 and len(second.seen) == before + 1, "the former policy goes on")


# -------------------------------------------------------------------------------------------- security

@test
def security_profiles_are_refused_with_their_place(lab):
    folder = lab.folder / "profiles"
    none = {"authentication": "NONE", "authorization": "NONE", "mapping": "NONE"}

    def check(node="", flow="", override=""):
        shutil.rmtree(folder, ignore_errors=True)
        policy_project(folder, "Security", policy("SecurityProfiles", "Ldap", **{**none, "authentication": "LDAP",
                                                                              "authenticationConfig": "ldap://host"}))
        request_flow(folder, "Asks", {"securityProfileName": node} if node else {})
        overrides = folder / "o.txt"
        overrides.write_text((f"Asks#securityProfileName={flow}\n" if flow else "") +
                             (f"Asks#Request.securityProfileName={override}\n" if override else ""))
        done = subprocess.run([lab.binary, "check", folder / "projects", "--overrides", overrides], capture_output=True,
                              text=True)
        expect(done.returncode == 1, done)
        return done.stdout + done.stderr

    text = check(node="{Security}:Ldap")
    expect("Asks.msgflow:" in text and "'{Security}:Ldap' (set in the flow, for the node 'Request')" in text, text)
    expect("its authentication is LDAP" in text and "Ldap.policyxml:3" in text, text)
    for which, owner in (("flow", "flow 'Asks'"), ("override", "node 'Request'")):
        text = check(**{which: "{Security}:Ldap"})
        expect("o.txt:1" in text and f"set by the overrides file, for the {owner})" in text and "its authentication is LDAP" in text, text)
    text = check(node="MyLdapProfile")
    expect("'MyLdapProfile'" in text and "not in the policy project 'DefaultPolicies'" in text, text)


@test
def security_profiles_that_ask_nobody(lab):
    folder = lab.folder / "carrying"
    none = {"authentication": "NONE", "authorization": "NONE", "mapping": "NONE", "passwordValue": "PLAIN"}
    policy_project(folder, "Security", policy("SecurityProfiles", "Carry", **none, propagation="TRUE"),
                   policy("SecurityProfiles", "Drop", **none, propagation="FALSE"))
    with Backend() as b:
        for name in ("Carry", "Drop"):
            profile = {"securityProfileName": "{Security}:" + name}
            request_flow(folder, name, {"URLSpecifier": b.url("/x", "127.0.0.1", "http"), **profile}, entry=profile)
        request_flow(folder, "Whole", {"URLSpecifier": b.url("/x", "127.0.0.1", "http")})
        overrides = folder / "o.txt"  # of the flow: its nodes have none of their own
        overrides.write_text("Whole#securityProfileName=Default Propagation\n")
        with Server(lab.binary, folder, "", "--overrides", overrides, ports=Server.PLAIN) as s:
            for name, sent in (("Carry", "Basic YW5uOnB3"), ("Drop", "none"), ("Whole", "Basic YW5uOnB3")):
                reply = ask(s, name, b"x", "-u", "ann:pw")
                expect(reply.headers.get("x-authorization") == sent, name, reply)


@test
def a_summary_counts_policies_that_work(lab):
    folder = lab.folder / "counted"
    policy_project(folder, "Some", policy("HTTPRequest", "A", endpointUrl="https://host"),
                   policy("HTTPRequest", "B", endpointUrl="host"), policy("HTTPConnector", "C", ListenerPort="7800"),
                   policy("HTTPSConnector", "D", ListenerPort="-5"), policy("SecurityProfiles", "E", propagation="TRUE"),
                   policy("SecurityProfiles", "F", authentication="LDAP"), policy("MQEndpoint", "G"))
    done = subprocess.run([lab.binary, "check", "--summary", "--json", folder / "projects"], capture_output=True, text=True)
    found = json.loads(done.stdout)
    expect(found["policies"] == {"complete": 3, "total": 7}, found["policies"])
    names = {gap["name"] for gap in found["unsupported"]}
    expect(names == {"policy of type " + t for t in ("HTTPRequest", "HTTPSConnector", "SecurityProfiles", "MQEndpoint")}, names)


@test
def a_deployment_with_a_wrong_policy_changes_nothing(lab):
    folder = workspace(lab, "deployed")
    trust, admin = ("--cacert", lab.ca.pem), free_port()
    second = lab.ca.issue("deployed", common_name="deployed")
    policy_project(folder, "DefaultPolicies", policy("HTTPSConnector", "Secure", KeystoreFile=lab.pem))

    def deploy(name, **properties):
        place = lab.folder / f"to-deploy-{name}"
        policy_project(place, "DefaultPolicies", policy("HTTPSConnector", "Secure", **properties))
        return subprocess.run([lab.binary, "deploy", place / "projects", "--url", f"http://127.0.0.1:{admin}"],
                              capture_output=True, text=True)

    with Server(lab.binary, folder, "Defaults:\n  Policies:\n    HTTPSConnector: Secure\n" + lab.credentials,
                "--admin-port", admin) as s:
        expect(curl(s.secure_url("/echo"), *trust, body=b"x").status == 200)
        for name, bad, what in (("value", {"KeystoreFile": lab.pem, "ReqClientAuth": "maybe"}, "'maybe'"),
                                ("file", {"KeystoreFile": "gone.pem"}, "gone.pem")):
            done = deploy(name, **bad)
            expect(done.returncode != 0 and what in done.stdout + done.stderr, done)
            expect("CN=localhost" in curl(s.secure_url("/echo"), *trust, "-v", body=b"x").error, "the keys of before")
        done = deploy("good", KeystoreFile=second)
        expect(done.returncode == 0, done)
        expect("CN=deployed" in curl(s.secure_url("/echo"), *trust, "-v", body=b"x").error, "the new keys")
