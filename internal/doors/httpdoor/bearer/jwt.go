package bearer

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// signatureAlgorithms are the algorithms by which a token may be signed: those with a public key
// that cannot sign. Others, such as "none" and HS256, are refused.
func signatureAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
		jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
}

// tokenTypes are the accepted values of "typ" for an access token (RFC 9068 §2.1); older
// servers use "JWT" or omit it. Other types, such as logout tokens, are refused.
func tokenTypes() []string { return []string{"", "jwt", "at+jwt", "application/at+jwt"} }

// A keySet holds the keys of the authorization server, which change.
type keySet struct{ *cached[publicKeys] }

func newKeySet(now func() time.Time, fetch func(context.Context) (publicKeys, error)) *keySet {
	return &keySet{newCached(now, fetch)}
}

// readJWT returns the claims of a token that the server has signed.
func (i *IssuerVerifier) readJWT(ctx context.Context, token string) (claims, error) {
	parsed, err := jwt.ParseSigned(token, signatureAlgorithms())
	if err != nil || len(parsed.Headers) != 1 {
		return claims{}, &Error{Code: InvalidToken, Description: "the token is no JWT that is signed by an algorithm allowed here", Err: err}
	}
	header := parsed.Headers[0]
	kind, _ := header.ExtraHeaders[jose.HeaderType].(string)
	if !slices.Contains(tokenTypes(), strings.ToLower(kind)) {
		return claims{}, invalidToken("the token is no access token")
	}
	known, err := i.keys.get(ctx)
	if err != nil {
		return claims{}, err
	}
	if c, ok := known.verify(parsed, header); ok {
		return c, nil
	}
	if known.has(header.KeyID) {
		return claims{}, invalidToken("the signature of the token is wrong")
	}
	// The server may have changed its keys.
	if err := i.keys.refresh(ctx); err != nil {
		return claims{}, err
	}
	if known, err = i.keys.get(ctx); err != nil {
		return claims{}, err
	}
	if c, ok := known.verify(parsed, header); ok {
		return c, nil
	}
	return claims{}, invalidToken("the token is signed by no key of the issuer")
}

// has reports whether a key has this id. A token without a key id may be signed with a new
// key.
func (k publicKeys) has(name string) bool { return name != "" && len(k.Key(name)) > 0 }

// verify returns the claims if one of the matching keys has signed the token.
func (k publicKeys) verify(token *jwt.JSONWebToken, header jose.Header) (claims, bool) {
	for _, key := range k.Keys {
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		var c claims
		if token.Claims(key.Key, &c) == nil {
			return c, true
		}
	}
	return claims{}, false
}
