package bearer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	fetchTimeout = 10 * time.Second
	maxDocument  = 1 << 20 // bytes
	documentTTL  = time.Hour
	// minRefetchInterval is the least time between two fetches of the same document,
	// whatever tokens arrive and however they fail.
	minRefetchInterval = 10 * time.Second
)

// serverMetadata is the metadata of an authorization server (RFC 8414).
type serverMetadata struct {
	Issuer                string `json:"issuer"`
	JWKSURI               string `json:"jwks_uri"`
	IntrospectionEndpoint string `json:"introspection_endpoint"`
}

// publicKeys are the public keys of a server.
type publicKeys struct{ jose.JSONWebKeySet }

// A fetcher reads documents of the authorization server.
type fetcher struct{ client *http.Client }

// discover finds the metadata at the paths of RFC 8414 and OpenID Connect Discovery.
func (f *fetcher) discover(ctx context.Context, issuer string) (serverMetadata, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return serverMetadata{}, err
	}
	path := strings.TrimSuffix(u.Path, "/")
	var failures []error
	for _, place := range []string{
		"/.well-known/oauth-authorization-server" + path,
		"/.well-known/openid-configuration" + path,
		path + "/.well-known/openid-configuration",
	} {
		at := *u
		at.Path, at.RawPath, at.RawQuery = place, "", ""
		var about serverMetadata
		err := f.fetch(ctx, at.String(), &about)
		if err == nil && about.Issuer != issuer {
			err = fmt.Errorf("%s: the issuer there is %q, expected %q", at.String(), about.Issuer, issuer)
		}
		if err == nil {
			return about, nil
		}
		failures = append(failures, err)
	}
	return serverMetadata{}, fmt.Errorf("the metadata of the issuer cannot be read: %w", errors.Join(failures...))
}

// fetchKeys reads the keys and ignores those that are not public signature keys.
func (f *fetcher) fetchKeys(ctx context.Context, address string) (publicKeys, error) {
	if err := checkAddress(address); err != nil {
		return publicKeys{}, fmt.Errorf("jwks_uri: %w", err)
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := f.fetch(ctx, address, &document); err != nil {
		return publicKeys{}, fmt.Errorf("the keys of the issuer cannot be read: %w", err)
	}
	var found publicKeys
	for _, raw := range document.Keys {
		var key jose.JSONWebKey
		// One key of an unknown type must not make the others unusable.
		if json.Unmarshal(raw, &key) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			found.Keys = append(found.Keys, key)
		}
	}
	return found, nil
}

// fetch reads a JSON document.
func (f *fetcher) fetch(ctx context.Context, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	return readJSON(f.client, request, into)
}

func readJSON(client *http.Client, request *http.Request, into any) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", request.URL, response.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(b) > maxDocument {
		return fmt.Errorf("%s: more than %d bytes", request.URL, maxDocument)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", request.URL, err)
	}
	return nil
}

// cached stores a document of the authorization server. At most one fetch runs at a time;
// it continues when the request that caused it ends.
type cached[T any] struct {
	now   func() time.Time
	fetch func(context.Context) (T, error)

	mu          sync.Mutex
	value       T
	fetchedAt   time.Time     // of the last success
	lastAttempt time.Time     // the last fetch, successful or not
	failure     error         // of the last fetch
	inFlight    chan struct{} // closed when the running fetch ends; nil if none runs
}

func newCached[T any](now func() time.Time, fetch func(context.Context) (T, error)) *cached[T] {
	return &cached[T]{now: now, fetch: fetch}
}

// get returns the document and fetches it again if it is older than documentTTL. If that
// fails, get returns the old one.
func (c *cached[T]) get(ctx context.Context) (T, error) {
	c.mu.Lock()
	fresh := !c.fetchedAt.IsZero() && c.now().Sub(c.fetchedAt) < documentTTL
	c.mu.Unlock()
	if !fresh {
		if err := c.refresh(ctx); err != nil {
			return *new(T), err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetchedAt.IsZero() {
		return *new(T), c.failure
	}
	return c.value, nil
}

// refresh fetches the document again, unless the last attempt was less than
// minRefetchInterval ago. It returns an error only if ctx ends.
func (c *cached[T]) refresh(ctx context.Context) error {
	c.mu.Lock()
	if c.inFlight == nil {
		if !c.lastAttempt.IsZero() && c.now().Sub(c.lastAttempt) < minRefetchInterval {
			c.mu.Unlock()
			return nil
		}
		c.inFlight = make(chan struct{})
		c.lastAttempt = c.now()
		go c.load(context.WithoutCancel(ctx), c.inFlight)
	}
	going := c.inFlight
	c.mu.Unlock()
	select {
	case <-going:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cached[T]) load(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, 3*fetchTimeout)
	defer cancel()
	value, err := c.fetch(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure = err; err == nil {
		c.value, c.fetchedAt = value, c.now()
	}
	c.inFlight = nil
	close(done)
}
