package bearer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// maxIntrospections limits the concurrent introspection requests to the server.
	maxIntrospections = 16
	// introspectionTTL is the lifetime of an introspection result: a revoked token stays
	// valid for this long.
	introspectionTTL        = 30 * time.Second
	maxCachedIntrospections = 1000
)

// verifyOpaque asks the authorization server about a token (RFC 7662).
func (i *IssuerVerifier) verifyOpaque(ctx context.Context, token string) (claims, error) {
	sum := sha256.Sum256([]byte(token))
	if c, ok := i.introspected.find(sum, i.now()); ok {
		return c, nil
	}
	about, err := i.metadata.get(ctx)
	if err != nil {
		return claims{}, err
	}
	if err := checkAddress(about.IntrospectionEndpoint); err != nil {
		return claims{}, fmt.Errorf("introspection_endpoint: %w", err)
	}
	select {
	case i.introspections <- struct{}{}:
		defer func() { <-i.introspections }()
	case <-ctx.Done():
		return claims{}, ctx.Err()
	}
	c, err := i.introspect(ctx, about.IntrospectionEndpoint, token)
	if err != nil {
		return claims{}, err
	}
	i.introspected.keep(sum, c, i.now())
	return c, nil
}

func (i *IssuerVerifier) introspect(ctx context.Context, endpoint, token string) (claims, error) {
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return claims{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	// RFC 6749 §2.3.1 requires that both are encoded first.
	request.SetBasicAuth(url.QueryEscape(i.cfg.ClientID), url.QueryEscape(i.cfg.ClientSecret))
	var answer struct {
		claims
		Active *bool `json:"active"`
	}
	if err := readJSON(i.cfg.Client, request, &answer); err != nil {
		return claims{}, fmt.Errorf("the issuer cannot be asked about a token: %w", err)
	}
	switch {
	case answer.Active == nil:
		return claims{}, errors.New("the issuer's answer has no member active")
	case !*answer.Active:
		return claims{}, invalidToken("the token is not active")
	}
	return answer.claims, nil
}

// introspectionCache holds recent introspection results by the SHA-256 of the token.
type introspectionCache struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]introspectionEntry
}

type introspectionEntry struct {
	claims claims
	until  time.Time
}

func (r *introspectionCache) find(sum [sha256.Size]byte, now time.Time) (claims, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.all[sum]
	return a.claims, ok && now.Before(a.until)
}

func (r *introspectionCache) keep(sum [sha256.Size]byte, c claims, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= maxCachedIntrospections {
		r.all = make(map[[sha256.Size]byte]introspectionEntry)
	}
	r.all[sum] = introspectionEntry{claims: c, until: now.Add(introspectionTTL)}
}
