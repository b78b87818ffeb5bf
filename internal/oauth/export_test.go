package oauth

import (
	"context"
	"time"
)

// Internals for tests of other packages.

// BrowserAddress is browserAddress.
func BrowserAddress(address string) (string, error) { return browserAddress(address) }

// BrowserCommand is browserCommand.
func BrowserCommand(address string) (string, []string) { return browserCommand(address) }

// SetSleep replaces the wait between two polls of a login.
func (l *Authorizer) SetSleep(f func(ctx context.Context, d time.Duration) error) { l.sleep = f }

// Digest is digest.
func Digest(parts ...string) string { return digest(parts...) }

// Challenges returns the schemes and parameters that parseChallenges finds.
func Challenges(values ...string) (schemes []string, params []map[string]string) {
	for _, c := range parseChallenges(values) {
		schemes, params = append(schemes, c.scheme), append(params, c.params)
	}
	return schemes, params
}

// CheckDocumentAddress is checkDocumentAddress.
func CheckDocumentAddress(address string) error { return checkDocumentAddress(address) }

// WellKnown is wellKnown.
func WellKnown(issuer string) []string { return wellKnown(issuer) }

// ResourceWellKnown is resourceWellKnown.
func ResourceWellKnown(base string) []string { return resourceWellKnown(base) }
