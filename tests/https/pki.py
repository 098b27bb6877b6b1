"""Certificates for the tests, made by the openssl command in a folder."""
import subprocess
from pathlib import Path

CONFIG = """
[ca]
default_ca = authority
[authority]
dir = {folder}
database = {folder}/index.txt
new_certs_dir = {folder}
serial = {folder}/serial
crlnumber = {folder}/crlnumber
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
default_md = sha256
default_days = 2
default_crl_days = 2
policy = anything
copy_extensions = copy
unique_subject = no
[anything]
commonName = supplied
"""


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"openssl {' '.join(map(str, arguments))}:\n{done.stderr}")
    return done.stdout


class Authority:
    """A certification authority: `pem` is its certificate, `crl` its revocation list."""

    def __init__(self, folder, name="Test CA"):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        (self.folder / "index.txt").write_text("")
        (self.folder / "serial").write_text("1000\n")
        (self.folder / "crlnumber").write_text("01\n")
        self.config = self.folder / "ca.cnf"
        self.config.write_text(CONFIG.format(folder=self.folder))
        self.pem = self.folder / "ca.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                self.folder / "ca.key", "-out", self.pem, "-days", 2, "-subj", f"/CN={name}")
        self.crl = self.folder / "ca.crl"

    def issue(self, name, names="DNS:localhost,IP:127.0.0.1", common_name="localhost", expired=False):
        """Returns a file with key and certificate; NAME.key and NAME.crt have one of them each."""
        key, request, certificate, both = (self.folder / f"{name}.{end}" for end in ("key", "csr", "crt", "pem"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                request, "-subj", f"/CN={common_name}", *(["-addext", f"subjectAltName={names}"] if names else []))
        dates = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"] if expired else []
        openssl("ca", "-batch", "-config", self.config, "-in", request, "-out", certificate, "-notext", *dates)
        both.write_text(key.read_text() + certificate.read_text())
        return both

    def revoke(self, name):
        openssl("ca", "-config", self.config, "-revoke", self.folder / f"{name}.crt")

    def write_crl(self):
        openssl("ca", "-config", self.config, "-gencrl", "-out", self.crl)
        return self.crl

    def pkcs12(self, name, password, alias="key"):
        out = self.folder / f"{name}.p12"
        openssl("pkcs12", "-export", "-in", self.folder / f"{name}.pem", "-name", alias, "-out", out, "-passout",
                f"pass:{password}")
        return out
