package discovery

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// Source returns the URL of the descriptor of the site at an address.
func Source(address string) string {
	t, err := parseAddress(address)
	if err != nil {
		return err.Message
	}
	return t.source()
}

// CheckMeta checks that no .meta file makes a copy valid for longer than the maximum, or puts
// more than one line into a header.
func CheckMeta(t *testing.T, b []byte) {
	m, ok := parseMeta(b)
	if !ok {
		return
	}
	assert.Check(t, !strings.ContainsAny(m.ETag+m.LastModified, "\r\n\x00"), "headers %q and %q", m.ETag, m.LastModified)
	for _, age := range []time.Duration{maxTTL, maxStale + time.Nanosecond, -clockSkew - time.Nanosecond} {
		now := m.FetchedAt.Add(age)
		assert.Check(t, now.Sub(m.FetchedAt) != age || !m.isFresh(now), "%s is fresh at the age of %s", b, age)
	}
	now := m.FetchedAt.Add(maxStale + 1)
	assert.Check(t, now.Sub(m.FetchedAt) != maxStale+1 || !m.isUsable(now), "%s is usable for ever", b)
}

// CheckFolders checks that every host has its own folder below the cache.
func CheckFolders(t *testing.T, a, b string) {
	one, err := netguard.ParseHost(a)
	if err != nil {
		return
	}
	folder := folderOf(one)
	assert.Assert(t, filepath.IsLocal(folder) || strings.Contains("con prn aux nul", strings.ToLower(folder)), "%q has the folder %q", a, folder)
	assert.Equal(t, strings.Trim(folder, "abcdefghijklmnopqrstuvwxyz0123456789.-_"), "", "%q %q", a, folder)
	assert.Assert(t, !strings.HasPrefix(folder, "."), "%q has the folder %q", a, folder)
	assert.Assert(t, len(folder) <= 255, "%q has the folder %q", a, folder)
	if other, err := netguard.ParseHost(b); err == nil && (folderOf(other) == folder) != (other == one) {
		t.Errorf("%q and %q: the folders %q and %q", a, b, folder, folderOf(other))
	}
}

// WriteCache writes a copy like a gateway that has just fetched it.
func WriteCache(folder string, h netguard.Host, body string) error {
	return cache{folder}.write(h, []byte(body), newMeta(target{host: h, scheme: "https"}.source(), &netguard.FetchResult{}, digest([]byte(body)), time.Now()))
}

// ReadCache reads a copy.
func ReadCache(folder string, h netguard.Host) (string, bool) {
	body, _, found := cache{folder}.read(h)
	return string(body), found
}

// ReadHints reads a page as each of the published documents.
func ReadHints(page []byte) (found []*Hint) {
	for _, d := range documentsOf("https://example.com/mcp") {
		if h := d.read(page); h != nil {
			found = append(found, h)
		}
	}
	return found
}
