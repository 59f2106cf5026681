"""A certificate authority for one test run, which signs a certificate for each host name of a test site.

Nothing is written except a temporary file for each certificate, because `ssl` reads keys from files only.
"""

from __future__ import annotations

import ssl
import tempfile
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hatbox.errors import MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

__all__ = ["TestAuthority", "test_authority"]

_VALID: Final = timedelta(days=2)


class TestAuthority:
    """A certificate authority that only this process knows."""

    __test__ = False  # not a test class

    def __init__(self) -> None:
        self._key, self._certificate = _issue("Hatbox test authority", None)

    @property
    def pem(self) -> str:
        """Its certificate, for clients that are to trust the sites of the test."""
        return _pem(self._certificate).decode("ascii")

    @property
    def key_hash(self) -> str:
        """The SHA-256 of its public key in base64, by which Chromium trusts a certificate."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        key = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return b64encode(sha256(key).digest()).decode("ascii")

    def server_context(self, host: str) -> ssl.SSLContext:
        """The TLS settings of a server with this host name."""
        key, certificate = _issue(host, (self._key, self._certificate))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "certificate.pem"
            file.touch(0o600)
            file.write_bytes(_private_pem(key) + _pem(certificate) + _pem(self._certificate))
            context.load_cert_chain(file)
        return context


@cache
def test_authority() -> TestAuthority:
    """The authority of this test run, created when it is first needed. Raises MissingExtra without `cryptography`."""
    return TestAuthority()


test_authority.__test__ = False  # type: ignore[attr-defined] # not a test


def _issue(
    name: str, issuer: tuple[EllipticCurvePrivateKey, Certificate] | None
) -> tuple[EllipticCurvePrivateKey, Certificate]:
    """A key and its certificate; without an issuer, of an authority that signs itself."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.x509.oid import NameOID
    except ImportError:
        raise MissingExtra("encryption", "cryptography") from None
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
    signer, signed_by = (key, subject) if issuer is None else (issuer[0], issuer[1].subject)
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(subject_name=subject, issuer_name=signed_by, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _VALID)
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if issuer is None:
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        builder = builder.add_extension(usage, critical=True)
    else:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return key, builder.sign(signer, SHA256())


def _pem(certificate: Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _private_pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
