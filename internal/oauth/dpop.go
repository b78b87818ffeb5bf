package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"crypto"

	"github.com/go-jose/go-jose/v4"

	"github.com/gybob/aai-gateway"
)

// proofKey is the key that the tokens of one login are bound to (RFC 9449), as a JWK. The key is
// stored with the tokens, which are useless without it.
type proofKey struct{ jose.JSONWebKey }

func newProofKey() (*proofKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, aai.Errorf(aai.Internal, "no key could be made: %w", err)
	}
	return &proofKey{jose.JSONWebKey{Key: key, Algorithm: string(jose.ES256)}}, nil
}

// thumbprint returns the public key's thumbprint (RFC 7638).
func (k *proofKey) thumbprint() (string, error) {
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		return "", aai.Errorf(aai.Internal, "a key has no thumbprint: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sum), nil
}

// proof returns a proof that the sender of the request has the key (RFC 9449, section 4.2). The
// access token is empty for an authorization server.
func (l *Authorizer) proof(key *proofKey, method string, u *url.URL, access string) (string, error) {
	target := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	claims := map[string]any{"htm": method, "htu": target.String(), "iat": l.now().Unix(), "jti": rand.Text()}
	if access != "" {
		sum := sha256.Sum256([]byte(access))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if n := l.nonceFor(u); n.value != "" {
		claims["nonce"] = n.value
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key.Key}, options)
	if err != nil {
		return "", aai.Errorf(aai.Internal, "a proof cannot be signed: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", aai.Errorf(aai.Internal, "a proof cannot be signed: %w", err)
	}
	return signed.CompactSerialize()
}

// nonce is the value that a server expects in the next proof.
type nonce struct {
	value string
	came  time.Time
}

func (l *Authorizer) nonceFor(u *url.URL) nonce {
	origin, _ := originOf(u.String())
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nonces[origin]
}

// maxNonces limits the number of stored nonces.
const maxNonces = 1000

// learnNonce stores the nonce of a response, and reports whether it has one.
func (l *Authorizer) learnNonce(endpoint string, h http.Header) bool {
	value := h.Get("DPoP-Nonce")
	origin, err := originOf(endpoint)
	if err != nil || value == "" || len(value) > 1000 || !visible(value) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.nonces) >= maxNonces {
		clear(l.nonces)
	}
	if l.nonces[origin].value != value {
		l.nonces[origin] = nonce{value, l.now()}
	}
	return true
}
