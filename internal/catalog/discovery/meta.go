package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// Lifetimes of a copy. The site's lifetime is bounded: long enough to avoid a request at every
// call, short enough to notice changes.
const (
	defaultTTL = 24 * time.Hour
	minTTL     = 5 * time.Minute
	maxTTL     = 7 * 24 * time.Hour
)

// maxStale limits the age of a copy that replaces an unreachable site.
const maxStale = 7 * 24 * time.Hour

// clockSkew is the tolerance for a fetch time in the future, after the clock was set back.
const clockSkew = 5 * time.Minute

// maxMeta limits a .meta file and its values, in bytes.
const maxMeta = 8 << 10

// A meta is the origin and the lifetime of a copy. Its format on disk is that of the AAI
// protocol, plus the fields for revalidation.
type meta struct {
	FetchedAt    time.Time `json:"fetched_at"`
	TTLSeconds   int64     `json:"ttl_seconds"`
	SourceURL    string    `json:"source_url"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	SHA256       string    `json:"sha256"` // of the descriptor, in hexadecimal
}

// parseMeta parses a .meta file. It rejects a file with any invalid part.
func parseMeta(b []byte) (meta, bool) {
	var m meta
	if len(b) > maxMeta || json.Unmarshal(b, &m) != nil {
		return meta{}, false
	}
	sum, err := hex.DecodeString(m.SHA256)
	ok := err == nil && len(sum) == sha256.Size && !m.FetchedAt.IsZero() &&
		headerValue(m.ETag) == m.ETag && headerValue(m.LastModified) == m.LastModified
	return m, ok
}

// newMeta returns the meta of a copy that a site has just sent or confirmed.
func newMeta(source string, f *netguard.FetchResult, sum string, now time.Time) meta {
	return meta{
		FetchedAt: now.UTC().Truncate(time.Second), TTLSeconds: int64(ttl(f.Header) / time.Second), SourceURL: source,
		ETag: headerValue(f.Header.Get("ETag")), LastModified: headerValue(f.Header.Get("Last-Modified")), SHA256: sum,
	}
}

// renewed returns the meta after the site confirmed the copy. The response may omit unchanged
// headers.
func (m meta) renewed(f *netguard.FetchResult, now time.Time) meta {
	again := newMeta(m.SourceURL, f, m.SHA256, now)
	if again.ETag == "" {
		again.ETag = m.ETag
	}
	if again.LastModified == "" {
		again.LastModified = m.LastModified
	}
	return again
}

// headerValue returns a value that is safe to send in a header, or "".
func headerValue(s string) string {
	if len(s) > 1024 {
		return ""
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ""
		}
	}
	return s
}

// ttl returns the lifetime of a response: RFC 9111, section 5.2.2.
func ttl(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return minTTL
		case "max-age":
			n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 63)
			if err != nil {
				continue
			}
			return bounded(n)
		}
	}
	return defaultTTL
}

func bounded(seconds uint64) time.Duration {
	if seconds > uint64(maxTTL/time.Second) {
		return maxTTL
	}
	return max(time.Duration(seconds)*time.Second, minTTL)
}

// isFresh reports whether the copy is valid without revalidation.
func (m meta) isFresh(now time.Time) bool {
	age := now.Sub(m.FetchedAt)
	return age >= -clockSkew && age < bounded(uint64(max(m.TTLSeconds, 0)))
}

// isUsable reports whether the copy may replace an unreachable site.
func (m meta) isUsable(now time.Time) bool {
	age := now.Sub(m.FetchedAt)
	return age >= -clockSkew && age <= maxStale
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
