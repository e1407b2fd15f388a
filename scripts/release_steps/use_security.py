"""`ottla[security]`: the packages that verify tokens can be imported with what they need."""

from ottla.security.sasl.jwt import JwtVerifier
from ottla.security.sasl.jwt_claims import ClaimSettings

assert JwtVerifier(ClaimSettings())
