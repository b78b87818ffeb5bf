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

// How long a copy counts as fresh. What the site says is kept within bounds: not
// so short that it is asked at every call, not so long that a change stays unseen.
const (
	defaultTTL = 24 * time.Hour
	minTTL     = 5 * time.Minute
	maxTTL     = 7 * 24 * time.Hour
)

// maxStale is how old a copy may be that stands in for a site which the network
// does not reach.
const maxStale = 7 * 24 * time.Hour

// clockSkew is how far in the future a copy may have been fetched by a clock that
// has been set back since.
const clockSkew = 5 * time.Minute

// maxMeta is how large a .meta file, or a value in it, may be, in bytes.
const maxMeta = 8 << 10

// A meta says where a copy comes from and for how long it counts. Its form on
// disk is that of the AAI protocol, with what revalidation needs besides.
type meta struct {
	FetchedAt    time.Time `json:"fetched_at"`
	TTLSeconds   int64     `json:"ttl_seconds"`
	SourceURL    string    `json:"source_url"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	SHA256       string    `json:"sha256"` // of the descriptor, in hexadecimal
}

// parseMeta reads a .meta file. What is not right in every part is of no use.
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

// newMeta is the meta of a copy that a site has just sent, or has said to be
// still right.
func newMeta(source string, f *netguard.FetchResult, sum string, now time.Time) meta {
	return meta{
		FetchedAt: now.UTC().Truncate(time.Second), TTLSeconds: int64(ttl(f.Header) / time.Second), SourceURL: source,
		ETag: headerValue(f.Header.Get("ETag")), LastModified: headerValue(f.Header.Get("Last-Modified")), SHA256: sum,
	}
}

// renewed is the meta after the site said that nothing has changed. It need not
// repeat what has not.
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

// headerValue is a value that may be sent back in a header, or empty.
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

// ttl is for how long an answer may be kept: RFC 9111, section 5.2.2.
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

// isFresh reports whether the copy counts without asking the site.
func (m meta) isFresh(now time.Time) bool {
	age := now.Sub(m.FetchedAt)
	return age >= -clockSkew && age < bounded(uint64(max(m.TTLSeconds, 0)))
}

// isUsable reports whether the copy may stand in for a site that cannot be reached.
func (m meta) isUsable(now time.Time) bool {
	age := now.Sub(m.FetchedAt)
	return age >= -clockSkew && age <= maxStale
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
