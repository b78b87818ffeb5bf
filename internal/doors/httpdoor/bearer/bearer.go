// Package bearer verifies bearer tokens of HTTP requests and returns the principal of each.
// A token is a secret of this computer, kept in a file, or comes from an OAuth 2.1
// authorization server. The package is independent of MCP.
package bearer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
)

// A Verifier maps a token to its principal. It is safe for concurrent use.
type Verifier interface {
	// Verify returns the principal. It returns an *Error if the token is invalid, and any
	// other error if it could not be verified.
	Verify(ctx context.Context, token string) (principal string, err error)
}

// The codes of RFC 6750 §3.1 for an Error.
const (
	InvalidToken      = "invalid_token"
	InsufficientScope = "insufficient_scope"
)

// An Error reports why a token is invalid. A zero Code means that there is no token.
type Error struct {
	Code        string
	Description string
	Err         error // for the log
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Description }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Metadata holds the information that clients of this server need to obtain a token (RFC 9728).
type Metadata struct {
	Resource string // the address of this server, as clients see it
	Issuer   string // identifier of the authorization server
	Scopes   []string
}

// LocalPrincipal is the principal of a SecretVerifier: any process that can read this user's files.
const LocalPrincipal = "local"

// SecretVerifier accepts one token, such as that of a [TokenFile], for [LocalPrincipal].
type SecretVerifier struct{ sum [sha256.Size]byte }

// NewSecretVerifier returns a Verifier that accepts only this token.
func NewSecretVerifier(token string) *SecretVerifier {
	return &SecretVerifier{sum: sha256.Sum256([]byte(token))}
}

// Verify implements Verifier, in a time that does not depend on the token.
func (s *SecretVerifier) Verify(_ context.Context, token string) (string, error) {
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], s.sum[:]) != 1 {
		return "", &Error{Code: InvalidToken, Description: "the token is not of this server, or was revoked"}
	}
	return LocalPrincipal, nil
}
